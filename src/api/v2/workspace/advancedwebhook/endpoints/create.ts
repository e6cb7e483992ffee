import { subscriptionLimits } from '../../../../../subscriptions/limits.ts'
import {
  advancedOff,
  checkEndpoint,
  distinct,
  endpointAnswer,
  endpointProperties,
  showEndpoint,
  uid,
} from '../../../../endpoint-schema.ts'
import { operation } from '../../../../operation.ts'

export const createEndpoint = operation({
  path: '/v2/workspace/advancedwebhook/endpoints/create',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  makes: ['id'],
  summary: 'Make a webhook endpoint',
  description:
    'Its signing secret is made with it, and answered by `secret/get` alone. Events that happen after the answer are ' +
    'told to it.',
  request: { type: 'object', required: ['url'], properties: { ...endpointProperties, uid } },
  response: endpointAnswer,
  errors: [
    advancedOff,
    {
      status: 'FAILED_PRECONDITION',
      when: `there are ${subscriptionLimits.endpoints} endpoints of the API key already`,
    },
    { status: 'ALREADY_EXISTS', when: 'another endpoint has the `uid`, or has it as its id' },
  ],
  async handler(data, { caller, services }) {
    const { url, description = null, filterTypes, channels, disabled = false } = data
    const { rateLimit = null, metadata = null, uid = null } = data
    checkEndpoint({ url, metadata })
    const endpoint = await services.endpoints.create(caller.tenant, {
      url,
      description,
      filterTypes: filterTypes === undefined ? null : distinct(filterTypes),
      channels: channels === undefined ? null : distinct(channels),
      disabled,
      rateLimit,
      metadata,
      uid,
    })
    return { message: 'Endpoint created.', data: showEndpoint(endpoint) }
  },
})
