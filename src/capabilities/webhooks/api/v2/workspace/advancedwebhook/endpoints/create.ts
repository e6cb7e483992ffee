import { defineOperation, warningsOf } from '../../../../../../../rest/operation.ts'
import { subscriptionLimits } from '../../../../../limits.ts'
import {
  advancedOff,
  checkEndpoint,
  destinationWarnings,
  endpointAnswer,
  endpointProperties,
  endpointWarnings,
  filterOf,
  toEndpointResponse,
  uid,
} from '../../../../endpoint-schema.ts'

export const createEndpoint = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/create',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  makes: ['id'],
  summary: 'Make a webhook endpoint',
  description:
    'Creates an endpoint and its signing secret, which only `secret/get` returns. The endpoint gets events that happen ' +
    'after the response.',
  warns: true,
  request: { type: 'object', required: ['url'], properties: { ...endpointProperties, uid } },
  response: endpointAnswer,
  errors: [
    ...advancedOff,
    {
      code: 'webhook/too-many-endpoints',
      when: `there are ${subscriptionLimits.endpoints} endpoints of the API key already`,
    },
    { code: 'webhook/uid-taken', when: 'another endpoint has the `uid`, or has it as its id' },
  ],
  async handler(data, { caller, services }) {
    const { url, description = null, filterTypes = [], channels = [], disabled = false } = data
    const { rateLimit = null, metadata = null, uid = null } = data
    checkEndpoint({ url, metadata })
    const endpoint = await services.endpoints.create(caller.tenant, {
      url,
      description,
      filterTypes: filterOf(filterTypes),
      channels: filterOf(channels),
      disabled,
      rateLimit,
      metadata,
      uid,
    })
    return {
      message: 'Endpoint created.',
      data: toEndpointResponse(endpoint),
      ...warningsOf([...endpointWarnings(endpoint), ...destinationWarnings(services, [endpoint.url])]),
    }
  },
})
