import { type Contender, type Running, weft } from '../load/contenders.ts'
import { cpuOfTree } from '../support/cpu.ts'
import { temporaryDirectory } from '../support/server.ts'
import type { Stores } from './stores.ts'

/** Microseconds of CPU so far, of whom. A part that is not there has used none. */
export interface Used {
  /** The node that people write at. */
  readonly writing: number
  /** The node that people read at, where that is another one. */
  readonly reading: number
  readonly postgres: number
  readonly nats: number
}

export const parts = ['writing', 'reading', 'postgres', 'nats'] as const

/** Servers as somebody may run them. */
export interface Deployment {
  readonly writing: Running
  /** The same one where there is one node. */
  readonly reading: Running
  used(): Used
  /** Asks its nodes to stop, and waits until they have: others may be started over the same store. */
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface Way {
  readonly name: string
  /** @param data directory of the store that a single node has for itself. @param schema of the database, for the others */
  start(data: string, schema: string): Promise<Deployment>
}

/** Of all nodes of one cluster. */
const shared = { WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-bench-have' }

/** Options of a node over the database; with the bus it is one of many. */
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

/** All ways; the first is what the others are measured by. */
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
  // Only a single node without a database has anything of its own there.
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
