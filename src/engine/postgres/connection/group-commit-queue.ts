/** A write that waits for its group. */
export interface QueuedWrite {
  /** Nothing of a line is written behind something of it that may be missing. */
  readonly line: string
  /** What it holds in memory, in bytes. */
  readonly bytes: number
  durable(): void
  lost(error: unknown): void
}

/** What one group holds at most; the first call is in it however large it is. */
const groupMax = { calls: 1000, bytes: 16 * 1024 * 1024 }

/**
 * Group commit: the calls of a turn of the event loop are written in one transaction; those that come while it is on
 * its way gather, and are the next one. All are in the order of their calls.
 */
export class GroupCommitQueue<C extends QueuedWrite> {
  readonly #write: (group: readonly C[]) => Promise<void>
  #waiting: C[] = []
  #state: 'idle' | 'writing' = 'idle'

  /** @param write writes a group; it throws when nobody knows whether it was written, or it never can be */
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
