import { randomUUID } from 'node:crypto'
import type { Cluster } from './engine.ts'

/** The cluster of one process. It is the home node of every document, and its list never changes. */
export class SingleNode implements Cluster {
  readonly self: string
  readonly incarnation = randomUUID()
  readonly clockSkewMs = 0
  readonly isShared = false

  constructor(self = 'local') {
    this.self = self
  }

  /** Earlier processes have ended, otherwise this one could not have opened the store. */
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
    // No other node keeps a list of nodes.
  }
}
