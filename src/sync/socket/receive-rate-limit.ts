import type { Clock } from '../../clock.ts'
import type { PausableReader } from './read-backpressure.ts'

export interface ReceiveRateOptions {
  /** From all sockets of one workspace; 0 is no limit. */
  readonly bytesPerSecond: number
  /** At once, after a pause. */
  readonly burstBytes: number
  readonly clock: Clock
  /** Sockets of this workspace are being held up. */
  readonly onExceeded: (workspaceId: string) => void
}

/** Counted with every message: its header, and what it costs to look at it. */
const messageOverheadBytes = 8
/** Sockets are held up at least so long: each reads a chunk when it goes on, and pausing is not free. */
const pauseMsMin = 10

/**
 * Bounds what is received from the sockets of each workspace: beyond the rate they are not read for a while, TCP slows
 * down those who send, and nobody is closed. By workspace and not by API key, as connections are (`Admission`). There
 * is a timer for each workspace that is held up, or has left in debt, and none for a socket.
 */
export class ReceiveRateLimit {
  readonly #options: ReceiveRateOptions
  readonly #buckets = new Map<string, WorkspaceBucket>()

  constructor(options: ReceiveRateOptions) {
    this.#options = options
  }

  /** The meter that a new session of the workspace has in common with the others; to be left when it ends. */
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

  /** A workspace that comes back before it has rested finds what it has left. */
  #deleteWhenFull(bucket: WorkspaceBucket): void {
    if (bucket.sessions > 0 || this.#buckets.get(bucket.workspaceId) !== bucket) return
    const untilFullMs = bucket.untilFullMs()
    if (untilFullMs === 0) this.#buckets.delete(bucket.workspaceId)
    else this.#options.clock.after(untilFullMs, () => this.#deleteWhenFull(bucket))
  }
}

/** What one workspace may still send now. */
export class WorkspaceBucket {
  readonly workspaceId: string
  /** Sessions that count here. */
  sessions = 0
  readonly #options: ReceiveRateOptions
  readonly #paused = new Set<PausableReader>()
  #availableBytes: number
  /** Epoch milliseconds up to which `#leftBytes` has grown. */
  #filledAt: number
  #cancel: (() => void) | null = null

  constructor(options: ReceiveRateOptions, workspaceId: string) {
    this.#options = options
    this.workspaceId = workspaceId
    this.#availableBytes = options.bytesPerSecond === 0 ? Number.POSITIVE_INFINITY : options.burstBytes
    this.#filledAt = options.clock.now()
  }

  /** To be called with every message of `reader`. */
  count(bytes: number, reader: PausableReader): void {
    this.charge(bytes + messageOverheadBytes, reader)
  }

  /** Counts bytes that are not a message yet; negative: counts them off. @param reader paused above the rate; null: nothing is */
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

  /** 0 when a whole burst is left. */
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
    // A clock that is set back gives nothing, and takes nothing.
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
