import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import type { KvCommit } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'
import { rejectingCommits } from '../../support/stores/rejecting-kv.ts'

let server: TestServer
afterEach(() => server.stop())

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const replacing = { ...ids, streamId: 's', edit: { replace: { find: 'old' } } }

const add = async (data: string): Promise<void> => {
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data }))
}
const textOf = async (): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data

/** Returns whether a commit stores a stream, with its result or without. */
const stores =
  (what: 'result' | 'stream') =>
  ({ puts = [] }: KvCommit): boolean =>
    puts.some(
      ({ key, value }) =>
        key[0] === 'streams' && (what === 'stream' || Buffer.from(value).includes('"result":{')),
    )

async function startRejecting(options: Parameters<typeof startTestServer>[0] = {}) {
  const engine = rejectingCommits(await openMemoryEngine({ clock: systemClock }))
  server = await startTestServer(options, { engine })
  return engine
}

/** Opens a stream that replaces, and waits until its first piece is durable. */
async function openWithPiece(more: object = {}): Promise<ContentStream> {
  const writer = await ContentStream.open(server, { ...replacing, ...more })
  writer.text('new')
  await writer.received(3)
  return writer
}

it('[STRM-93] frees the place of a connection, and keeps its content, after the store has failed', async () => {
  const engine = await startRejecting({ streamsPerKey: 1 })
  await add('an old text')
  const first = await openWithPiece()
  engine.rejects = stores('stream')
  first.destroy()
  await eventually(() => engine.rejected > 0)
  engine.rejects = () => false
  const other = await ContentStream.open(server, { ...ids, edit: { insert: { at: 'end' } } })
  await other.text('.').end()
  expect(await textOf()).toBe('an oldnew text.')
})

it('[STRM-93] gives a writer the result after the store has failed at the end', async () => {
  const engine = await startRejecting({ streamsPerKey: 1 })
  await add('an old text')
  const first = await openWithPiece()
  engine.rejects = stores('result')
  first.line({ end: true })
  expect(await first.error()).toMatchObject({ status: 'UNAVAILABLE' })
  engine.rejects = () => false
  const second = await ContentStream.open(server, replacing)
  expect(await second.end()).toMatchObject({ outcome: 'done', received: 3 })
  expect(await textOf()).toBe('an new text')
})

it.each([
  ['end', 'done', 3],
  ['withdraw', 'withdrawn', 3],
])('[STRM-111] gives a writer the deletions of %s after the store has failed', async (...args) => {
  const [ending, outcome, deletions] = args
  const engine = await startRejecting()
  await add('an old text')
  const first = await openWithPiece()
  engine.rejects = stores('result')
  first.line({ [ending]: true })
  expect(await first.error()).toMatchObject({ status: 'UNAVAILABLE' })
  engine.rejects = () => false
  const second = await ContentStream.open(server, replacing)
  expect(await second.end()).toMatchObject({ outcome, received: 3, deletions })
  expect(await metric(server, `weft_streams_total{outcome="${outcome}"}`)).toBe(1)
})

it('[STRM-111] counts the end of a stream once that is taken over at its end', async () => {
  const engine = holdable(await openMemoryEngine({ clock: systemClock }))
  server = await startTestServer({}, { engine })
  await add('an old text')
  const first = await openWithPiece()
  engine.hold()
  first.line({ end: true })
  await eventually(() => engine.waiting() === 1)
  const second = ContentStream.send(server, replacing)
  setTimeout(() => engine.release(), 300)
  const { done } = await second.until((line) => line.done !== undefined || line.error !== undefined)
  expect(done).toMatchObject({ outcome: 'done', received: 3, deletions: 3 })
  await first.closed
  expect(await metric(server, 'weft_streams_total{outcome="done"}')).toBe(1)
  expect(await textOf()).toBe('an new text')
})

it('[STRM-96] answers an end with the result of a withdrawal that was requested before', async () => {
  const engine = await startRejecting()
  await add('an old text')
  const first = await openWithPiece()
  engine.rejects = stores('result')
  first.line({ withdraw: true })
  expect(await first.error()).toMatchObject({ status: 'UNAVAILABLE' })
  engine.rejects = () => false
  const second = await ContentStream.open(server, replacing)
  expect(await second.text('never').end()).toMatchObject({ outcome: 'withdrawn', received: 3 })
  expect(await textOf()).toBe('an old text')
})
