import { defineOperation } from '../../../../../../rest/operation.ts'
import { daysKeptDays, hoursKeptDays } from '../../../../usage-retention.ts'
import { readUsagePage, usageItem, usageRequest } from '../../../usage-schema.ts'

const path = '/v2/workspace/usage/get'

export const getUsage = defineOperation({
  path,
  auth: 'workspace',
  effect: 'reads',
  strict: true,
  audited: 'read',
  summary: 'Read the usage',
  description:
    'The usage of the workspace, or of each of its organizations, by hour, day or month (UTC), oldest first. Hours, ' +
    `days and months without usage are left out. Usage by hour is kept for ${hoursKeptDays} days, and usage by day and ` +
    `month for ${daysKeptDays} days. The response has the current counts of the node that answers; the counts of other ` +
    'nodes are at most a minute old. A page may have fewer items than requested, or no items: continue until there is ' +
    'no `pageToken`.',
  request: usageRequest,
  response: { type: 'array', items: usageItem },
  errors: [],
  async handler(data, context) {
    const { items, token } = await readUsagePage(path, data, context)
    return { message: `${items.length} items found.`, data: items, ...token }
  },
})
