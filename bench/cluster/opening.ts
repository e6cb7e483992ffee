import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../../src/cli/bench/contender.ts'
import { answer, characters, documentOf, enter } from '../../src/cli/bench/entering.ts'
import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import { seededRandom } from '../support/random.ts'
import { quantile } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { storeTexts, storeTextsIn } from '../support/stored.ts'
import type { Way } from './deployments.ts'
import { type Stores, schemaBytes } from './stores.ts'

export interface Opening {
  readonly documents: number
  /** Number of times that a new client opens a random document, one after the other. */
  readonly opens: number
}

/**
 * A store with many documents. It exists as a directory and as a database schema, so that all deployments can
 * use it.
 */
export interface Filled {
  readonly data: string
  readonly schema: string
  /** Size of one document in the database, in bytes. */
  readonly bytesEach: number
}

export async function fill(stores: Stores, documents: number): Promise<Filled> {
  const [data, schema] = [temporaryDirectory(), stores.newSchema()]
  await storeTexts(data, 'bench', documents, documentOf, characters)
  const engine = await openPostgresEngine({ url: stores.postgres.url, schema })
  const before = await schemaBytes(stores, schema)
  await storeTextsIn(engine, 'bench', documents, documentOf, characters)
  const bytesEach = ((await schemaBytes(stores, schema)) - before) / documents
  await engine.close()
  return { data, schema, bytesEach }
}

/** Number of openings at the start that are not measured. */
const warmUps = 20
const settleMs = 1_000

/**
 * Returns how long it takes, in ms, from the connect until the client has the text. No node has the document
 * open.
 */
export async function openSome(way: Way, { data, schema }: Filled, { documents, opens }: Opening) {
  const deployment = await way.start(data, schema)
  await sleep(settleMs)
  const random = seededRandom(1)
  const times: number[] = []
  for (let count = -warmUps; count < opens; count++) {
    const ms = await open(deployment.reading, documentOf(random(documents)))
    if (count >= 0) times.push(ms)
  }
  await deployment.stop()
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

async function open(server: Running, document: string): Promise<number> {
  const start = performance.now()
  const socket = await enter(server, document)
  await answer(server, socket, document)
  socket.end()
  return performance.now() - start
}
