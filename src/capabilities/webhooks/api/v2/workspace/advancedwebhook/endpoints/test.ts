import { json } from '../../../../../../../core/base/schema.ts'
import { eventTypes } from '../../../../../../../core/events/outbound-event.ts'
import { defineOperation } from '../../../../../../../rest/operation.ts'
import { type AttemptRecord, testEvent } from '../../../../../deliveries/delivery-records.ts'
import {
  deliveryAnswer,
  messageId,
  requireActive,
  targetOff,
  toDeliveryResponse,
} from '../../../../delivery-schema.ts'
import { advancedOff, endpointId, noSuchEndpoint } from '../../../../endpoint-schema.ts'

/** Bounds of the time in seconds that a call waits for the first attempt. */
const waitSecondsMax = 10
const defaultWaitSeconds = 5

export const testEndpoint = defineOperation({
  path: '/v2/workspace/advancedwebhook/endpoints/test',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Send a test event to a webhook endpoint',
  description:
    'Sends a signed test event (`data.test` is true), for any types and channels of the endpoint, and waits for the ' +
    'response of the receiver. A message without an attempt yet is sent later; `deliveries/get` returns its outcome.',
  request: json.object(
    { endpointId },
    {
      eventType: json.choice(eventTypes, 'Type of the event.', { default: 'webhook.test' }),
      waitSeconds: json.integer('Longest time to wait for the first attempt.', {
        minimum: 0,
        maximum: waitSecondsMax,
        default: defaultWaitSeconds,
      }),
    },
  ),
  response: json.object({
    messageId,
    delivery: json.orNull(
      deliveryAnswer,
      'The message after its first attempt, or after `waitSeconds`; null if it was deleted meanwhile. With an ' +
        'attempt whose `error` is null, the receiver has accepted it.',
    ),
  }),
  errors: [...advancedOff, targetOff, noSuchEndpoint],
  async handler(
    { endpointId, eventType = 'webhook.test', waitSeconds = defaultWaitSeconds },
    { caller, services },
  ) {
    const { tenant } = caller
    const { id } = await services.endpoints.find(tenant, endpointId)
    const target = { ...tenant, targetId: id }
    await requireActive(services, target)
    const event = testEvent(target, eventType, services.clock.now())
    const messageId = await services.deliveries.send(target, event)
    const sent = await services.deliveries.attempted(target, messageId, waitSeconds * 1_000)
    return {
      message: outcomeOf(sent?.attempts.at(-1)),
      data: { messageId, delivery: sent === null ? null : toDeliveryResponse(sent) },
    }
  },
})

const outcomeOf = (attempt: AttemptRecord | undefined): string => {
  if (attempt === undefined) return 'The test message is being sent.'
  return attempt.error === null
    ? 'The receiver has accepted the test message.'
    : `The test message was not accepted: ${attempt.error}`
}
