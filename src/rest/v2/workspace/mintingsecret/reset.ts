import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import {
  apiKeyOfWorkspace,
  graceSeconds,
  mintingSecretEntry,
  noSuchApiKeyError,
  toMintingSecretResponse,
} from '../../../schemas/workspace-schema.ts'

export const resetMintingSecret = defineOperation({
  path: '/v2/workspace/mintingsecret/reset',
  auth: 'workspace',
  effect: 'once',
  audited: 'admin',
  summary: 'Create or replace the minting secret of an API key',
  description:
    'A backend signs realtime tokens with it (HS256) for this API key alone. The secret is returned only here. The ' +
    'secret before it stays valid for `graceSeconds`; older ones end at once.',
  request: json.object(
    { apiKey: apiKeyOfWorkspace },
    {
      graceSeconds: { ...graceSeconds, description: 'Time for which the replaced secret stays valid.' },
    },
  ),
  response: json.object({
    apiKey: json.text(),
    mintingSecret: mintingSecretEntry,
    secret: json.text('The secret. Store it in your backend.'),
  }),
  errors: [noSuchApiKeyError],
  async handler(
    { apiKey, graceSeconds: seconds = 0 },
    { caller: { workspaceId }, services: { mintingSecrets } },
  ) {
    const made = await mintingSecrets.reset({ workspaceId, apiKey }, seconds)
    const data = { apiKey, mintingSecret: toMintingSecretResponse(made), secret: made.secret }
    return { message: 'Minting secret created.', data }
  },
})
