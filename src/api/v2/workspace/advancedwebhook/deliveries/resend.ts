import { deliveryTarget, messageId, targetNamed } from '../../../../delivery-schema.ts'
import { advancedOff } from '../../../../endpoint-schema.ts'
import { operation } from '../../../../operation.ts'

export const resendDelivery = operation({
  path: '/v2/workspace/advancedwebhook/deliveries/resend',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send something again to a webhook endpoint',
  description:
    'Whatever has become of it: at once, with the same `webhook-id`, and with all the attempts that a new event has.',
  request: {
    type: 'object',
    required: ['messageId', 'endpointId'],
    properties: { messageId, endpointId: deliveryTarget },
  },
  response: { type: 'object', required: ['messageId'], properties: { messageId } },
  errors: [advancedOff, { status: 'NOT_FOUND', when: 'the endpoint does not exist, or has no such message' }],
  async handler({ messageId, endpointId }, { caller, services }) {
    const target = await targetNamed(services.endpoints, caller.tenant, endpointId)
    await services.deliveries.resend(target, messageId)
    return { message: 'It is being sent again.', data: { messageId } }
  },
})
