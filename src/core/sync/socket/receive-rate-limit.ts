import type { Clock } from '../../base/clock.ts'
import { memoized } from '../../base/maps.ts'
import type { Rate } from '../../config/option-parsers.ts'
import { type PausableReader, pieceCostBytes } from '../../quota/tick-shares.ts'

/**
 * Minimum milliseconds of a pause. A shorter pause is not worth its cost, because each socket reads at least
 * one chunk when it is resumed.
 */
const pauseMsMin = 10

/**
 * Limits the bytes per second that the server reads from the sockets of each workspace. Above this rate, the
 * sockets are paused, and TCP slows down the senders; no socket is closed. The limit is per workspace instead
 * of per API key, because a workspace can create any number of keys.
 *
 * A workspace has a timer only while it is paused, or after its last session has ended and until its bucket
 * is full. Sockets have no timers.
 */
export class ReceiveRateLimit {
  /** Maximum rate in bytes at which all sockets of a workspace together may send. */
  readonly rate: Rate
  readonly clock: Clock
  /** Called when sockets of a workspace are paused. */
  readonly onExceeded: (workspaceId: string) => void
  readonly #buckets = new Map<string, WorkspaceBucket>()

  constructor(rate: Rate, clock: Clock, onExceeded: (workspaceId: string) => void) {
    this.rate = rate
    this.clock = clock
    this.onExceeded = onExceeded
  }

  /**
   * Adds a session to the bucket of a workspace, and returns this bucket. All sessions of the workspace use
   * the same bucket. Call `leave` when the session ends.
   */
  enter(workspaceId: string): WorkspaceBucket {
    const bucket = memoized(this.#buckets, workspaceId, () => new WorkspaceBucket(this, workspaceId))
    bucket.sessions += 1
    return bucket
  }

  leave(bucket: WorkspaceBucket, reader: PausableReader): void {
    bucket.forget(reader)
    bucket.sessions -= 1
    if (bucket.sessions === 0) this.#deleteWhenFull(bucket)
  }

  /**
   * Deletes a bucket that has no sessions, but not before the bucket is full. Otherwise a client could get a
   * full bucket by reconnecting.
   */
  #deleteWhenFull(bucket: WorkspaceBucket): void {
    if (bucket.sessions > 0 || this.#buckets.get(bucket.workspaceId) !== bucket) return
    const untilFullMs = bucket.untilFullMs()
    if (untilFullMs === 0) this.#buckets.delete(bucket.workspaceId)
    else this.clock.after(untilFullMs, () => this.#deleteWhenFull(bucket))
  }
}

/**
 * The bucket of one workspace: the number of bytes that its clients may still send, and the readers that are
 * paused.
 */
export class WorkspaceBucket {
  readonly workspaceId: string
  sessions = 0
  readonly #limit: ReceiveRateLimit
  readonly #paused = new Set<PausableReader>()
  #availableBytes: number
  /** Time of the last refill, in epoch milliseconds. */
  #filledAt: number
  #cancel: (() => void) | null = null

  constructor(limit: ReceiveRateLimit, workspaceId: string) {
    this.#limit = limit
    this.workspaceId = workspaceId
    const { perSecond, burst } = limit.rate
    this.#availableBytes = perSecond === 0 ? Number.POSITIVE_INFINITY : burst
    this.#filledAt = limit.clock.now()
  }

  /** Counts a message of `reader`. Call it for each message. */
  count(bytes: number, reader: PausableReader): void {
    this.charge(bytes + pieceCostBytes, reader)
  }

  /**
   * Counts bytes of an incomplete message; a negative number removes them from the count.
   * @param reader the reader to pause if the rate is exceeded; null: no reader is paused
   */
  charge(bytes: number, reader: PausableReader | null): void {
    this.#availableBytes -= bytes
    if (bytes > 0 && this.#availableBytes < 0 && reader !== null) this.#pause(reader)
  }

  forget(reader: PausableReader): void {
    this.#paused.delete(reader)
    if (this.#paused.size > 0) return
    this.#cancel?.()
    this.#cancel = null
  }

  /** Returns the number of milliseconds until the bucket is full. */
  untilFullMs(): number {
    const { perSecond, burst } = this.#limit.rate
    if (perSecond === 0) return 0
    this.#fill()
    return Math.ceil(((burst - this.#availableBytes) / perSecond) * 1000)
  }

  #fill(): void {
    const { rate, clock } = this.#limit
    const now = clock.now()
    // The difference is negative if the system clock was set back; no bytes are added then.
    const grown = (Math.max(0, now - this.#filledAt) * rate.perSecond) / 1000
    this.#availableBytes = Math.min(rate.burst, this.#availableBytes + grown)
    this.#filledAt = now
  }

  #pause(reader: PausableReader): void {
    this.#fill()
    if (this.#availableBytes >= 0 || this.#paused.has(reader)) return
    this.#paused.add(reader)
    reader.pauseReading()
    this.#limit.onExceeded(this.workspaceId)
    this.#cancel ??= this.#scheduleResume()
  }

  #scheduleResume(): () => void {
    const ms = Math.ceil((-this.#availableBytes / this.#limit.rate.perSecond) * 1000)
    return this.#limit.clock.after(Math.max(pauseMsMin, ms), () => this.#resume())
  }

  #resume(): void {
    this.#cancel = null
    this.#fill()
    if (this.#availableBytes < 0) {
      this.#cancel = this.#scheduleResume()
      return
    }
    const readers = [...this.#paused]
    this.#paused.clear()
    for (const reader of readers) reader.resumeReading()
  }
}
