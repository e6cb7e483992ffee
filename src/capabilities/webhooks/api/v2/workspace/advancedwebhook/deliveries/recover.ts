import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { deliveryLimits } from '../../../../../deliveries/delivery-records.ts'
import { deliveryTarget, requireActive, requireTarget, targetOff } from '../../../../delivery-schema.ts'
import { advancedOff, noSuchEndpoint } from '../../../../endpoint-schema.ts'

export const recoverDeliveries = defineOperation({
  path: '/v2/workspace/advancedwebhook/deliveries/recover',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send failed deliveries again',
  description:
    `Sends failed events since a time again, the oldest first, at most ${deliveryLimits.recovered} per call. If the ` +
    'response reports this number, call again for further events.',
  request: json.object({
    endpointId: deliveryTarget,
    since: json.integer('Epoch milliseconds.', {
      minimum: 0,
      maximum: 253_402_300_799_999,
      examples: [1_767_225_600_000],
    }),
  }),
  response: json.object({
    requeued: json.integer('Number of events that are sent again.', { examples: [3] }),
  }),
  errors: [...advancedOff, noSuchEndpoint, targetOff],
  async handler({ endpointId, since }, { caller, services }) {
    const target = await requireTarget(services.endpoints, caller.tenant, endpointId)
    await requireActive(services, target)
    const requeued = await services.deliveries.recover(target, since)
    return { message: `${requeued} deliveries are sent again.`, data: { requeued } }
  },
})
