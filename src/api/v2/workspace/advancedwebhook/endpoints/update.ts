import { invalid } from '../../../../../errors.ts'
import {
  advancedOff,
  checkEndpoint,
  distinct,
  endpointAnswer,
  endpointId,
  endpointProperties as members,
  noSuchEndpoint,
  orNull,
  showEndpoint,
} from '../../../../endpoint-schema.ts'
import { operation } from '../../../../operation.ts'

export const updateEndpoint = operation({
  path: '/v2/workspace/advancedwebhook/endpoints/update',
  auth: 'key',
  effect: 'repeatable',
  audited: 'admin',
  summary: 'Change a webhook endpoint',
  description:
    'Changes what is given; at least one member beside `endpointId` must be. Null unsets what can be unset. With ' +
    '`disabled` false an endpoint that was disabled for its failures is sent events again.',
  request: {
    type: 'object',
    required: ['endpointId'],
    properties: {
      endpointId,
      url: members.url,
      description: orNull(members.description),
      filterTypes: orNull(members.filterTypes),
      channels: orNull(members.channels),
      disabled: members.disabled,
      rateLimit: orNull(members.rateLimit),
      metadata: orNull(members.metadata),
    },
  },
  response: endpointAnswer,
  errors: [advancedOff, noSuchEndpoint],
  async handler({ endpointId, ...data }, { caller, services }) {
    const { url, description, filterTypes, channels, disabled, rateLimit, metadata } = data
    const change = {
      url,
      description,
      filterTypes: filterTypes && distinct(filterTypes),
      channels: channels && distinct(channels),
      disabled,
      rateLimit,
      metadata,
    }
    if (Object.values(change).every((value) => value === undefined))
      throw invalid(`one of ${Object.keys(change).join(', ')} must be given`)
    checkEndpoint(data)
    const endpoint = await services.endpoints.update(caller.tenant, endpointId, change)
    return { message: 'Endpoint updated.', data: showEndpoint(endpoint) }
  },
})
