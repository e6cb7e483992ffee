import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import {
  deliveryAnswer,
  deliveryStatus,
  deliveryTarget,
  requireTarget,
  toDeliveryResponse,
} from '../../../../delivery-schema.ts'
import { advancedOff, noSuchEndpoint } from '../../../../endpoint-schema.ts'
import {
  iteratorRequest,
  iteratorResponse,
  iteratorResponseMembers,
  readIteratorPage,
} from '../../../../iterator.ts'

const path = '/v2/workspace/advancedwebhook/deliveries/get'

export const getDeliveries = defineOperation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List deliveries to a webhook endpoint',
  description:
    'Outcome of each event with all attempts, the newest event first. The server keeps it for 30 days after the event, ' +
    'or until the organization or the endpoint is deleted.',
  request: json.object({ endpointId: deliveryTarget }, { status: deliveryStatus, ...iteratorRequest }),
  response: {
    type: 'object',
    required: ['deliveries', ...iteratorResponseMembers],
    properties: { deliveries: json.list(deliveryAnswer), ...iteratorResponse },
  },
  errors: [...advancedOff, noSuchEndpoint],
  async handler({ endpointId, status, ...page }, context) {
    const { endpoints, deliveries } = context.services
    const target = await requireTarget(endpoints, context.caller.tenant, endpointId)
    const query = [path, target.targetId, status ?? null]
    const { items, place } = await readIteratorPage(context, query, page, (cursor, limit) =>
      deliveries.list(target, status, cursor, limit),
    )
    return { message: 'Deliveries found.', data: { deliveries: items.map(toDeliveryResponse), ...place } }
  },
})
