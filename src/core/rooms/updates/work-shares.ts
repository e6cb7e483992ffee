import type { Clock } from '../../base/clock.ts'
import { memoized } from '../../base/maps.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'
import type { UpdateSummary } from '../../update/summary.ts'

/**
 * Maximum steps (`integration-limits.ts`) of a free edit. A free edit is not charged to its workspace. An
 * edit is free if it exceeds neither this limit nor `freeMs`.
 */
const freeSteps = 2_000

/**
 * Maximum milliseconds of a free edit, as the average of the edits of a tick. A limit for steps is not
 * enough, because Yjs also spends time for each client of a document.
 */
const freeMs = 3

/** Milliseconds of the event loop that expensive edits of a workspace may take each second. */
const msPerSecond = 100

/** Milliseconds of the event loop that expensive edits of a workspace may take in a burst, after a pause. */
const burstMs = 500

/**
 * Maximum milliseconds that a document waits before the time that its workspace has left is checked again.
 */
const waitMsMax = 2_000

/**
 * Milliseconds of the event loop that expensive edits of one sender may take in a burst, and each second, while
 * its workspace has no time left. A sender that is alone in its workspace exceeds this after about 6 s.
 */
const senderBurstMs = 400
const senderMsPerSecond = 25

/** Number of structs and deleted ranges, in total, above which an update may take more than a millisecond. */
export const partsOfCostly = 200

/** Returns whether an update may take more than a millisecond. */
export const mayBeCostly = ({ structs, deletes }: UpdateSummary): boolean => structs + deletes > partsOfCostly

/** The work for edits of one document in a tick. */
export interface Work {
  readonly updates: number
  readonly steps: number
  readonly ms: number
}

/**
 * Limits the time that the event loop spends on the expensive edits of each workspace. The limit is not per
 * document, because a workspace can create any number of documents.
 */
export class WorkShares {
  readonly #onExceeded: (workspaceId: string) => void
  /** The milliseconds of the event loop that each workspace has used. */
  readonly #spent: RateLimiter
  readonly #clock: Clock
  /** The milliseconds that each sender has used while its workspace had no time left. */
  readonly #spentBy = new WeakMap<object, RateLimiter>()

  /** @param onExceeded called each time edits have used up the time of a workspace */
  constructor(clock: Clock, onExceeded: (workspaceId: string) => void) {
    this.#onExceeded = onExceeded
    this.#clock = clock
    // A RateLimiter accepts a call while at least one unit is left, so the burst is larger by one.
    this.#spent = new RateLimiter({ perSecond: msPerSecond, burst: burstMs + 1 }, clock)
  }

  /**
   * Charges the time of edits to their workspace, unless they are free. Returns the number of milliseconds
   * that the document must wait.
   */
  spend(workspaceId: string, { updates, steps, ms }: Work): number {
    if (steps <= freeSteps && ms <= freeMs * updates) return 0
    this.#spent.charge(workspaceId, ms)
    const waitMs = this.waitMs(workspaceId)
    if (waitMs > 0) this.#onExceeded(workspaceId)
    return waitMs
  }

  /**
   * Charges the time of edits to their sender, whose workspace has no time left. Returns whether the sender has
   * used more than its part: it would wait for minutes until the server has handled all of its edits.
   */
  exceeds(sender: object, ms: number): boolean {
    const rate = { perSecond: senderMsPerSecond, burst: senderBurstMs + 1 }
    const spent = memoized(this.#spentBy, sender, () => new RateLimiter(rate, this.#clock))
    spent.charge('', ms)
    return spent.waitMs('') > 0
  }

  /**
   * Returns the number of milliseconds that a document with expensive edits must wait; 0 if its workspace has
   * time left.
   */
  waitMs(workspaceId: string): number {
    return Math.min(waitMsMax, Math.ceil(this.#spent.waitMs(workspaceId)))
  }
}
