import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { RepeatedEvents } from '../quota/repeated-events.ts'
import type {
  AttemptRecord,
  MessageRecord,
  TargetAddress,
} from '../subscriptions/deliveries/delivery-records.ts'

interface Failure {
  readonly workspaceId: string
  readonly endpointId: string
  readonly messageId: string
  readonly type: string
  readonly httpStatus: number | null
  readonly reason: string
}

/**
 * Logs failed attempts. Repeated failures of a target share a line with their count. URLs are not logged, because they
 * may contain secrets.
 */
export class FailureLog {
  readonly #events: RepeatedEvents<Failure>

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#events = new RepeatedEvents({
      clock,
      write: (failure, times) =>
        log.warn({ event: 'webhook.attempt_failed', ...failure, times }, 'a webhook attempt failed'),
    })
  }

  /** Logs an attempt if it failed. */
  attempted(
    { workspaceId, apiKey, targetId }: TargetAddress,
    { id, type }: Pick<MessageRecord, 'id' | 'type'>,
    { httpStatus, error }: AttemptRecord,
  ): void {
    if (error === null) return
    const failure = { workspaceId, endpointId: targetId, messageId: id, type, httpStatus, reason: error }
    this.#events.note(`${workspaceId} ${apiKey} ${targetId}`, failure, {
      kind: '',
      event: { ...failure, workspaceId: 'others', endpointId: 'others' },
    })
  }

  /** Logs the failures that are not logged yet. */
  end(): void {
    this.#events.end()
  }
}
