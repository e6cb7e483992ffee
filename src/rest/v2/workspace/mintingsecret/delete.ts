import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { apiKeyOfWorkspace, noSuchApiKeyError } from '../../../schemas/workspace-schema.ts'

export const deleteMintingSecret = defineOperation({
  path: '/v2/workspace/mintingsecret/delete',
  auth: 'workspace',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Delete the minting secrets of an API key',
  description:
    'Deletes the current secret and the one before it. Tokens that they signed, and their sockets, end.',
  request: json.object({ apiKey: apiKeyOfWorkspace }),
  response: json.object({ apiKey: json.text() }),
  errors: [noSuchApiKeyError],
  async handler({ apiKey }, { caller: { workspaceId }, services: { mintingSecrets } }) {
    await mintingSecrets.delete({ workspaceId, apiKey })
    return { message: 'Minting secrets deleted.', data: { apiKey } }
  },
})
