import { json } from '../../../../core/base/schema.ts'
import type { PageRange } from '../../../../core/directory/store/list-page.ts'
import { defineOperation } from '../../../operation.ts'
import { pageRequest, pageSizeUpTo, readPage } from '../../../paging/page-request.ts'
import { apiKeyEntry, toApiKeyResponse } from '../../../schemas/workspace-schema.ts'

const path = '/v2/workspace/apikeys/get'
const pageSizeMax = 100

export const getApiKeys = defineOperation({
  path,
  auth: 'workspace',
  effect: 'reads',
  audited: 'read',
  summary: 'List the API keys of the workspace',
  description: 'Ordered by key.',
  request: json.object({}, { ...pageRequest, pageSize: pageSizeUpTo(pageSizeMax, pageSizeMax) }),
  response: json.list(apiKeyEntry),
  async handler(data, context) {
    const { caller, services } = context
    const list = (range: PageRange) => services.tenants.apiKeys(caller.workspaceId, range)
    const { found, token } = await readPage(context, [path], data, list, pageSizeMax)
    return { message: 'API keys found.', data: found.items.map(toApiKeyResponse), ...token }
  },
})
