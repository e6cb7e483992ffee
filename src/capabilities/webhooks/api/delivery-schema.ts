import { ApiError } from '../../../core/base/errors.ts'
import { type FromSchema, json } from '../../../core/base/schema.ts'
import type { Tenant } from '../../../core/model/address.ts'
import type { Services } from '../../../rest/services.ts'
import { deliveryStatuses, type MessageRecord, type TargetAddress } from '../deliveries/delivery-records.ts'
import type { EndpointService } from '../endpoint-service.ts'
import { fixedTargetIds, storeTargetIds } from '../webhook-records.ts'

/** Request member for the endpoint of the deliveries. */
export const deliveryTarget = json.id(
  'Id of the endpoint, or its `uid`; `basic-raw` or `basic-processed` for the URLs of the basic webhook service; ' +
    `\`${storeTargetIds.at(0)}\` to \`${storeTargetIds.at(-1)}\` for the callback \`store\`, which shares the editors among them.`,
  { examples: ['billing'] },
)

export const messageId = json.id('`webhook-id` of the delivery: the same for every attempt.', {
  maxLength: 100,
  examples: ['msg_0mi6kq8xs000002f7b1c9e4d5a6b7c8d9e'],
})

const time = { type: 'string', format: 'date-time', examples: ['2026-01-01T00:00:00.000Z'] } as const

export const deliveryStatus = json.choice(deliveryStatuses, '`pending`: waits for its first or next attempt.')

const attemptAnswer = json.object({
  time,
  httpCode: {
    ...json.orNull(json.integer()),
    description: 'HTTP status of the response; null without a response.',
    examples: [200],
  },
  durationMs: json.number('Milliseconds.', { examples: [42] }),
  error: {
    ...json.orNull(json.text()),
    description: 'Why it failed; null: it succeeded.',
    examples: [null],
  },
})

/** Schema of the outcome of one event at one target. */
export const deliveryAnswer = json.object({
  messageId,
  eventType: { type: 'string', examples: ['comment.add'] },
  status: deliveryStatus,
  createdAt: { ...time, description: 'When the event happened.' },
  nextAttemptAt: {
    ...json.orNull(time),
    description: 'Null unless it is pending.',
    examples: [null],
  },
  reason: {
    ...json.orNull(json.text()),
    description: 'Reason of the failure, if it is not that of the last attempt.',
    examples: [null],
  },
  attempts: json.list(attemptAnswer, { description: 'The latest attempts, the oldest first.' }),
})

const isoOf = (ms: number): string => new Date(ms).toISOString()

export const toDeliveryResponse = (message: MessageRecord): FromSchema<typeof deliveryAnswer> => ({
  messageId: message.id,
  eventType: message.type,
  status: message.status,
  createdAt: isoOf(message.at),
  nextAttemptAt: message.dueAt === null ? null : isoOf(message.dueAt),
  reason: message.reason,
  attempts: message.attempts.map(({ at, httpStatus: httpCode, ...outcome }) => ({
    time: isoOf(at),
    httpCode,
    ...outcome,
  })),
})

/** The error of operations that send something to a target that gets nothing. */
export const targetOff = {
  code: 'webhook/endpoint-disabled',
  when: 'the endpoint is disabled, or its service is off',
} as const

/** Checks that something is sent to a target. @throws ApiError FAILED_PRECONDITION */
export async function requireActive(
  { subscriptions }: Pick<Services, 'subscriptions'>,
  target: TargetAddress,
): Promise<void> {
  if ((await subscriptions.targetOf(target, target.targetId)) === null)
    throw new ApiError(targetOff.code, `${targetOff.when}; enable it first`)
}

/**
 * Returns the address of a target.
 * @throws ApiError NOT_FOUND, FAILED_PRECONDITION like the operations on endpoints
 */
export async function requireTarget(
  endpoints: EndpointService,
  { workspaceId, apiKey }: Tenant,
  name: string,
): Promise<TargetAddress> {
  if (fixedTargetIds.includes(name)) return { workspaceId, apiKey, targetId: name }
  const { id } = await endpoints.find({ workspaceId, apiKey }, name)
  return { workspaceId, apiKey, targetId: id }
}
