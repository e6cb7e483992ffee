import { runUntraced } from '../../../core/base/current-trace.ts'

/** A write that waits until its group is written. */
export interface QueuedWrite {
  /**
   * Name of the sequence to which the write belongs, such as a document. If the outcome of a write is
   * unknown, the waiting writes of the same sequence fail.
   */
  readonly line: string
  /** Number of bytes that the write keeps in memory. */
  readonly bytes: number
  /** Set by `durable`. */
  readonly isDurable: boolean
  durable(): void
  lost(error: unknown): void
}

/** Maximum size of one group. A call that is larger than this forms a group of its own. */
const groupMax = { calls: 1000, bytes: 16 * 1024 * 1024 }
/** Maximum number of groups that are written in parallel. */
const groupsMax = 4
/**
 * Number of waiting calls from which a further group is written in parallel. With fewer calls, the next group
 * waits for the current one, because large groups cost less.
 */
const parallelFrom = 64
/**
 * Time in ms after which waiting calls no longer wait for the current group. The group may wait for a lock of
 * another process.
 */
const lateMs = 10

/**
 * Group commit: the calls of one tick are written in one transaction. The calls that arrive during this
 * transaction form the next group. The calls of one sequence are written in the order in which they arrive.
 */
export class GroupCommitQueue<C extends QueuedWrite> {
  readonly #write: (group: readonly C[]) => Promise<void>
  #waiting: C[] = []
  /** Number of groups that are being written or start at the end of this tick. */
  #groups = 0
  /** Start of the newest group, as `performance.now` returned it. */
  #startedAt = 0
  #isStarting = false
  #isTimed = false
  /** The sequences of the groups that are being written. Later calls of these sequences wait. */
  readonly #lines = new Set<string>()

  /**
   * @param write writes a group. It throws if the outcome is unknown, or if the group can never be written.
   */
  constructor(write: (group: readonly C[]) => Promise<void>) {
    this.#write = write
  }

  add(call: C): void {
    this.#waiting.push(call)
    if (this.#groups === 0 || this.#waiting.length >= parallelFrom) this.#start()
    else if (!this.#isTimed) this.#startLate()
  }

  /** Starts a further group if calls wait although the newest group has started `lateMs` ago. */
  #startLate(): void {
    this.#isTimed = true
    setTimeout(() => {
      this.#isTimed = false
      if (this.#waiting.length === 0) return
      if (performance.now() - this.#startedAt >= lateMs) this.#start()
      else this.#startLate()
    }, lateMs).unref()
  }

  #start(): void {
    if (this.#groups === groupsMax || this.#isStarting) return
    this.#groups += 1
    this.#isStarting = true
    setImmediate(() => {
      this.#isStarting = false
      // A group has writes of many callers, so it belongs to the trace of none.
      void runUntraced(() => this.#writeAll())
    })
  }

  async #writeAll(): Promise<void> {
    for (let group = this.#taken(); group.length > 0; group = this.#taken()) {
      this.#startedAt = performance.now()
      const lines = new Set(group.map(({ line }) => line))
      for (const line of lines) this.#lines.add(line)
      try {
        await this.#write(group)
        for (const call of group) call.durable()
      } catch (error) {
        this.#abandon(group, error)
      }
      for (const line of lines) this.#lines.delete(line)
    }
    this.#groups -= 1
  }

  /** Rejects the calls of the group that are not durable, and the calls that wait behind them. */
  #abandon(group: readonly C[], error: unknown): void {
    const failed = group.filter(({ isDurable }) => !isDurable)
    const lines = new Set(failed.map(({ line }) => line))
    const behind = this.#waiting.filter(({ line }) => lines.has(line))
    this.#waiting = this.#waiting.filter(({ line }) => !lines.has(line))
    for (const call of [...failed, ...behind]) call.lost(error)
  }

  /** Takes the next group out of the queue. Leaves the calls of sequences that are being written. */
  #taken(): C[] {
    const group: C[] = []
    const left: C[] = []
    const barred = new Set(this.#lines)
    let bytes = 0
    for (const call of this.#waiting) {
      const isFull =
        group.length > 0 && (bytes + call.bytes > groupMax.bytes || group.length >= groupMax.calls)
      if (isFull || barred.has(call.line)) {
        barred.add(call.line)
        left.push(call)
      } else {
        bytes += call.bytes
        group.push(call)
      }
    }
    this.#waiting = left
    return group
  }
}
