import type { QueuedEvent } from '../../core/events/outbound-event.ts'

/**
 * Maximum number and maximum bytes of events that are claimed in advance. Claiming in advance is necessary to
 * share the dispatching fairly between API keys.
 */
const claimedMax = { events: 4_096, bytes: 33_554_432 }
/** Maximum number of events in one claim. */
const claimMax = 256

export interface ClaimedEvent {
  readonly jobId: string
  /** Token of the most recent lease. */
  token: string
  /** Estimated bytes of one message of the event. */
  readonly bytes: number
  readonly event: QueuedEvent
}

/** Events whose jobs are claimed, but that are not dispatched yet. Counts the events and their bytes. */
export class ClaimedEventBuffer {
  readonly #byJob = new Map<string, ClaimedEvent>()
  #bytes = 0

  /** Maximum number of events in the next claim; 0 if the buffer is full. */
  get free(): number {
    if (this.#bytes >= claimedMax.bytes) return 0
    return Math.min(claimMax, claimedMax.events - this.#byJob.size)
  }

  /** Tokens of the leases of all events. */
  get tokens(): readonly string[] {
    return Array.from(this.#byJob.values(), ({ token }) => token)
  }

  /**
   * Adds an event. Returns false if the buffer already has the event, because its lease has expired and its
   * job was claimed again. The event then keeps only the new token.
   */
  add(claimed: ClaimedEvent): boolean {
    const before = this.#byJob.get(claimed.jobId)
    if (before !== undefined) {
      before.token = claimed.token
      return false
    }
    this.#byJob.set(claimed.jobId, claimed)
    this.#bytes += claimed.bytes
    return true
  }

  remove(claimed: readonly ClaimedEvent[]): void {
    for (const { jobId, bytes } of claimed) if (this.#byJob.delete(jobId)) this.#bytes -= bytes
  }
}
