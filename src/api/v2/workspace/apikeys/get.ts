import { operation } from '../../../operation.ts'
import { paging, readSealed } from '../../../paging.ts'
import { apiKeyEntry, showApiKey } from '../../../workspace-schema.ts'

const pageSizeMax = 100

const request = {
  type: 'object',
  properties: {
    ...paging,
    pageSize: { ...paging.pageSize, maximum: pageSizeMax, default: pageSizeMax },
  },
} as const

export const getApiKeys = operation({
  path: '/v2/workspace/apikeys/get',
  auth: 'workspace',
  effect: 'reads',
  audited: 'read',
  summary: 'List the API keys of the workspace',
  description: 'In the order of the keys.',
  request,
  response: { type: 'array', items: apiKeyEntry },
  errors: [],
  async handler({ pageSize = pageSizeMax, ...request }, { caller: { workspaceId }, services }) {
    const { found, token } = await readSealed(
      services.pageTokens,
      ['/v2/workspace/apikeys/get', workspaceId],
      { pageSize, ...request },
      (range) => services.tenants.apiKeys(workspaceId, range),
    )
    return { message: 'API keys found.', data: found.items.map(showApiKey), ...token }
  },
})
