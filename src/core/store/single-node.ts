import { randomUUID } from 'node:crypto'
import type { Cluster, ForeignChanges } from './engine.ts'

/** The changes of other processes in a store that no other process writes to: there are none. */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}

/** A cluster with one process, which is the home node of every document. The list of nodes never changes. */
export class SingleNode implements Cluster {
  readonly self: string
  readonly incarnation = randomUUID()
  readonly clockSkewMs = 0
  readonly isShared = false

  constructor(self = 'local') {
    this.self = self
  }

  /**
   * Returns true only for this process. All earlier processes have ended, because otherwise this process
   * could not have opened the store.
   */
  async isAlive(incarnation: string): Promise<boolean> {
    return incarnation === this.incarnation
  }

  nodes(): readonly string[] {
    return [this.self]
  }

  home(): string {
    return this.self
  }

  on(): () => void {
    return () => undefined
  }

  async drain(): Promise<void> {
    // There is no other node that must be informed.
  }
}
