import type { Clock } from '../../clock.ts'
import type { PausableReader } from './read-backpressure.ts'

export interface ReceiveRateOptions {
  /** Bytes per second of all sockets of a workspace; 0: no limit. */
  readonly bytesPerSecond: number
  /** Bytes that a workspace may send in a burst, after a pause. */
  readonly burstBytes: number
  readonly clock: Clock
  /** Called when sockets of a workspace are paused. */
  readonly onExceeded: (workspaceId: string) => void
}

/** Counted with each message, for its header and the cost of its processing. */
const messageOverheadBytes = 8
/** Minimum pause: each socket reads a chunk when it continues, and a pause has a cost. */
const pauseMsMin = 10

/**
 * Limits the bytes per second that the sockets of each workspace send. Above the rate, their sockets are paused,
 * TCP slows down the senders, and no socket is closed. The limit is by workspace and not by API key, as for
 * connections (`Admission`). There is one timer for each workspace that is paused or closed with a debt, and none
 * for a socket.
 */
export class ReceiveRateLimit {
  readonly #options: ReceiveRateOptions
  readonly #buckets = new Map<string, WorkspaceBucket>()

  constructor(options: ReceiveRateOptions) {
    this.#options = options
  }

  /** Returns the bucket that the sessions of a workspace share. Call `leave` when the session ends. */
  enter(workspaceId: string): WorkspaceBucket {
    const bucket = this.#buckets.get(workspaceId) ?? new WorkspaceBucket(this.#options, workspaceId)
    this.#buckets.set(workspaceId, bucket)
    bucket.sessions += 1
    return bucket
  }

  leave(bucket: WorkspaceBucket, reader: PausableReader): void {
    bucket.forget(reader)
    bucket.sessions -= 1
    if (bucket.sessions === 0) this.#deleteWhenFull(bucket)
  }

  /** Deletes a bucket without sessions once it is full, so that a client cannot get a full one by a reconnect. */
  #deleteWhenFull(bucket: WorkspaceBucket): void {
    if (bucket.sessions > 0 || this.#buckets.get(bucket.workspaceId) !== bucket) return
    const untilFullMs = bucket.untilFullMs()
    if (untilFullMs === 0) this.#buckets.delete(bucket.workspaceId)
    else this.#options.clock.after(untilFullMs, () => this.#deleteWhenFull(bucket))
  }
}

/** The bytes that one workspace may still send. */
export class WorkspaceBucket {
  readonly workspaceId: string
  /** Number of sessions that share the bucket. */
  sessions = 0
  readonly #options: ReceiveRateOptions
  readonly #paused = new Set<PausableReader>()
  #availableBytes: number
  /** Time of the last refill, in epoch milliseconds. */
  #filledAt: number
  #cancel: (() => void) | null = null

  constructor(options: ReceiveRateOptions, workspaceId: string) {
    this.#options = options
    this.workspaceId = workspaceId
    this.#availableBytes = options.bytesPerSecond === 0 ? Number.POSITIVE_INFINITY : options.burstBytes
    this.#filledAt = options.clock.now()
  }

  /** Call with each message of `reader`. */
  count(bytes: number, reader: PausableReader): void {
    this.charge(bytes + messageOverheadBytes, reader)
  }

  /**
   * Counts bytes of an incomplete message; a negative number subtracts.
   * @param reader is paused above the rate; null: none
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

  /** Returns the time until the bucket is full, in ms. */
  untilFullMs(): number {
    if (this.#options.bytesPerSecond === 0) return 0
    this.#fill()
    return Math.ceil(
      ((this.#options.burstBytes - this.#availableBytes) / this.#options.bytesPerSecond) * 1000,
    )
  }

  #fill(): void {
    const { bytesPerSecond, burstBytes, clock } = this.#options
    const now = clock.now()
    // A clock that is set back changes nothing.
    const grown = (Math.max(0, now - this.#filledAt) * bytesPerSecond) / 1000
    this.#availableBytes = Math.min(burstBytes, this.#availableBytes + grown)
    this.#filledAt = now
  }

  #pause(reader: PausableReader): void {
    this.#fill()
    if (this.#availableBytes >= 0 || this.#paused.has(reader)) return
    this.#paused.add(reader)
    reader.pauseReading()
    this.#options.onExceeded(this.workspaceId)
    this.#cancel ??= this.#scheduleResume()
  }

  #scheduleResume(): () => void {
    const ms = Math.ceil((-this.#availableBytes / this.#options.bytesPerSecond) * 1000)
    return this.#options.clock.after(Math.max(pauseMsMin, ms), () => this.#resume())
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
