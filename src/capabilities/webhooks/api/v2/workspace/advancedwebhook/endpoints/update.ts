import { json } from '../../../../../../../core/base/schema.ts'
import { defineOperation, warningsOf } from '../../../../../../../rest/operation.ts'
import {
  advancedOff,
  checkEndpoint,
  destinationWarnings,
  endpointAnswer,
  endpointId,
  endpointWarnings,
  filterOf,
  endpointProperties as members,
  noSuchEndpoint,
  requireChange,
  toEndpointResponse,
} from '../../../../endpoint-schema.ts'

export const updateEndpoint = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Change a webhook endpoint',
  description:
    'Changes the given members; at least one member besides `endpointId` is required. Null unsets what can be unset. With ' +
    '`disabled` false an endpoint that was disabled for its failures is sent events again.',
  warns: true,
  request: json.object(
    { endpointId },
    {
      url: members.url,
      description: json.orNull(members.description),
      filterTypes: json.orNull({ ...members.filterTypes, minItems: 1 }),
      channels: json.orNull({ ...members.channels, minItems: 1 }),
      disabled: members.disabled,
      rateLimit: json.orNull(members.rateLimit),
      metadata: json.orNull(members.metadata),
    },
  ),
  response: endpointAnswer,
  errors: [...advancedOff, noSuchEndpoint],
  async handler({ endpointId, ...data }, { caller, services }) {
    const { url, description, filterTypes, channels, disabled, rateLimit, metadata } = data
    const change = {
      url,
      description,
      filterTypes: filterTypes && filterOf(filterTypes),
      channels: channels && filterOf(channels),
      disabled,
      rateLimit,
      metadata,
    }
    requireChange(change)
    checkEndpoint(data)
    const endpoint = await services.endpoints.update(caller.tenant, endpointId, change)
    return {
      message: 'Endpoint updated.',
      data: toEndpointResponse(endpoint),
      ...warningsOf([...endpointWarnings(endpoint), ...destinationWarnings(services, [endpoint.url])]),
    }
  },
})
