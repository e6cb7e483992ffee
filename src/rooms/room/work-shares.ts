import type { Clock } from '../../clock.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'
import type { UpdateSummary } from '../../update/summary.ts'

/** Steps (`integration-limits.ts`) of a free edit, at most. An edit is free if it exceeds neither this nor `freeMs`. */
const freeSteps = 2_000

/** Milliseconds of a free edit, at most, as the average of a tick: Yjs also spends time for each client of a document. */
const freeMs = 3

/** Milliseconds of the event loop that expensive edits of a workspace may take, per second. */
const msPerSecond = 100

/** Milliseconds of the event loop that expensive edits of a workspace may take in a burst, after a pause. */
const burstMs = 500

/** A document waits no longer than this before its workspace is checked again. */
const waitMsMax = 2_000

/** Structs and deleted ranges of updates that may take more than a millisecond. */
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
 * Bounds the time that the event loop spends on expensive edits of one workspace. By workspace and not by document: a
 * workspace makes as many documents as it likes.
 */
export class WorkShares {
  readonly #onExceeded: (workspaceId: string) => void
  /** Counts milliseconds of the event loop. */
  readonly #spent: RateLimiter

  /** @param onExceeded is called each time a document has to wait */
  constructor(clock: Clock, onExceeded: (workspaceId: string) => void) {
    this.#onExceeded = onExceeded
    // A limiter lets a call in while one is left.
    this.#spent = new RateLimiter({ perSecond: msPerSecond, burst: burstMs + 1, clock })
  }

  /** Counts the time of edits; returns for how many milliseconds their document must wait. */
  spend(workspaceId: string, { updates, steps, ms }: Work): number {
    if (steps <= freeSteps && ms <= freeMs * updates) return 0
    this.#spent.charge(workspaceId, ms)
    const waitMs = this.waitMs(workspaceId)
    if (waitMs > 0) this.#onExceeded(workspaceId)
    return waitMs
  }

  /** For how many milliseconds a document with expensive edits must wait. */
  waitMs(workspaceId: string): number {
    return Math.min(waitMsMax, Math.ceil(this.#spent.waitMs(workspaceId)))
  }
}
