import { deliveryLimits } from '../../../../../subscriptions/deliveries/delivery-records.ts'
import { defineOperation } from '../../../../operation.ts'
import { deliveryTarget, requireTarget } from '../../../../schemas/delivery-schema.ts'
import { advancedOff, noSuchEndpoint } from '../../../../schemas/endpoint-schema.ts'

export const recoverDeliveries = defineOperation({
  path: '/v2/workspace/advancedwebhook/deliveries/recover',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send everything again that has failed',
  description:
    `Of the events since a time, the oldest first; at most ${deliveryLimits.recovered} with one call: where it answers ` +
    'that many, there may be more for the next one.',
  request: {
    type: 'object',
    required: ['endpointId', 'since'],
    properties: {
      endpointId: deliveryTarget,
      since: {
        type: 'integer',
        minimum: 0,
        maximum: 253_402_300_799_999,
        description: 'Epoch milliseconds.',
        examples: [1_767_225_600_000],
      },
    },
  },
  response: {
    type: 'object',
    required: ['requeued'],
    properties: { requeued: { type: 'integer', description: 'How many are sent again.', examples: [3] } },
  },
  errors: [advancedOff, noSuchEndpoint],
  async handler({ endpointId, since }, { caller, services }) {
    const target = await requireTarget(services.endpoints, caller.tenant, endpointId)
    const requeued = await services.deliveries.recover(target, since)
    return { message: `${requeued} deliveries are sent again.`, data: { requeued } }
  },
})
