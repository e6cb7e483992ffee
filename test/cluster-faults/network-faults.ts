import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import { eventually } from '../support/clients/clients.ts'
import { Random } from '../support/data/random-doc.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { sharedNodes, type Weather } from '../support/servers/simulated-network.ts'
import { Person } from './support/presence-clients.ts'
import { digestOf } from './support/read-document.ts'

const nodes = 3
const people = 12
const documents = 2
/** Maximum time until all replicas are equal after message losses. */
const equalMsMax = 6_000
/** The shared secret: each server has a directory of its own. */
const jwtSecret = 'the-secret-that-all-nodes-of-a-cluster-have'
const apiKey = 'test-key'
const authToken = 'test-auth-token-1234'

/**
 * The network loses two messages of ten, sends one twice, and delays each by a random time of up to half a
 * second.
 */
function storm(seed: number, counts: { lost: number; twice: number; said: number }): Weather {
  const random = new Random(seed)
  return () => {
    counts.said += 1
    const fate = random.below(10)
    if (fate < 2) {
      counts.lost += 1
      return []
    }
    if (fate === 2) counts.twice += 1
    return Array.from({ length: fate === 2 ? 2 : 1 }, () => random.below(500))
  }
}

export interface WeatherOptions {
  readonly seed: number
  /** The duration of typing. */
  readonly seconds: number
}

/**
 * Runs nodes in this process over one PostgreSQL, with lost, duplicated and reordered messages between them.
 */
export async function badWeather({ seed, seconds }: WeatherOptions) {
  const postgres = await startPostgres()
  const counts = { lost: 0, twice: 0, said: 0 }
  const store = await openPostgresEngine({ url: postgres.url, schema: postgres.newSchema() })
  const shared = await sharedNodes(nodes, { store, weather: storm(seed, counts) })
  const config = { jwtSecret, apiKey, authToken }
  const servers: TestServer[] = []
  for (const { engine } of shared) servers.push(await startTestServer(config, { engine }))
  try {
    const token = await (servers[0] as TestServer).token('ada')
    let turn = 0
    const cluster = { next: () => servers[turn++ % servers.length] as TestServer }
    const closes: string[] = []
    const all = Array.from({ length: people }, (_, index) => {
      const documentId = `weather-${Math.floor(index / (people / documents))}`
      const onClose = (code: number, reason: string): void => void closes.push(`${code} ${reason}`)
      return new Person(
        { cluster, documentId, token, onClose, random: new Random(seed + index) },
        'y-websocket',
      )
    })
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    await Promise.all(all.map((person) => person.stopTyping()))
    const since = performance.now()
    const kinds = (): number => new Set(all.map(({ documentId, doc }) => documentId + digestOf(doc))).size
    const equal = await eventually(() => kinds() === documents, undefined, equalMsMax).then(
      () => true,
      () => false,
    )
    const ms = performance.now() - since
    for (const person of all) person.close()
    return {
      kept: equal && closes.length === 0,
      line: `${people} clients over ${nodes} nodes, of ${counts.said} messages ${counts.lost} lost, ${counts.twice} doubled, all late by up to 0.5 s: ${equal ? 'equal' : 'not equal'} ${(ms / 1000).toFixed(1)} s after the last change; connections ended: ${closes.join(', ') || 'none'}`,
    }
  } finally {
    for (const server of servers) await server.stop()
    await postgres.remove()
  }
}
