import type { Bus } from './engine.ts'

/** A bus between nodes, as an engine uses it. */
export interface ClusterBus extends Bus {
  /** Tells those who listen for losses that there may have been one. */
  lost(): void
  /** Sends what has been published, then says and hears nothing more. */
  close(): Promise<void>
}

export interface ClusterOptions {
  /** Name of this node, which no other one has; made unless given. One that keeps it keeps what is at home there. */
  readonly name?: string | undefined
  /** By what leases end and jobs are due. Unless it is `own`, all nodes go by the clock of the database. */
  readonly time?: 'database' | 'own'
  /** Opens the bus between them. @throws EngineOpenError */
  readonly openBus: (given: BusNamespace) => Promise<ClusterBus>
}

export interface BusNamespace {
  /** What is said among the nodes of this schema, and of no other. Small letters, digits, `_`, `-` and points. */
  readonly prefix: string
  readonly node: string
}
