import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { FeedConsumer, type ReceivedEvent } from '../../support/clients/feed-consumer.ts'
import {
  idsOf,
  organizationId,
  type Poster,
  posterOf,
  RebuildingConsumer,
  readText,
} from '../../support/clients/rebuilding-consumer.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { startProcessWith } from '../../support/servers/process.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

let ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

async function dataDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'weft-feed-'))
  ends.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  return directory
}

const write = async ({ post }: Poster, documentId: string, data: string): Promise<void> => {
  dataOf(await post('/v2/crdt/update', { ...idsOf(documentId), type: 'text', data, upsert: true }))
}

it(`[FEED-40] a consumer that is killed at random positions rebuilds all documents, across compactions and the end of a node (seed ${seed})`, async () => {
  const random = new Random(seed)
  const documents = Array.from({ length: times(60, 300) }, (_, number) => `d${number}`)
  const cluster = await startCluster(2, {
    compactAfterUpdates: 3,
    baseVersionSeconds: 1,
    idleUnloadSeconds: 1,
  })
  ends.push(cluster.stop)
  const [first, second] = cluster.servers as [TestServer, TestServer]
  dataOf(await first.post('/v2/workspace/feed/update', { enabled: true }))
  // The other node learns of the configuration by a notice.
  dataOf(await second.post('/v2/workspace/feed/get', {}))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const consumer = new RebuildingConsumer(random, documents)
  let nodes: readonly TestServer[] = [first, second]
  const written = new Set<string>()
  const change = async (round: number): Promise<void> => {
    const node = random.pick(nodes)
    const documentId = random.pick(documents)
    if (random.once(15) && written.delete(documentId)) {
      const gone = { organizationId, documentIds: [documentId] }
      dataOf(await node.post('/v2/organizations/documents/delete', gone))
    } else {
      await write(node, documentId, `${documentId} ${'x'.repeat(random.below(30))}${round}`)
      written.add(documentId)
    }
    if (random.once(12)) await consumer.step(random.pick(nodes))
  }
  const half = documents.length * 2
  for (let round = 0; round < half; round++) await change(round)
  await second.stop()
  nodes = [first]
  for (let round = half; round < 2 * half; round++) await change(round)
  const texts = new Map<string, string | null>()
  await inParallel(documents, 8, async (id) => {
    texts.set(id, (await readText(first, id))?.data ?? null)
  })
  const deadline = Date.now() + 60_000
  const differing = () => documents.filter((id) => consumer.textOf(id) !== texts.get(id))
  let isEnd = false
  while ((!isEnd || differing().length > 0) && Date.now() < deadline) {
    isEnd = await consumer.step(first)
    if (isEnd) await new Promise((resolve) => setTimeout(resolve, 200))
  }
  expect(differing().map((id) => [id, consumer.textOf(id), texts.get(id)])).toEqual([])
  expect(consumer.kills).toBeGreaterThan(0)
}, 600_000)

it(`[FEED-15] after crashes, the feed has everything that was committed, in chains without gaps (seed ${seed})`, async () => {
  const random = new Random(seed)
  const directory = await dataDirectory()
  const written = new Map<string, string>()
  const start = () => startProcessWith({ compactAfterUpdates: 10 }, directory, { WEFT_CALLS_PER_KEY: '0' })
  let server = await start()
  ends.push(() => server.end('SIGKILL'))
  await server.post('/v2/workspace/feed/update', { enabled: true })
  for (let round = 0; round < times(3, 5); round++) {
    const running = { is: true }
    const writing = Promise.allSettled(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let number = 0; running.is; number++) {
          const id = `r${round}-w${writer}-${number % 7}`
          const data = `${number}`
          await write(posterOf(server), id, data)
          written.set(id, data)
        }
      }),
    )
    await eventually(() => written.size > 4 * (round + 1))
    await new Promise((resolve) => setTimeout(resolve, random.below(2_500)))
    await server.end('SIGKILL')
    running.is = false
    await writing
    server = await start()
  }
  const reader = posterOf(server)
  const consumer = new FeedConsumer(reader)
  const versions = new Map<string, string>()
  for (const id of written.keys()) versions.set(id, (await readText(reader, id))?.version ?? '')
  const chains = () => {
    const last = new Map<string, string>()
    for (const { type, documentId, data } of consumer.events) {
      if (type !== 'crdt.update_data') continue
      const before = last.get(documentId ?? '') ?? null
      if (data.versionBefore !== before)
        throw new Error(`a gap of ${documentId}: ${before}, ${String(data.versionBefore)}`)
      last.set(documentId ?? '', String(data.version))
    }
    return last
  }
  const created = () =>
    new Set(
      consumer.events.flatMap(({ type, documentId }) => (type === 'document.create' ? [documentId] : [])),
    )
  const missing = () =>
    [...versions].filter(([id, version]) => chains().get(id) !== version || !created().has(id))
  const deadline = Date.now() + 60_000
  do {
    await consumer.toEnd()
    await new Promise((resolve) => setTimeout(resolve, 500))
  } while (missing().length > 0 && Date.now() < deadline)
  expect(written.size).toBeGreaterThan(10)
  expect(missing()).toEqual([])
  expect(new Set(consumer.events.map(({ id }) => id)).size).toBe(consumer.events.length)
}, 600_000)

it('[FEED-22] after a restore, a cursor from before is rejected, and the feed continues', async () => {
  const directory = await dataDirectory()
  const backup = await dataDirectory()
  const options = { engine: 'level' as const, dataDir: directory }
  let server = await startTestServer(options)
  ends.push(() => server.stop())
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  const isOf = (id: string) => (event: ReceivedEvent) =>
    event.type === 'crdt.update_data' && event.documentId === id
  await write(server, 'a', 'one')
  const early = new FeedConsumer(server)
  await early.until(isOf('a'))
  await server.stop()
  await cp(directory, backup, { recursive: true })
  server = await startTestServer(options)
  await write(server, 'b', 'lost')
  const late = new FeedConsumer(server)
  await late.until(isOf('b'))
  await server.stop()
  server = await startTestServer({ ...options, dataDir: backup })
  await write(server, 'c', 'two')
  await write(server, 'd', 'three')
  const resumed = new FeedConsumer(server, {}, early.cursor)
  await resumed.until(isOf('d'))
  expect(new Set(resumed.events.map(({ documentId }) => documentId))).toEqual(new Set(['c', 'd']))
  const answer = await server.post('/v2/feed/get', { cursor: late.cursor })
  expect(answer.body.error?.details?.code).toBe('feed/cursor-unknown')
}, 60_000)
