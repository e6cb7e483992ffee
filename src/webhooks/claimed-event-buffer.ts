import type { QueuedEvent } from '../events/outbound-event.ts'

/** Maximum number and bytes of events that are claimed ahead, to share the dispatching fairly between API keys. */
const claimedMax = { events: 4_096, bytes: 33_554_432 }
/** Maximum number of events of one claim. */
const claimMax = 256

export interface ClaimedEvent {
  readonly jobId: string
  /** Token of the most recent lease. */
  token: string
  /** Estimated size of one message of the event. */
  readonly bytes: number
  readonly event: QueuedEvent
}

/** Events whose jobs are claimed and that are not dispatched yet. It counts them and their bytes. */
export class ClaimedEventBuffer {
  readonly #byJob = new Map<string, ClaimedEvent>()
  #bytes = 0

  /** Number of events that the next claim may have; 0 if the buffer is full. */
  get free(): number {
    if (this.#bytes >= claimedMax.bytes) return 0
    return Math.min(claimMax, claimedMax.events - this.#byJob.size)
  }

  /** Leases of all events. */
  get tokens(): readonly string[] {
    return Array.from(this.#byJob.values(), ({ token }) => token)
  }

  /** Returns false for an event that the buffer has: its job was claimed again, because its lease had expired. */
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
