import { defineOperation } from '../../../../../../rest/operation.ts'
import { usageCsvHeader, usageCsvLine } from '../../../../usage-csv.ts'
import { readUsagePage, usageRequest } from '../../../usage-schema.ts'

const path = '/v2/workspace/usage/export'

export const exportUsage = defineOperation({
  path,
  auth: 'workspace',
  effect: 'reads',
  strict: true,
  audited: 'read',
  summary: 'Read the usage as CSV',
  description:
    'The items of `/v2/workspace/usage/get` as lines of a CSV file (RFC 4180), without line ends. The first page begins ' +
    'with the column names, in addition to its items, so the lines of all pages are the file. The column `start` is in ' +
    'ISO 8601. An id that begins like a formula (`=`, `+`, `-`, `@`) has an apostrophe before it, because a spreadsheet ' +
    'program would run it. A page may have fewer lines than requested: continue until there is no `pageToken`.',
  request: usageRequest,
  response: { type: 'array', items: { type: 'string' } },
  errors: [],
  async handler(data, context) {
    const { items, token } = await readUsagePage(path, data, context)
    const lines = items.map(usageCsvLine)
    return {
      message: `${items.length} items found.`,
      data: data.pageToken === undefined ? [usageCsvHeader, ...lines] : lines,
      ...token,
    }
  },
})
