import { json } from '../../../../core/base/schema.ts'
import { noSuchApiKey } from '../../../../core/directory/tenants/workspace-service.ts'
import { defineOperation } from '../../../operation.ts'
import {
  apiKeyOfWorkspace,
  mintingSecretEntry,
  noSuchApiKeyError,
  toMintingSecretResponse,
} from '../../../schemas/workspace-schema.ts'

export const getMintingSecrets = defineOperation({
  path: '/v2/workspace/mintingsecrets/get',
  auth: 'workspace',
  effect: 'reads',
  audited: 'admin',
  summary: 'List the minting secrets of an API key',
  description: 'Returns the valid ones, newest first, without the secrets themselves.',
  request: json.object({ apiKey: apiKeyOfWorkspace }),
  response: json.object({
    apiKey: json.text(),
    mintingSecrets: json.list(mintingSecretEntry),
  }),
  errors: [noSuchApiKeyError],
  async handler({ apiKey }, { caller: { workspaceId }, services: { tenants, mintingSecrets } }) {
    const tenant = { workspaceId, apiKey }
    if (!(await tenants.isTenant(tenant))) throw noSuchApiKey()
    const found = (await mintingSecrets.list(tenant)).map(toMintingSecretResponse)
    return { message: 'Minting secrets found.', data: { apiKey, mintingSecrets: found } }
  },
})
