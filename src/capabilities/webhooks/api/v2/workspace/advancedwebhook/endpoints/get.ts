import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { advancedOff, endpointAnswer, toEndpointResponse } from '../../../../endpoint-schema.ts'
import {
  iteratorLimits,
  iteratorRequest,
  iteratorResponse,
  iteratorResponseMembers,
  readIteratorPage,
} from '../../../../iterator.ts'

const path = '/v2/workspace/advancedwebhook/endpoints/get'

/** The specification rejects a larger page. */
const endpointsLimit = {
  maximum: iteratorLimits.max,
  description: 'Maximum number of items in the response.',
} as const

export const getEndpoints = defineOperation({
  path,
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'List the webhook endpoints',
  description: 'Ordered by id.',
  request: json.object({}, { ...iteratorRequest, limit: { ...iteratorRequest.limit, ...endpointsLimit } }),
  response: {
    type: 'object',
    required: ['endpoints', ...iteratorResponseMembers],
    properties: { endpoints: json.list(endpointAnswer), ...iteratorResponse },
  },
  errors: advancedOff,
  async handler(data, context) {
    const { caller, services } = context
    const { items, place } = await readIteratorPage(context, [path], data, (cursor, limit) =>
      services.endpoints.list(caller.tenant, cursor, limit),
    )
    return { message: 'Endpoints found.', data: { endpoints: items.map(toEndpointResponse), ...place } }
  },
})
