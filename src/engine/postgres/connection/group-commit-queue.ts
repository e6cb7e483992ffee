/** A write that waits until its group is written. */
export interface QueuedWrite {
  /**
   * Name of the sequence to which the write belongs, such as a document. If the outcome of a write is
   * unknown, the waiting writes of the same sequence fail.
   */
  readonly line: string
  /** Number of bytes that the write keeps in memory. */
  readonly bytes: number
  durable(): void
  lost(error: unknown): void
}

/** Maximum size of one group. A call that is larger than this forms a group of its own. */
const groupMax = { calls: 1000, bytes: 16 * 1024 * 1024 }

/**
 * Group commit: the calls of one tick are written in one transaction. The calls that arrive during this
 * transaction form the next group. Calls are written in the order in which they arrive.
 */
export class GroupCommitQueue<C extends QueuedWrite> {
  readonly #write: (group: readonly C[]) => Promise<void>
  #waiting: C[] = []
  #state: 'idle' | 'writing' = 'idle'

  /**
   * @param write writes a group. It throws if the outcome is unknown, or if the group can never be written.
   */
  constructor(write: (group: readonly C[]) => Promise<void>) {
    this.#write = write
  }

  add(call: C): void {
    this.#waiting.push(call)
    if (this.#state === 'writing') return
    this.#state = 'writing'
    setImmediate(() => void this.#writeAll())
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#taken()
      try {
        await this.#write(group)
        for (const call of group) call.durable()
      } catch (error) {
        this.#abandon(group, error)
      }
    }
    this.#state = 'idle'
  }

  #abandon(group: readonly C[], error: unknown): void {
    const lines = new Set(group.map(({ line }) => line))
    const behind = this.#waiting.filter(({ line }) => lines.has(line))
    this.#waiting = this.#waiting.filter(({ line }) => !lines.has(line))
    for (const call of [...group, ...behind]) call.lost(error)
  }

  #taken(): C[] {
    let bytes = 0
    let count = 0
    for (const call of this.#waiting) {
      bytes += call.bytes
      if (count > 0 && (bytes > groupMax.bytes || count >= groupMax.calls)) break
      count += 1
    }
    const group = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    return group
  }
}
