import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { graceSchema, graceSecondsDefault } from '../../../../../../webhooks/api/endpoint-schema.ts'
import { callbackSecretAnswer, noCallbacks } from '../../../../callback-schema.ts'

export const rotateCallbackSecret = defineOperation({
  path: '/v2/workspace/callbacks/secret/rotate',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Replace the signing secret of the callbacks',
  description:
    'For `graceSeconds` calls are also signed with the replaced secret. An earlier replaced secret no longer signs ' +
    'calls.',
  request: json.object({}, { graceSeconds: graceSchema }),
  response: callbackSecretAnswer,
  errors: [noCallbacks],
  async handler({ graceSeconds = graceSecondsDefault }, { caller, services }) {
    const { secret } = await services.webhookConfigs.rotateCallbackSecret(caller.tenant, graceSeconds)
    return { message: 'Secret replaced.', data: { secret } }
  },
})
