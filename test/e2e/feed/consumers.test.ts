import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { FeedConsumer, type ReceivedEvent } from '../../support/clients/feed-consumer.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
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

type Poster = Pick<TestServer, 'post'>

const organizationId = 'acme'
const idsOf = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })

const write = async ({ post }: Poster, documentId: string, data: string): Promise<void> => {
  dataOf(await post('/v2/crdt/update', { ...idsOf(documentId), type: 'text', data, upsert: true }))
}

/** Returns the content and the version of a document; null if it does not exist. */
async function read({ post }: Poster, documentId: string): Promise<{ data: string; version: string } | null> {
  const answer = await post('/v2/crdt/get', { ...idsOf(documentId), format: 'text' })
  if (answer.status === 404) return null
  const [entry] = dataOf(answer) as { data: string; version: string }[]
  return entry ?? null
}

/** A document as a consumer has rebuilt it from updates. */
interface Copy {
  readonly version: string
  readonly state: Uint8Array
}

/** The state that a consumer stores. It stores the copies and the cursor together. */
interface Stored {
  readonly cursor: string | undefined
  readonly copies: ReadonlyMap<string, Copy>
}

/**
 * Rebuilds all documents from the changes of the feed. It is killed at random positions: it then continues with
 * the state that it stored last.
 */
class RebuildingConsumer {
  stored: Stored = { cursor: undefined, copies: new Map() }
  kills = 0
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** Reads one page. Returns whether the feed has no more events now. */
  async step(server: Poster): Promise<boolean> {
    const { cursor } = this.stored
    const consumer = new FeedConsumer(
      server,
      { content: 'changes', pageSize: 1 + this.#random.below(40) },
      cursor,
    )
    const page = await consumer.next()
    const copies = new Map(this.stored.copies)
    for (const event of page.events) {
      if (this.#random.once(60)) {
        this.kills += 1
        return false
      }
      await this.#apply(server, copies, event)
      if (this.#random.once(5)) this.stored = { cursor: event.cursor, copies: new Map(copies) }
    }
    this.stored = { cursor: page.cursor, copies }
    return page.isEnd
  }

  async #apply(server: Poster, copies: Map<string, Copy>, event: ReceivedEvent): Promise<void> {
    const { type, documentId, data, content } = event
    if (documentId === null) return
    if (type === 'document.delete') copies.delete(documentId)
    if (type !== 'crdt.update_data') return
    const before = copies.get(documentId)
    const version = String(data.version)
    // A copy that was read from the present content may be newer than the event.
    if (before !== undefined && seqOf(before.version) >= seqOf(version)) return
    if (
      before !== undefined &&
      data.versionBefore !== null &&
      seqOf(before.version) < seqOf(String(data.versionBefore))
    )
      throw new Error(`the chain of ${documentId} has a gap: ${before.version}, ${JSON.stringify(data)}`)
    if (content) {
      const updates = (content.updates ?? []).map((each) => new Uint8Array(Buffer.from(each, 'base64')))
      const isFirst = data.versionBefore === null || before === undefined
      const state = Y.mergeUpdates(isFirst ? updates : [before.state, ...updates])
      copies.set(documentId, { version, state })
      return
    }
    const whole = await server.post('/v2/crdt/get', { ...idsOf(documentId), format: 'update' })
    if (whole.status === 404) return void copies.delete(documentId)
    const [entry] = dataOf(whole) as { data: string; version: string }[]
    if (entry !== undefined)
      copies.set(documentId, {
        version: entry.version,
        state: new Uint8Array(Buffer.from(entry.data, 'base64')),
      })
  }

  textOf(documentId: string): string | null {
    const copy = this.stored.copies.get(documentId)
    if (copy === undefined) return null
    const doc = new Y.Doc()
    Y.applyUpdate(doc, copy.state)
    return doc.getText('content').toString()
  }
}

/** Returns a number that grows with each version of an editor. */
function seqOf(version: string): number {
  const [epoch = '0', seq = '0'] = version.split('.')
  return Number(epoch) * 1_000_000_000 + Number(seq)
}

it(`[FEED-40] a consumer that is killed at random positions rebuilds all documents, across compactions and the end of a node (seed ${seed})`, async () => {
  const random = new Random(seed)
  const documents = Array.from({ length: times(60, 2_000) }, (_, number) => `d${number}`)
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
  const consumer = new RebuildingConsumer(random)
  const rounds = documents.length * 5
  let nodes: readonly TestServer[] = [first, second]
  for (let round = 0; round < rounds; round++) {
    if (round === Math.floor(rounds / 2)) {
      await second.stop()
      nodes = [first]
    }
    const node = random.pick(nodes)
    const documentId = random.pick(documents)
    if (random.once(15)) {
      const gone = { organizationId, documentIds: [documentId] }
      dataOf(await node.post('/v2/organizations/documents/delete', gone))
    } else await write(node, documentId, `${documentId} ${'x'.repeat(random.below(30))}${round}`)
    if (random.once(12)) await consumer.step(random.pick(nodes))
  }
  const texts = new Map<string, string | null>()
  for (const id of documents) texts.set(id, (await read(first, id))?.data ?? null)
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
  const asPoster = (server: ServerProcess): Poster => ({
    post: async (path, data) => {
      const { status, data: found } = await server.post(path, data)
      const body = status === 200 ? { result: { status: 'success', message: '', data: found } } : {}
      return { status, headers: new Headers(), body }
    },
  })
  const start = () => startProcess(directory, { WEFT_CALLS_PER_KEY: '0', WEFT_COMPACT_AFTER_UPDATES: '10' })
  let server = await start()
  ends.push(() => server.end('SIGKILL'))
  await server.post('/v2/workspace/feed/update', { enabled: true })
  for (let round = 0; round < times(4, 20); round++) {
    const running = { is: true }
    const writing = Promise.allSettled(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let number = 0; running.is; number++) {
          const id = `r${round}-w${writer}-${number % 7}`
          const data = `${number}`
          await write(asPoster(server), id, data)
          written.set(id, data)
        }
      }),
    )
    await new Promise((resolve) => setTimeout(resolve, 300 + random.below(2_500)))
    await server.end('SIGKILL')
    running.is = false
    await writing
    server = await start()
  }
  const reader = asPoster(server)
  const consumer = new FeedConsumer(reader)
  const versions = new Map<string, string>()
  for (const id of written.keys()) versions.set(id, (await read(reader, id))?.version ?? '')
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
