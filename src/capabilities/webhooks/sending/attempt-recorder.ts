import type { Clock } from '../../../core/base/clock.ts'
import type { Log } from '../../../core/base/log.ts'
import { RepeatedEvents } from '../../../core/quota/repeated-events.ts'
import type { AttemptRecord, MessageRecord, TargetAddress } from '../deliveries/delivery-records.ts'
import type {
  AttemptResult,
  DeliveryService,
  RecordedAttempt,
  RetryPolicy,
} from '../deliveries/delivery-service.ts'

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
