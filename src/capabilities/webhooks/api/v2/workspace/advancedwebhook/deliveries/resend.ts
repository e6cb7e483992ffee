import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import {
  deliveryTarget,
  messageId,
  requireActive,
  requireTarget,
  targetOff,
} from '../../../../delivery-schema.ts'
import { advancedOff, noSuchEndpoint } from '../../../../endpoint-schema.ts'

export const resendDelivery = defineOperation({
  path: '/v2/workspace/advancedwebhook/deliveries/resend',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send one delivery again to a webhook endpoint',
  description:
    'Sends the event again at once, after any outcome, with the same `webhook-id` and as many attempts as a new event.',
  request: json.object({ messageId, endpointId: deliveryTarget }),
  response: json.object({ messageId }),
  errors: [
    ...advancedOff,
    noSuchEndpoint,
    targetOff,
    { code: 'webhook/message-not-found', when: 'the endpoint has no such message' },
  ],
  async handler({ messageId, endpointId }, { caller, services }) {
    const target = await requireTarget(services.endpoints, caller.tenant, endpointId)
    await requireActive(services, target)
    await services.deliveries.resend(target, messageId)
    return { message: 'The message is being sent again.', data: { messageId } }
  },
})
