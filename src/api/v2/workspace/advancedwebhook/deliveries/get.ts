import {
  deliveryAnswer,
  deliveryStatus,
  deliveryTarget,
  showDelivery,
  targetNamed,
} from '../../../../delivery-schema.ts'
import { advancedOff, noSuchEndpoint } from '../../../../endpoint-schema.ts'
import { iterate, iterated, iteratedMembers, iterating } from '../../../../iterator.ts'
import { operation } from '../../../../operation.ts'

const path = '/v2/workspace/advancedwebhook/deliveries/get'

export const getDeliveries = operation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List what was sent to a webhook endpoint',
  description:
    'What has become of each event, with all attempts; the newest event first. It is known for 30 days after the event ' +
    '(an option of the server), or until the organization or the endpoint is deleted.',
  request: {
    type: 'object',
    required: ['endpointId'],
    properties: { endpointId: deliveryTarget, status: deliveryStatus, ...iterating },
  },
  response: {
    type: 'object',
    required: ['deliveries', ...iteratedMembers],
    properties: { deliveries: { type: 'array', items: deliveryAnswer }, ...iterated },
  },
  errors: [advancedOff, noSuchEndpoint],
  async handler({ endpointId, status, ...page }, context) {
    const { endpoints, deliveries } = context.services
    const target = await targetNamed(endpoints, context.caller.tenant, endpointId)
    const query = [path, target.targetId, status ?? null]
    const { items, place } = await iterate(context, query, page, (cursor, limit) =>
      deliveries.list(target, status, cursor, limit),
    )
    return { message: 'Deliveries found.', data: { deliveries: items.map(showDelivery), ...place } }
  },
})
