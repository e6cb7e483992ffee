import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchOverHttp2, fetchOverSix } from '../clients/node-fetch.ts'
import type { Dialect } from '../clients/protocol-clients.ts'
import type { Random } from '../data/random-doc.ts'
import { startCuttingRelay } from '../faults/cutting-relay.ts'
import { type ServerProcess, startProcess } from '../servers/process.ts'
import { type Converged, Crowd, type CrowdOptions } from './crowd.ts'
import { type ProxyKind, type ProxyMode, type RunningProxy, startProxy } from './proxies.ts'

/**
 * What happens to the clients of a trial. `random`: connections are cut at random times. `every30`: each
 * connection is cut after 30 s. `six`: all clients are on one page, which has six connections.
 */
export type Problem = ProxyMode | 'random' | 'every30' | 'six'

export interface TrialOptions {
  readonly random: Random
  readonly clients: readonly Dialect[]
  /** Time for which all clients type, in ms. */
  readonly typingMs: number
  /** Maximum time in ms between two marks of a client. */
  readonly pauseMs?: number
}

export interface TrialResult extends Converged {
  /** Number of connections that were cut on purpose. */
  readonly cuts: number
}

const unlimited = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
}
/** Minimum number of random cuts, so that a trial on a busy machine has some. */
const cutsMin = 6

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs a function, and then everything that it has registered, the last one first, also if it fails. */
export async function withEnds<Result>(
  use: (later: (end: () => unknown) => void) => Promise<Result>,
): Promise<Result> {
  const ends: (() => unknown)[] = []
  try {
    return await use((end) => ends.push(end))
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

/** Starts a server without rate limits on an empty directory. `stop` also deletes the directory. */
export async function startUnlimited(): Promise<{ server: ServerProcess; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'weft-proxies-'))
  const server = await startProcess(directory, unlimited)
  const stop = async (): Promise<void> => {
    await server.end('SIGKILL')
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  }
  return { server, stop }
}

const portOf = ({ url }: ServerProcess): number => Number(new URL(url).port)

async function tokenAt(node: ServerProcess, userId: string): Promise<string> {
  const userProperties = { name: userId, email: `${userId}@example.com` }
  const { data } = await node.post('/v2/auth/generate_token', { userId, userProperties })
  return (data as { token: string }).token
}

async function storedIn(node: ServerProcess, documentId: string): Promise<unknown> {
  const { data } = await node.post('/v2/crdt/get', { organizationId: 'acme', documentId, editorId: 'main' })
  return (data as [{ data: unknown }])[0].data
}

/** Number of sessions over HTTP that a node has. */
async function sessionsOf({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^weft_connections\{.*transport="http".*\} (\d+)$/gm)]
    .map(([, count]) => Number(count))
    .reduce((sum, count) => sum + count, 0)
}

/**
 * Waits until all clients are equal and show each other.
 * @throws Error if that does not happen, or if the server has another text
 */
async function settled(crowd: Crowd, node: ServerProcess, documentId: string): Promise<Converged> {
  const converged = await crowd.converge()
  if ((await storedIn(node, documentId)) !== converged.text) throw new Error('the server has another text')
  await crowd.showsEveryone()
  return converged
}

let documents = 0

/** Clients type on one document behind a proxy. At the end, the first client leaves. */
export const behindProxy = (
  server: ServerProcess,
  kind: ProxyKind,
  problem: Problem,
  { random, typingMs, ...options }: TrialOptions,
): Promise<TrialResult> =>
  withEnds(async (later) => {
    const isCut = problem === 'random' || problem === 'every30'
    const proxy = await startProxy(kind, isCut || problem === 'six' ? 'plain' : problem, [portOf(server)])
    later(() => proxy.stop())
    const lifeMs = problem === 'random' ? () => random.below(600) : () => 30_000
    const relay = isCut ? await startCuttingRelay(proxy.url, lifeMs) : null
    later(() => relay?.stop())
    const documentId = `behind a proxy ${++documents}`
    const crowd = await Crowd.open(relay ?? proxy, documentId, (user) => tokenAt(server, user), random, {
      ...options,
      ...ofProblem(problem),
    })
    later(() => crowd.close())
    await crowd.showsEveryone()
    relay?.cut()
    await crowd.type(typingMs)
    if (problem === 'cuts') {
      // Some proxies cut only a response on which they receive nothing.
      await sleep(3_000)
      await crowd.type(typingMs / 2)
    }
    const hasFewCuts = (): boolean => problem === 'random' && (relay?.cuts ?? cutsMin) < cutsMin
    while (hasFewCuts()) await crowd.type(typingMs / 10)
    relay?.heal()
    const converged = await settled(crowd, server, documentId)
    if ((await sessionsOf(server)) === 0) throw new Error('the clients use no HTTP')
    await crowd.leaveFirst().showsEveryone()
    return { ...converged, cuts: relay?.cuts ?? 0 }
  })

function ofProblem(problem: Problem): CrowdOptions {
  if (problem === 'http2') return { newFetch: fetchOverHttp2 }
  return problem === 'six' ? { newFetch: fetchOverSix, onOnePage: true } : {}
}

/** Clients type while the server is killed and restarted, and then stopped and restarted. */
export const behindRestarts = (
  kind: ProxyKind,
  { random, typingMs, ...options }: TrialOptions,
): Promise<Converged> =>
  withEnds(async (later) => {
    const data = await mkdtemp(join(tmpdir(), 'weft-proxies-'))
    later(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
    let server = await startProcess(data, unlimited)
    later(() => server.end('SIGKILL'))
    const port = portOf(server)
    const proxy = await startProxy(kind, 'plain', [port])
    later(() => proxy.stop())
    const crowd = await Crowd.open(proxy, 'shared', (user) => tokenAt(server, user), random, options)
    later(() => crowd.close())
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const typing = crowd.type(typingMs)
      await sleep((0.2 + random.below(20) / 100) * typingMs)
      await server.end(signal)
      server = await startProcess(data, unlimited, port)
      await typing
    }
    return await settled(crowd, server, 'shared')
  })

/** Clients type behind a proxy that chooses one of two nodes by the session. The owner of their document is killed. */
export const behindFailover = (
  kind: ProxyKind,
  postgres: { readonly url: string; newSchema(): string },
  { random, typingMs, ...options }: TrialOptions,
): Promise<Converged> =>
  withEnds(async (later) => {
    const data = await mkdtemp(join(tmpdir(), 'weft-proxies-'))
    later(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
    const shared = {
      ...unlimited,
      WEFT_ENGINE: 'postgres',
      WEFT_POSTGRES_URL: postgres.url,
      // The nodes of several trials share one server.
      WEFT_POSTGRES_CONNECTIONS: '4',
      WEFT_POSTGRES_SCHEMA: postgres.newSchema(),
      WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-cluster-have',
    }
    const start = async (name: string): Promise<ServerProcess> => {
      const node = await startProcess(join(data, name), { ...shared, WEFT_NODE_NAME: name })
      later(() => node.end('SIGKILL'))
      return node
    }
    const [first, second] = [await start('a'), await start('b')]
    const proxy: RunningProxy = await startProxy(kind, 'plain', [first, second].map(portOf))
    later(() => proxy.stop())
    const crowd = await Crowd.open(proxy, 'shared', (user) => tokenAt(second, user), random, options)
    later(() => crowd.close())
    await crowd.showsEveryone()
    const sessions = await sessionsOf(first)
    if (sessions + (await sessionsOf(second)) === 0) throw new Error('the clients use no HTTP')
    // The owner of the document has the sessions.
    const [killed, living] = sessions > 0 ? [first, second] : [second, first]
    const typing = crowd.type(typingMs)
    await sleep(typingMs / 4)
    await killed.end('SIGKILL')
    await typing
    return await settled(crowd, living, 'shared')
  })
