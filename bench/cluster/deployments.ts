import { cpuOfTree } from '../../src/cli/bench/cpu.ts'
import { type RunningWeft, weft } from '../load/contenders.ts'
import { temporaryDirectory } from '../support/server.ts'
import type { Stores } from './stores.ts'

/**
 * CPU time that each process has used so far, in microseconds. A process that a deployment does not have has
 * used 0.
 */
export interface Used {
  /** CPU time of the node to which users write. */
  readonly writing: number
  /** CPU time of the node from which users read; 0 if it is the same node. */
  readonly reading: number
  readonly postgres: number
}

export const parts = ['writing', 'reading', 'postgres'] as const

/** The running servers of one of the supported forms of deployment. */
export interface Deployment {
  readonly writing: RunningWeft
  /** The node from which users read. It is the same as `writing` if there is only one node. */
  readonly reading: RunningWeft
  /** All nodes in the order of their start. The first is `writing`, and the second is `reading`. */
  readonly nodes: readonly RunningWeft[]
  used(): Used
  /** Stops all nodes, and waits until they have ended. Other nodes can then start on the same store. */
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface Way {
  readonly name: string
  /**
   * Starts the servers.
   * @param data directory for the store of a node without a database
   * @param schema name of the database schema for deployments with a database
   */
  start(data: string, schema: string): Promise<Deployment>
}

/** Options that all nodes of one cluster must have in common. */
const shared = { WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-bench-have' }

/** Returns the options of a node with a database. All nodes with one schema form a cluster. */
export const nodeOptions = (stores: Stores, schema: string): Record<string, string> => ({
  ...shared,
  WEFT_ENGINE: 'postgres',
  WEFT_POSTGRES_URL: stores.postgres.url,
  WEFT_POSTGRES_SCHEMA: schema,
})

/** Returns all deployments to measure. The others are compared with the first one. */
export const waysOver = (stores: Stores): readonly [level: Way, one: Way, cluster: Way] => [
  { name: 'level', start: (data) => started(null, [weft()], data) },
  {
    name: 'one node, postgres',
    start: (data, schema) => started(stores, [weft('one', nodeOptions(stores, schema))], data),
  },
  clusterOf(stores, 2),
]

/** Returns the names of the nodes of `clusterOf`. The names decide which documents the nodes own. */
export const nodeNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `node-${index}`)

/** Returns the deployment with `count` nodes, of which there must be at least two. */
export const clusterOf = (stores: Stores, count: number): Way => ({
  name: `${count} nodes, postgres`,
  start: (data, schema) => {
    const options = nodeOptions(stores, schema)
    const nodes = nodeNames(count).map((name) => weft(name, { ...options, WEFT_NODE_NAME: name }))
    return started(stores, nodes, data)
  },
})

async function started(
  stores: Stores | null,
  nodes: readonly ReturnType<typeof weft>[],
  data: string,
): Promise<Deployment> {
  const running: RunningWeft[] = []
  // A node with a database stores nothing in `data`, so it gets a temporary directory.
  for (const node of nodes) running.push(await node.start(stores === null ? data : temporaryDirectory()))
  const [writing, reading = writing] = running as [RunningWeft, RunningWeft?]
  return {
    writing,
    reading,
    nodes: running,
    used: () => ({
      writing: cpuOfTree(writing.pid),
      reading: reading === writing ? 0 : cpuOfTree(reading.pid),
      postgres: stores === null ? 0 : cpuOfTree(stores.postgres.pid),
    }),
    stop: async () => void (await Promise.all(running.map((node) => node.stop()))),
    kill: async () => void (await Promise.all(running.map((node) => node.kill()))),
  }
}
