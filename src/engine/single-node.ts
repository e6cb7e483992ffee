import { randomUUID } from 'node:crypto'
import type { Cluster } from './engine.ts'

/** The cluster of one process: everything is at home here, and nothing ever changes. */
export class SingleNode implements Cluster {
  readonly self: string
  readonly incarnation = randomUUID()
  readonly clockSkewMs = 0
  readonly isShared = false

  constructor(self = 'local') {
    this.self = self
  }

  /** The processes of before have ended, or this one could not have the store. */
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
    // Nobody else keeps a list of nodes.
  }
}
