import { ApiError } from '../../../../../errors.ts'
import { eventTypes } from '../../../../../events/outbound.ts'
import { trialEvent } from '../../../../../subscriptions/trial.ts'
import { messageId } from '../../../../delivery-schema.ts'
import { endpointId, noSuchEndpoint } from '../../../../endpoint-schema.ts'
import { operation } from '../../../../operation.ts'

export const testEndpoint = operation({
  path: '/v2/workspace/advancedwebhook/endpoints/test',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send a sample to a webhook endpoint',
  description:
    'Queues a signed event that has not happened (`data.test` is true), whatever types and channels the endpoint asks ' +
    'for. What becomes of it is to be seen with `deliveries/get`.',
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
    {
      status: 'FAILED_PRECONDITION',
      when: 'advanced webhooks were never configured, or they or the endpoint are disabled',
    },
    noSuchEndpoint,
  ],
  async handler({ endpointId, eventType = 'webhook.test' }, { caller, services }) {
    const { tenant } = caller
    const { id, disabledBy } = await services.endpoints.find(tenant, endpointId)
    if (disabledBy !== null) throw new ApiError('FAILED_PRECONDITION', 'the endpoint is disabled')
    const target = { ...tenant, targetId: id }
    const event = trialEvent(target, eventType, services.clock.now())
    const messageId = await services.deliveries.send(target, event)
    return { message: 'It is being sent.', data: { messageId } }
  },
})
