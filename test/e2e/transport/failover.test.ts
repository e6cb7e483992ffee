import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { noNats, startNats } from '../../support/servers/nats.ts'
import { noPostgres, startPostgres } from '../../support/servers/postgres.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { missingProxies, type ProxyKind, proxyKinds, startProxy } from '../../support/servers/proxies.ts'
import { isEverythingAsked } from '../../support/time/full-run.ts'
import { Crowd } from './marks.ts'

const random = new Random(seed)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const unlimited = {
  WEFT_CALLS_PER_KEY: '0',
  WEFT_CALLS_PER_ADDRESS: '0',
  WEFT_CONNECTS_PER_ADDRESS: '0',
  WEFT_NEW_DOCUMENTS_PER_WORKSPACE: '0',
}
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weft-transport-'))
  ends.push(() => rm(path, { recursive: true, force: true, maxRetries: 20 }))
  return path
}

async function proxyTo(kind: ProxyKind, nodes: readonly ServerProcess[]) {
  const ports = nodes.map(({ url }) => Number(new URL(url).port))
  const proxy = await startProxy(kind, 'none', ports)
  ends.push(() => proxy.stop())
  return proxy
}

async function tokenAt(node: ServerProcess, userId: string): Promise<string> {
  const userProperties = { name: userId, email: `${userId}@example.com` }
  return ((await node.post('/v2/auth/generate_token', { userId, userProperties })).data as { token: string })
    .token
}

async function stored(node: ServerProcess): Promise<unknown> {
  const { data } = await node.post('/v2/crdt/get', {
    organizationId: 'acme',
    documentId: 'shared',
    editorId: 'main',
  })
  return (data as [{ data: unknown }])[0].data
}

async function crowdAt(proxy: { url: string; wsUrl: string }, node: ServerProcess): Promise<Crowd> {
  const crowd = await Crowd.open(proxy, 'shared', (user) => tokenAt(node, user), random)
  ends.push(() => crowd.close())
  return crowd
}

/** By default only the first proxy is tested, because the way of a restart through the others is the same. */
const kinds = proxyKinds
  .filter((kind) => !missingProxies.includes(kind))
  .slice(0, isEverythingAsked ? proxyKinds.length : 1)

it.each(kinds)(
  `[TRANS-65] behind %s, nothing is lost or doubled if the server is killed and restarts, twice (seed ${seed})`,
  async (kind) => {
    const data = await directory()
    let server = await startProcess(data, unlimited)
    ends.push(() => server.end('SIGKILL'))
    const port = Number(new URL(server.url).port)
    const proxy = await proxyTo(kind, [server])
    const crowd = await crowdAt(proxy, server)
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const typing = crowd.type(2_500)
      await sleep(500 + random.below(500))
      await server.end(signal)
      server = await startProcess(data, unlimited, port)
      await typing
    }
    const text = await crowd.converge()
    expect(await stored(server)).toBe(text)
    await crowd.showsEveryone()
  },
)

/** Proxies that can choose a node by the session. */
const balancers = (['nginx', 'haproxy'] as const).filter((kind) => !missingProxies.includes(kind))

describe.skipIf(noPostgres !== null || noNats !== null)('two nodes', () => {
  it.each(balancers)(
    `[TRANS-66] behind %s, which chooses the node by the session, nothing is lost or doubled if one node is killed (seed ${seed})`,
    async (kind) => {
      const [postgres, nats, data] = [await startPostgres(), await startNats(), await directory()]
      ends.push(
        () => postgres.remove(),
        () => nats.remove(),
      )
      const options = {
        ...unlimited,
        WEFT_ENGINE: 'postgres',
        WEFT_POSTGRES_URL: postgres.url,
        WEFT_POSTGRES_SCHEMA: postgres.newSchema(),
        WEFT_NATS_URL: nats.url,
        WEFT_JWT_SECRET: 'the-secret-that-all-nodes-of-a-cluster-have',
      }
      const nodes: ServerProcess[] = []
      for (const name of ['a', 'b']) {
        const node = await startProcess(join(data, name), { ...options, WEFT_NODE_NAME: name })
        ends.push(() => node.end('SIGKILL'))
        nodes.push(node)
      }
      const [first, second] = nodes as [ServerProcess, ServerProcess]
      const proxy = await proxyTo(kind, nodes)
      const crowd = await crowdAt(proxy, second)
      await crowd.showsEveryone()
      const sessions = await sessionsOf(first)
      expect(sessions + (await sessionsOf(second))).toBeGreaterThan(1)
      const [killed, living] = sessions > 0 ? [first, second] : [second, first]
      const typing = crowd.type(4_000)
      await sleep(1_000)
      await killed.end('SIGKILL')
      await typing
      const text = await crowd.converge()
      expect(await stored(living)).toBe(text)
      await crowd.showsEveryone()
    },
  )
})

/** Number of sessions over HTTP that a node has. */
async function sessionsOf({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^weft_connections\{.*transport="http".*\} (\d+)$/gm)]
    .map(([, count]) => Number(count))
    .reduce((sum, count) => sum + count, 0)
}
