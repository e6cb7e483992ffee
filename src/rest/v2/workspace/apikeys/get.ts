import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { pageRequest, pageSizeUpTo, readPageWithToken } from '../../../paging/page-request.ts'
import { apiKeyEntry, toApiKeyResponse } from '../../../schemas/workspace-schema.ts'

const pageSizeMax = 100

const request = json.object(
  {},
  {
    ...pageRequest,
    pageSize: pageSizeUpTo(pageSizeMax, pageSizeMax),
  },
)

export const getApiKeys = defineOperation({
  path: '/v2/workspace/apikeys/get',
  auth: 'workspace',
  effect: 'reads',
  audited: 'read',
  summary: 'List the API keys of the workspace',
  description: 'Ordered by key.',
  request,
  response: json.list(apiKeyEntry),
  errors: [],
  async handler({ pageSize = pageSizeMax, ...request }, { caller: { workspaceId }, services }) {
    const { found, token } = await readPageWithToken(
      services.pageTokens,
      ['/v2/workspace/apikeys/get', workspaceId],
      { ...request, pageSize: Math.min(pageSize, pageSizeMax) },
      (range) => services.tenants.apiKeys(workspaceId, range),
    )
    return { message: 'API keys found.', data: found.items.map(toApiKeyResponse), ...token }
  },
})
