import { defineOperation } from '../../../../../../../../rest/operation.ts'
import { subscriptionLimits } from '../../../../../../limits.ts'
import { advancedOff, endpointId, noSuchEndpoint, secretAnswer } from '../../../../../endpoint-schema.ts'

/** Default grace period in seconds (1 day). */
const graceSecondsDefault = 86_400

export const rotateEndpointSecret = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/secret/rotate',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Replace the signing secret of a webhook endpoint',
  description:
    'For `graceSeconds` events are also signed with the replaced secret. An earlier replaced secret no longer signs ' +
    'events.',
  request: {
    type: 'object',
    required: ['endpointId'],
    properties: {
      endpointId,
      graceSeconds: {
        type: 'integer',
        minimum: 0,
        maximum: subscriptionLimits.graceSeconds,
        default: graceSecondsDefault,
        description: 'Time in seconds for which the replaced secret also signs events.',
      },
    },
  },
  response: secretAnswer,
  errors: [...advancedOff, noSuchEndpoint],
  async handler({ endpointId, graceSeconds = graceSecondsDefault }, { caller, services }) {
    const { id, secret } = await services.endpoints.rotateSecret(caller.tenant, endpointId, graceSeconds)
    return { message: 'Secret replaced.', data: { endpointId: id, secret } }
  },
})
