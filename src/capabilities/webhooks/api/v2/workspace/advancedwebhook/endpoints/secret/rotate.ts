import { json } from '../../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../../rest/operation.ts'
import {
  advancedOff,
  endpointId,
  graceSchema,
  graceSecondsDefault,
  noSuchEndpoint,
  secretAnswer,
} from '../../../../../endpoint-schema.ts'

export const rotateEndpointSecret = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/secret/rotate',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Replace the signing secret of a webhook endpoint',
  description:
    'For `graceSeconds` events are also signed with the replaced secret. An earlier replaced secret no longer signs ' +
    'events.',
  request: json.object({ endpointId }, { graceSeconds: graceSchema }),
  response: secretAnswer,
  errors: [...advancedOff, noSuchEndpoint],
  async handler({ endpointId, graceSeconds = graceSecondsDefault }, { caller, services }) {
    const { id, secret } = await services.endpoints.rotateSecret(caller.tenant, endpointId, graceSeconds)
    return { message: 'Secret replaced.', data: { endpointId: id, secret } }
  },
})
