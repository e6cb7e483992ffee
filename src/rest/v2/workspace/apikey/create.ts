import { defineOperation } from '../../../operation.ts'
import { domainList, normalizeDomains } from '../../../schemas/domains-schema.ts'

const request = {
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      enum: ['testing', 'production'],
      description: 'A label without effect.',
    },
    apiKeyName: { type: 'string', maxLength: 200, default: '', description: 'Name for people.' },
    allowedDomains: { ...domainList, description: `${domainList.description} None: pages of all domains.` },
  },
} as const

const response = {
  type: 'object',
  required: ['apiKey', 'authToken'],
  properties: {
    apiKey: { type: 'string', description: 'The new API key.' },
    authToken: { type: 'string', description: 'Its auth token.' },
  },
} as const

export const createApiKey = defineOperation({
  path: '/v2/workspace/apikey/create',
  auth: 'workspace',
  effect: 'once',
  audited: 'admin',
  makes: ['apiKey'],
  summary: 'Create an API key',
  description: 'Creates an API key with an auth token. The data of each API key is its own.',
  request,
  response,
  errors: [
    {
      status: 'FAILED_PRECONDITION',
      code: 'api-key/too-many',
      when: 'the workspace can have no more API keys',
    },
  ],
  async handler({ type, apiKeyName = '', allowedDomains = [] }, { caller, services }) {
    const domains = normalizeDomains(allowedDomains, '/data/allowedDomains')
    const made = await services.workspaces.createApiKey(caller.workspaceId, { type, apiKeyName, domains })
    return { message: 'API key created.', data: made }
  },
})
