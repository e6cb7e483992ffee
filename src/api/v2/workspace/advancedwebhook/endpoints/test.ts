import { ApiError } from '../../../../../errors.ts'
import { eventTypes } from '../../../../../events/outbound-event.ts'
import { testEvent } from '../../../../../subscriptions/endpoints/test-event.ts'
import { defineOperation } from '../../../../operation.ts'
import { messageId } from '../../../../schemas/delivery-schema.ts'
import { advancedOff, endpointId, noSuchEndpoint } from '../../../../schemas/endpoint-schema.ts'

export const testEndpoint = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/test',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send a test event to a webhook endpoint',
  description:
    'Queues a signed test event (`data.test` is true), for any types and channels of the endpoint. `deliveries/get` ' +
    'returns its outcome.',
  request: {
    type: 'object',
    required: ['endpointId'],
    properties: {
      endpointId,
      eventType: {
        type: 'string',
        enum: eventTypes,
        default: 'webhook.test',
        description: 'Type of the event.',
      },
    },
  },
  response: { type: 'object', required: ['messageId'], properties: { messageId } },
  errors: [
    ...advancedOff,
    {
      status: 'FAILED_PRECONDITION',
      code: 'webhook/endpoint-disabled',
      when: 'the endpoint is disabled',
    },
    noSuchEndpoint,
  ],
  async handler({ endpointId, eventType = 'webhook.test' }, { caller, services }) {
    const { tenant } = caller
    const { id, disabledBy } = await services.endpoints.find(tenant, endpointId)
    if (disabledBy !== null)
      throw new ApiError('webhook/endpoint-disabled', 'the endpoint is disabled; enable it first')
    const target = { ...tenant, targetId: id }
    const event = testEvent(target, eventType, services.clock.now())
    const messageId = await services.deliveries.send(target, event)
    return { message: 'The test message is being sent.', data: { messageId } }
  },
})
