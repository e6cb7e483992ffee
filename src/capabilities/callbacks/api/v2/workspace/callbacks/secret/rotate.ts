import { defineOperation } from '../../../../../../../rest/operation.ts'
import { subscriptionLimits } from '../../../../../../subscriptions/limits.ts'
import { callbackSecretAnswer, noCallbacks } from '../../../../callback-schema.ts'

/** Default grace period in seconds (1 day). */
const graceSecondsDefault = 86_400

export const rotateCallbackSecret = defineOperation({
  path: '/v2/workspace/callbacks/secret/rotate',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Replace the signing secret of the callbacks',
  description:
    'For `graceSeconds` calls are also signed with the replaced secret. An earlier replaced secret no longer signs ' +
    'calls.',
  request: {
    type: 'object',
    properties: {
      graceSeconds: {
        type: 'integer',
        minimum: 0,
        maximum: subscriptionLimits.graceSeconds,
        default: graceSecondsDefault,
        description: 'Time in seconds for which the replaced secret also signs calls.',
      },
    },
  },
  response: callbackSecretAnswer,
  errors: [noCallbacks],
  async handler({ graceSeconds = graceSecondsDefault }, { caller, services }) {
    const { secret } = await services.callbackConfigs.rotateSecret(caller.tenant, graceSeconds)
    return { message: 'Secret replaced.', data: { secret } }
  },
})
