import type { Clock } from '../../../core/base/clock.ts'
import type { Log } from '../../../core/base/log.ts'
import { exhaustedType, type QueuedEvent, queuedEvent } from '../../../core/events/outbound-event.ts'
import { RepeatedEvents } from '../../../core/quota/repeated-events.ts'
import type { Services } from '../../../rest/services.ts'
import {
  type AttemptRecord,
  type MessageRecord,
  noOrganizationKey,
  type TargetAddress,
} from '../deliveries/delivery-records.ts'
import type {
  AttemptResult,
  DeliveryService,
  RecordedAttempt,
  RetryPolicy,
} from '../deliveries/delivery-service.ts'
import { storeTargetIds } from '../webhook-records.ts'

/** Schedule of the attempts of a message. */
interface Schedule {
  /**
   * Delays in ms after the first failure, after the second failure, and so on. The last delay precedes the
   * last attempt.
   */
  readonly delaysMs: readonly number[]
  /**
   * Random share by which a delay is made longer or shorter (0.1 means ±10%), so that receivers do not get
   * all retries together.
   */
  readonly jitter: number
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Time in ms after which an endpoint without any success is disabled. */
export const disableAfterMs = 5 * 24 * hour

/** Allows eight attempts in about 27 h 35 min. */
export const defaultSchedule: Schedule = {
  delaysMs: [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour],
  jitter: 0.1,
}

/**
 * Returns the delay in ms of the next attempt after `failures` failed attempts (at least 1); null if there is
 * no further attempt.
 * @param random from 0 to 1
 */
export function delayAfter({ delaysMs, jitter }: Schedule, failures: number, random: number): number | null {
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
    return delayAfter(defaultSchedule, endless ? Math.min(failures, storeDelays) : failures, Math.random())
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

/** Messages of the log lines, by the name of the log event. */
const texts = {
  'webhook.attempt_failed': 'a webhook attempt failed',
  'webhook.messages_dropped': 'webhook messages were dropped before all attempts',
} as const

interface Failure {
  readonly event: keyof typeof texts
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

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#events = new RepeatedEvents(clock, (failure, times) =>
      log.warn({ ...failure, times }, texts[failure.event]),
    )
  }

  /** Logs an attempt if it failed. */
  attempted(
    address: TargetAddress,
    message: Pick<MessageRecord, 'id' | 'type'>,
    { httpStatus, error }: AttemptRecord,
  ): void {
    if (error === null) return
    const names = namesOf(address, message)
    this.#note({ event: 'webhook.attempt_failed', ...names, httpStatus, reason: error })
  }

  /** Logs a message that failed before its last attempt. */
  dropped(address: TargetAddress, message: Pick<MessageRecord, 'id' | 'type' | 'reason'>): void {
    const reason = message.reason ?? ''
    this.#note({ event: 'webhook.messages_dropped', ...namesOf(address, message), reason })
  }

  /** Logs the failures that have not been logged yet. */
  end(): void {
    this.#events.end()
  }

  #note(failure: Failure): void {
    const { event, workspaceId, apiKey, endpointId } = failure
    this.#events.note(`${event} ${workspaceId} ${apiKey} ${endpointId}`, failure, {
      kind: event,
      event: { ...failure, workspaceId: 'others', apiKey: 'others', endpointId: 'others' },
    })
  }
}

const namesOf = (
  { workspaceId, apiKey, targetId }: TargetAddress,
  { id, type }: Pick<MessageRecord, 'id' | 'type'>,
) => ({ workspaceId, apiKey, endpointId: targetId, messageId: id, type })

/**
 * Records the outcomes of attempts in order, while the next attempts run. One commit records all outcomes
 * that are ready. After a crash, messages whose outcome was not recorded are sent again.
 */
export class AttemptRecorder {
  readonly #deliveries: DeliveryService
  readonly #address: TargetAddress
  readonly #rules: RetryPolicy
  readonly #recorded: (recorded: RecordedAttempt) => void
  #results: AttemptResult[] = []
  #running: Promise<void> | null = null
  #hasFailed = false

  /**
   * Creates a recorder for one target.
   * @param recorded receives the result of each commit
   */
  constructor(
    deliveries: DeliveryService,
    rules: RetryPolicy,
    address: TargetAddress,
    recorded: (recorded: RecordedAttempt) => void,
  ) {
    this.#deliveries = deliveries
    this.#address = address
    this.#rules = rules
    this.#recorded = recorded
  }

  add(result: AttemptResult): void {
    this.#results.push(result)
    this.#running ??= this.#run()
    // `settled` throws this error to its caller.
    this.#running.catch(() => {
      this.#hasFailed = true
    })
  }

  /** True if a commit failed. Later outcomes are not recorded. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /**
   * Resolves when all outcomes are durable.
   * @throws the error of the commit that failed; later outcomes are not recorded
   */
  async settled(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#results.length > 0) {
      const results = this.#results.splice(0)
      this.#recorded(await this.#deliveries.record(this.#address, results, this.#rules))
    }
    this.#running = null
  }
}
