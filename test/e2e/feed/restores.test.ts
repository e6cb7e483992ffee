import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { FeedConsumer, type ReceivedEvent } from '../../support/clients/feed-consumer.ts'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { webhooksOf } from '../../support/servers/webhooks.ts'

let root: string
const running = new Set<TestServer>()
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'weft-feed-'))
})
afterEach(async () => {
  for (const server of running) await stop(server)
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

const at = (name: string): string => join(root, name)

async function start(name: string): Promise<TestServer> {
  const server = await startTestServer({ engine: 'level', dataDir: at(name) })
  running.add(server)
  return server
}

async function stop(server: TestServer): Promise<void> {
  running.delete(server)
  await server.stop()
}

async function weft(...args: string[]): Promise<void> {
  const ran = await runCli(args, root)
  expect(ran.code, ran.err).toBe(0)
}

const enable = async (server: TestServer): Promise<void> => {
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
}

const write = async (server: TestServer, documentId: string, data: string): Promise<void> => {
  const ids = { organizationId: 'acme', documentId, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/update', { ...ids, type: 'text', data, upsert: true }))
}

const isChangeOf = (documentId: string) => (event: ReceivedEvent) =>
  event.type === 'crdt.update_data' && event.documentId === documentId

const textUpdate = (text: string): string => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, text)
  return Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
}

/** Keeps the text of each document, from present content. Reads all documents again if its cursor is rejected. */
class TextIndex {
  readonly texts = new Map<string, string>()
  readonly rejections: string[] = []
  #cursor: string | undefined

  async catchUp(server: TestServer): Promise<void> {
    for (let isEnd = false; !isEnd; ) {
      const query = { ...(this.#cursor !== undefined && { cursor: this.#cursor }), content: 'text' }
      const answer = await server.post('/v2/feed/get', query)
      if (answer.status !== 200) {
        this.rejections.push(answer.body.error?.details?.code ?? '')
        await this.#rebuild(server)
        continue
      }
      const page = dataOf(answer) as { events: ReceivedEvent[]; cursor: string; isEnd: boolean }
      for (const { type, documentId, content } of page.events)
        if (type === 'crdt.update_data' && documentId !== null && content)
          this.texts.set(documentId, String(content.data))
      this.#cursor = page.cursor
      isEnd = page.isEnd
    }
  }

  async #rebuild(server: TestServer): Promise<void> {
    this.#cursor = (await new FeedConsumer(server).read({ from: 'now' })).cursor
    this.texts.clear()
    for (const [id, text] of await textsOf(server)) this.texts.set(id, text)
  }
}

/** Returns the text of all documents of the server. */
async function textsOf(server: TestServer): Promise<ReadonlyMap<string, string>> {
  const listed = dataOf(await server.post('/v2/organizations/documents/get', { organizationId: 'acme' }))
  const texts = new Map<string, string>()
  for (const { id: documentId } of listed as { id: string }[]) {
    const read = { organizationId: 'acme', documentId, editorId: 'main', format: 'text' }
    const [entry] = dataOf(await server.post('/v2/crdt/get', read)) as { data: string }[]
    texts.set(documentId, entry?.data ?? '')
  }
  return texts
}

it('[FEED-60] the feed has the creation and the content of imported documents, and the import of new content', async () => {
  const first = await start('data')
  await enable(first)
  await write(first, 'before', 'x')
  const consumer = new FeedConsumer(first, { organizationId: 'acme', content: 'text' })
  await consumer.until(isChangeOf('before'))
  const { credentials } = first
  const webhooks = await webhooksOf(first, credentials)
  await webhooks.advanced({ isEnabled: true })
  const endpoint = await webhooks.create({ filterTypes: ['document.create', 'crdt.update_data'] })
  await stop(first)
  const line = (name: string, text: string) => `${JSON.stringify({ name, update: textUpdate(text) })}\n`
  const importLines = async (...lines: string[]) => {
    await writeFile(at('old.jsonl'), lines.join(''))
    await weft('import', 'updates', at('old.jsonl'), '--data-dir', at('data'))
  }
  await importLines(line('acme/new/main', 'imported'), line('acme/before/main', 'also '))
  const server = await start('data')
  const later = new FeedConsumer(server, { organizationId: 'acme', content: 'text' }, consumer.cursor)
  await later.until(isChangeOf('new'))
  await later.until(isChangeOf('before'))
  expect(later.events.map(({ type, documentId }) => `${type} ${documentId}`).toSorted()).toEqual([
    'crdt.update_data before',
    'crdt.update_data new',
    'document.create new',
  ])
  const { call } = await webhooksOf(server, credentials)
  const delivered = await call<object>('advancedwebhook/deliveries/get', { endpointId: endpoint.id })
  expect(delivered).toMatchObject({ deliveries: [] })
  const changed = later.events.find(isChangeOf('new'))
  expect(changed).toMatchObject({ data: { versionBefore: null }, content: { data: 'imported' } })
  const [known, merged] = [consumer, later].map(({ events }) => events.find(isChangeOf('before')))
  expect(merged?.data.versionBefore).toBe(known?.data.version)
  await stop(server)
  // The same import has nothing new.
  await importLines(line('acme/new/main', 'other'))
  const last = await start('data')
  const end = new FeedConsumer(last, { organizationId: 'acme' }, later.cursor)
  await end.until(isChangeOf('new'))
  expect(end.events).toHaveLength(1)
}, 60_000)

it('[FEED-61] after a restore of an older backup, a consumer is rejected, and rebuilds all documents exactly', async () => {
  const first = await start('data')
  await enable(first)
  await write(first, 'a', 'one')
  await write(first, 'b', 'one')
  const index = new TextIndex()
  await expect.poll(() => index.catchUp(first).then(() => index.texts.size), { timeout: 10_000 }).toBe(2)
  await stop(first)
  await weft('backup', at('data'), at('backup'))
  const second = await start('data')
  // The consumer reads content that is newer than the backup.
  await write(second, 'a', 'lost')
  await write(second, 'c', 'lost')
  await expect
    .poll(() => index.catchUp(second).then(() => index.texts), { timeout: 10_000 })
    .toEqual(
      new Map([
        ['a', 'lost'],
        ['b', 'one'],
        ['c', 'lost'],
      ]),
    )
  expect(index.rejections).toEqual([])
  await stop(second)
  await weft('restore', at('backup'), at('restored'))
  const restored = await start('restored')
  await index.catchUp(restored)
  expect(index.rejections).toEqual(['feed/cursor-expired'])
  expect(index.texts).toEqual(
    new Map([
      ['a', 'one'],
      ['b', 'one'],
    ]),
  )
  // As many writes as were lost.
  await write(restored, 'a', 'two')
  await write(restored, 'd', 'new')
  await expect
    .poll(() => index.catchUp(restored).then(() => index.texts), { timeout: 10_000 })
    .toEqual(await textsOf(restored))
  expect(index.texts.get('a')).toBe('two')
  expect(index.rejections).toHaveLength(1)
}, 60_000)
