import { type Contender, type Running, weft } from '../load/contenders.ts'
import { cpuOfTree } from '../support/cpu.ts'
import { temporaryDirectory } from '../support/server.ts'
import type { Stores } from './stores.ts'

/** Microseconds of CPU so far, by process. A missing part has used none. */
export interface Used {
  /** The node at which users write. */
  readonly writing: number
  /** The node at which users read, if it is another one. */
  readonly reading: number
  readonly postgres: number
  readonly nats: number
}

export const parts = ['writing', 'reading', 'postgres', 'nats'] as const

/** Servers in one of the supported forms of deployment. */
export interface Deployment {
  readonly writing: Running
  /** The same node if there is only one. */
  readonly reading: Running
  used(): Used
  /** Stops its nodes and waits for their end, because other nodes may start over the same store. */
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface Way {
  readonly name: string
  /**
   * @param data directory of the store of a single node
   * @param schema schema in the database for the other ways
   */
  start(data: string, schema: string): Promise<Deployment>
}

/** Options of all nodes of one cluster. */
const shared = { WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-bench-have' }

/** Options of a node over the database; with the bus it belongs to a cluster. */
export const nodeOptions = (
  stores: Stores,
  schema: string,
  bus: 'alone' | 'bus',
): Record<string, string> => ({
  ...shared,
  WEFT_ENGINE: 'postgres',
  WEFT_POSTGRES_URL: stores.postgres.url,
  WEFT_POSTGRES_SCHEMA: schema,
  ...(bus === 'bus' ? { WEFT_NATS_URL: stores.nats.url } : {}),
})

/** All ways; the others are compared with the first one. */
export const waysOver = (stores: Stores): readonly [Way, ...Way[]] => [
  { name: 'level', start: (data) => started(null, [weft()], data) },
  {
    name: 'one node, postgres',
    start: (data, schema) => started(stores, [weft('one', nodeOptions(stores, schema, 'alone'))], data),
  },
  {
    name: 'two nodes, postgres and nats',
    start: (data, schema) => {
      const options = nodeOptions(stores, schema, 'bus')
      return started(stores, [weft('a', options), weft('b', options)], data)
    },
  },
]

async function started(
  stores: Stores | null,
  nodes: readonly Contender[],
  data: string,
): Promise<Deployment> {
  const running: Running[] = []
  // Only a single node without a database has data of its own there.
  for (const node of nodes) running.push(await node.start(stores === null ? data : temporaryDirectory()))
  const [writing, reading = writing] = running as [Running, Running?]
  return {
    writing,
    reading,
    used: () => ({
      writing: cpuOfTree(writing.pid),
      reading: reading === writing ? 0 : cpuOfTree(reading.pid),
      postgres: stores === null ? 0 : cpuOfTree(stores.postgres.pid),
      nats: stores === null || nodes.length < 2 ? 0 : cpuOfTree(stores.nats.pid),
    }),
    stop: async () => void (await Promise.all(running.map((node) => node.stop()))),
    kill: async () => void (await Promise.all(running.map((node) => node.kill()))),
  }
}
