import { exhaustedType, type QueuedEvent, queuedEvent } from '../../../core/events/outbound-event.ts'
import { RepeatedEvents } from '../../../core/quota/repeated-events.ts'
import type { Services } from '../../../rest/services.ts'
import {
  type AttemptRecord,
  type MessageRecord,
  noOrganizationKey,
  type TargetAddress,
} from '../deliveries/delivery-records.ts'
import type { RetryPolicy } from '../deliveries/delivery-service.ts'
import { storeTargetIds } from '../webhook-records.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Time in ms after which an endpoint without any success is disabled. */
export const disableAfterMs = 5 * 24 * hour

/**
 * Delays in ms after the first failure, after the second failure, and so on. They allow eight attempts in about
 * 27 h 35 min.
 */
const delaysMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]
/**
 * Random share by which a delay is made longer or shorter (0.1 means ±10%), so that receivers do not get all retries
 * together.
 */
const jitter = 0.1

/**
 * Returns the delay in ms of the next attempt after `failures` failed attempts (at least 1); null if there is
 * no further attempt.
 * @param random from 0 to 1
 */
export function delayAfter(failures: number, random: number): number | null {
  const delay = delaysMs[failures - 1]
  return delay === undefined ? null : Math.round(delay * (1 + jitter * (2 * random - 1)))
}

/**
 * Number of delays of the schedule that `store` uses. The last one (30 minutes) is repeated, so that the receiver
 * has the last version of each editor soon after an outage.
 */
const storeDelays = 3

/**
 * Returns the policy for failed attempts of a target. The attempts of the callback `store` do not end, because
 * the receiver must get the last version of each editor.
 */
export const retryPolicyFor = (services: RetryServices, address: TargetAddress): RetryPolicy => ({
  retryAfter: (failures) => {
    const endless = storeTargetIds.includes(address.targetId)
    return delayAfter(endless ? Math.min(failures, storeDelays) : failures, Math.random())
  },
  exhausted: (message) => exhaustedEvent(services, address, message),
})

type RetryServices = Pick<Services, 'clock' | 'events' | 'wants'>

/**
 * Returns the event `message.attempt.exhausted` for a message whose attempts have all failed. Returns null if
 * no endpoint wants this event, for messages of test events, and for messages of `message.attempt.exhausted`
 * events.
 */
function exhaustedEvent(
  { clock, events, wants }: RetryServices,
  address: TargetAddress,
  message: MessageRecord,
): QueuedEvent | null {
  const type = exhaustedType
  const { organizationId } = message
  if (message.type === type || organizationId === noOrganizationKey || !wants(address, type)) return null
  const last = message.attempts.at(-1)
  const data = {
    endpointId: address.targetId,
    messageId: message.id,
    eventType: message.type,
    attempts: message.failures,
    httpStatus: last?.httpStatus ?? null,
  }
  const at = clock.now()
  const event = { type, documentId: null, actionUser: { userId: address.apiKey }, data } as const
  return queuedEvent({ ...address, organizationId }, event, { id: events.nextId(), at, trace: null })
}

interface Failure {
  readonly event: 'webhook.attempt_failed' | 'webhook.messages_dropped'
  readonly workspaceId: string
  readonly apiKey: string
  readonly endpointId: string
  readonly messageId: string
  readonly type: string
  /** Status of the response; absent for a dropped message. */
  readonly httpStatus?: number | null
  readonly reason: string
}

/**
 * Logs failed attempts and dropped messages. Repeated failures of a target share one line with their count.
 * Does not log URLs, because they may contain secrets.
 */
export class FailureLog {
  readonly #events: RepeatedEvents<Failure>

  constructor({ clock, log }: Pick<Services, 'clock' | 'log'>) {
    this.#events = new RepeatedEvents(clock, (failure, times) =>
      log.warn(
        { ...failure, times },
        failure.event === 'webhook.attempt_failed'
          ? 'a webhook attempt failed'
          : 'webhook messages were dropped before all attempts',
      ),
    )
  }

  /** Logs an attempt if it failed. */
  attempted(address: TargetAddress, message: MessageRecord, { httpStatus, error }: AttemptRecord): void {
    if (error !== null)
      this.#note(address, message, { event: 'webhook.attempt_failed', httpStatus, reason: error })
  }

  /** Logs a message that failed before its last attempt. */
  dropped(address: TargetAddress, message: MessageRecord): void {
    this.#note(address, message, { event: 'webhook.messages_dropped', reason: message.reason ?? '' })
  }

  /** Logs the failures that have not been logged yet. */
  end(): void {
    this.#events.end()
  }

  #note(
    { workspaceId, apiKey, targetId: endpointId }: TargetAddress,
    { id: messageId, type }: MessageRecord,
    noted: Pick<Failure, 'event' | 'httpStatus' | 'reason'>,
  ): void {
    const failure = { ...noted, workspaceId, apiKey, endpointId, messageId, type }
    this.#events.note(`${noted.event} ${workspaceId} ${apiKey} ${endpointId}`, failure, {
      kind: noted.event,
      event: { ...failure, workspaceId: 'others', apiKey: 'others', endpointId: 'others' },
    })
  }
}
