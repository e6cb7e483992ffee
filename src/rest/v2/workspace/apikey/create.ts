import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { domainList, normalizeDomains } from '../../../schemas/workspace-schema.ts'

const request = json.object(
  { type: json.choice(['testing', 'production'], 'A label without effect.') },
  {
    apiKeyName: json.text('Name for people.', { maxLength: 200, default: '' }),
    allowedDomains: { ...domainList, description: `${domainList.description} None: pages of all domains.` },
  },
)

const response = json.object({
  apiKey: json.text('The new API key.'),
  authToken: json.text('Its auth token.'),
})

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
  errors: [{ code: 'api-key/too-many', when: 'the workspace can have no more API keys' }],
  async handler({ type, apiKeyName = '', allowedDomains = [] }, { caller, services }) {
    const domains = normalizeDomains(allowedDomains, '/data/allowedDomains')
    const made = await services.workspaces.createApiKey(caller.workspaceId, { type, apiKeyName, domains })
    return { message: 'API key created.', data: made }
  },
})
