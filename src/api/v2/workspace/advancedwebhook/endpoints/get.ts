import { advancedOff, endpointAnswer, showEndpoint } from '../../../../endpoint-schema.ts'
import { iterate, iterated, iteratedMembers, iterating } from '../../../../iterator.ts'
import { operation } from '../../../../operation.ts'

const path = '/v2/workspace/advancedwebhook/endpoints/get'

export const getEndpoints = operation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List the webhook endpoints',
  description: 'In the order of their ids.',
  request: { type: 'object', properties: iterating },
  response: {
    type: 'object',
    required: ['endpoints', ...iteratedMembers],
    properties: { endpoints: { type: 'array', items: endpointAnswer }, ...iterated },
  },
  errors: [advancedOff],
  async handler(data, context) {
    const { caller, services } = context
    const { items, place } = await iterate(context, [path], data, (cursor, limit) =>
      services.endpoints.list(caller.tenant, cursor, limit),
    )
    return { message: 'Endpoints found.', data: { endpoints: items.map(showEndpoint), ...place } }
  },
})
