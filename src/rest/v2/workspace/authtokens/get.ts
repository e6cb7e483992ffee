import { json } from '../../../../core/base/schema.ts'
import { noSuchApiKey } from '../../../../core/directory/tenants/workspace-service.ts'
import { defineOperation } from '../../../operation.ts'
import {
  apiKeyOfWorkspace,
  authTokenEntry,
  noSuchApiKeyError,
  toAuthTokenResponse,
} from '../../../schemas/workspace-schema.ts'

export const getAuthTokens = defineOperation({
  path: '/v2/workspace/authtokens/get',
  auth: 'workspace',
  effect: 'reads',
  audited: 'admin',
  summary: 'Read the auth tokens of an API key',
  description: 'Replaced tokens that are still valid are not included.',
  request: json.object({ apiKey: apiKeyOfWorkspace }),
  response: json.object({
    apiKey: json.text(),
    authTokens: json.list(authTokenEntry),
  }),
  errors: [noSuchApiKeyError],
  async handler({ apiKey }, { caller: { workspaceId }, services: { tenants } }) {
    const tenant = { workspaceId, apiKey }
    if (!(await tenants.isTenant(tenant))) throw noSuchApiKey()
    const authTokens = (await tenants.authTokens(tenant)).map(toAuthTokenResponse)
    return { message: 'Auth tokens found.', data: { apiKey, authTokens } }
  },
})
