import type { Clock } from '../../clock.ts'
import type { PausableReader } from './read-backpressure.ts'

export interface InflowOptions {
  /** From all sockets of one workspace; 0 is no limit. */
  readonly bytesPerSecond: number
  /** At once, after a pause. */
  readonly burstBytes: number
  readonly clock: Clock
  /** Sockets of this workspace are being held up. */
  readonly onExceeded: (workspaceId: string) => void
}

/** Counted with every message: its header, and what it costs to look at it. */
const messageBytes = 8
/** Sockets are held up at least so long: each reads a chunk when it goes on, and pausing is not free. */
const holdMsMin = 10

/**
 * Bounds what is received from the sockets of each workspace: beyond the rate they are not read for a while, TCP slows
 * down those who send, and nobody is closed. By workspace and not by API key, as connections are (`Admission`). There
 * is a timer for each workspace that is held up, or has left in debt, and none for a socket.
 */
export class ReceiveRateLimit {
  readonly #options: InflowOptions
  readonly #meters = new Map<string, WorkspaceBucket>()

  constructor(options: InflowOptions) {
    this.#options = options
  }

  /** The meter that a new session of the workspace has in common with the others; to be left when it ends. */
  enter(workspaceId: string): WorkspaceBucket {
    const meter = this.#meters.get(workspaceId) ?? new WorkspaceBucket(this.#options, workspaceId)
    this.#meters.set(workspaceId, meter)
    meter.users += 1
    return meter
  }

  leave(meter: WorkspaceBucket, reader: PausableReader): void {
    meter.forget(reader)
    meter.users -= 1
    if (meter.users === 0) this.#drop(meter)
  }

  /** A workspace that comes back before it has rested finds what it has left. */
  #drop(meter: WorkspaceBucket): void {
    if (meter.users > 0 || this.#meters.get(meter.workspaceId) !== meter) return
    const restMs = meter.untilRestedMs()
    if (restMs === 0) this.#meters.delete(meter.workspaceId)
    else this.#options.clock.after(restMs, () => this.#drop(meter))
  }
}

/** What one workspace may still send now. */
export class WorkspaceBucket {
  readonly workspaceId: string
  /** Sessions that count here. */
  users = 0
  readonly #options: InflowOptions
  readonly #held = new Set<PausableReader>()
  #leftBytes: number
  /** Epoch milliseconds up to which `#leftBytes` has grown. */
  #filledAt: number
  #cancel: (() => void) | null = null

  constructor(options: InflowOptions, workspaceId: string) {
    this.#options = options
    this.workspaceId = workspaceId
    this.#leftBytes = options.bytesPerSecond === 0 ? Number.POSITIVE_INFINITY : options.burstBytes
    this.#filledAt = options.clock.now()
  }

  /** To be called with every message of `reader`. */
  count(bytes: number, reader: PausableReader): void {
    this.charge(bytes + messageBytes, reader)
  }

  /** Counts bytes that are not a message yet; negative: counts them off. @param reader paused above the rate; null: nothing is */
  charge(bytes: number, reader: PausableReader | null): void {
    this.#leftBytes -= bytes
    if (bytes > 0 && this.#leftBytes < 0 && reader !== null) this.#over(reader)
  }

  forget(reader: PausableReader): void {
    this.#held.delete(reader)
    if (this.#held.size > 0) return
    this.#cancel?.()
    this.#cancel = null
  }

  /** 0 when a whole burst is left. */
  untilRestedMs(): number {
    if (this.#options.bytesPerSecond === 0) return 0
    this.#fill()
    return Math.ceil(((this.#options.burstBytes - this.#leftBytes) / this.#options.bytesPerSecond) * 1000)
  }

  #fill(): void {
    const { bytesPerSecond, burstBytes, clock } = this.#options
    const now = clock.now()
    // A clock that is set back gives nothing, and takes nothing.
    const grown = (Math.max(0, now - this.#filledAt) * bytesPerSecond) / 1000
    this.#leftBytes = Math.min(burstBytes, this.#leftBytes + grown)
    this.#filledAt = now
  }

  #over(reader: PausableReader): void {
    this.#fill()
    if (this.#leftBytes >= 0 || this.#held.has(reader)) return
    this.#held.add(reader)
    reader.pauseReading()
    this.#options.onExceeded(this.workspaceId)
    this.#cancel ??= this.#later()
  }

  #later(): () => void {
    const ms = Math.ceil((-this.#leftBytes / this.#options.bytesPerSecond) * 1000)
    return this.#options.clock.after(Math.max(holdMsMin, ms), () => this.#release())
  }

  #release(): void {
    this.#cancel = null
    this.#fill()
    if (this.#leftBytes < 0) {
      this.#cancel = this.#later()
      return
    }
    const readers = [...this.#held]
    this.#held.clear()
    for (const reader of readers) reader.resumeReading()
  }
}
