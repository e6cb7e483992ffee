import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import {
  apiKeyOfWorkspace,
  authTokenEntry,
  domainList,
  graceSeconds,
  normalizeDomains,
  noSuchApiKeyError,
  toAuthTokenResponse,
} from '../../../schemas/workspace-schema.ts'

const request = json.object(
  { apiKey: apiKeyOfWorkspace },
  {
    graceSeconds,
    domains: {
      ...domainList,
      description: `Domains of the pages that may use the new token; empty: all. Default: the domains of the replaced token. ${domainList.description}`,
    },
  },
)

const response = json.object({
  apiKey: json.text(),
  newAuthToken: authTokenEntry,
})

export const resetAuthToken = defineOperation({
  path: '/v2/workspace/authtoken/reset',
  auth: 'workspace',
  effect: 'once',
  audited: 'admin',
  summary: 'Replace the auth token of an API key',
  description:
    'Earlier tokens stay valid for at most `graceSeconds`. The next start of the server restores a token that its ' +
    'configuration names.',
  request,
  response,
  errors: [noSuchApiKeyError],
  async handler(
    { apiKey, graceSeconds: seconds = 0, domains },
    { caller: { workspaceId }, services: { workspaces } },
  ) {
    const token = await workspaces.resetAuthToken(
      { workspaceId, apiKey },
      { graceSeconds: seconds, ...(domains && { domains: normalizeDomains(domains, '/data/domains') }) },
    )
    return { message: 'Auth token replaced.', data: { apiKey, newAuthToken: toAuthTokenResponse(token) } }
  },
})
