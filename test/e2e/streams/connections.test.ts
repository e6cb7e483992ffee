import { afterEach, expect, it } from 'vitest'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import type { SharedNode } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

let server: TestServer | null = null
let cluster: TestCluster | null = null
afterEach(async () => {
  await server?.stop()
  await cluster?.stop()
  server = null
  cluster = null
})

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const opening = { ...ids, streamId: 's', edit: { insert: { at: 'end' } } }

const add = async (to: TestServer, data = ''): Promise<void> => {
  dataOf(await to.post('/v2/crdt/add', { ...ids, type: 'text', data }))
}
const textOf = async (from: TestServer): Promise<string> =>
  (dataOf(await from.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data

it('[STRM-20] continues a broken stream at the durable content, also at another node', async () => {
  cluster = await startCluster(2)
  const [one, two] = cluster.servers as [TestServer, TestServer]
  await add(one)
  const first = await ContentStream.open(one, opening)
  first.text('abcdef')
  await first.received(6)
  first.destroy()
  await first.closed
  const second = await ContentStream.open(two, opening)
  expect(second.opened).toMatchObject({ streamId: 's', received: 6 })
  second.text('defghi', 3)
  expect(await second.end()).toMatchObject({ outcome: 'done', received: 9 })
  expect(await textOf(one)).toBe('abcdefghi')
})

it('[STRM-20] counts content that others have deleted as received', async () => {
  server = await startTestServer()
  await add(server)
  const first = await ContentStream.open(server, opening)
  first.text('abcdef')
  await first.received(6)
  dataOf(await server.post('/v2/crdt/edit', { ...ids, edits: [{ remove: { target: 'bcdef' } }] }))
  first.destroy()
  const second = await ContentStream.open(server, opening)
  expect(second.opened.received).toBe(6)
  second.text('g')
  await second.end()
  expect(await textOf(server)).toBe('ag')
})

it.each([
  ['the same node', 1],
  ['another node', 2],
])('[STRM-21] lets a second connection at %s take over, and ends the first', async (_name, count) => {
  cluster = await startCluster(count)
  const [one, other = one] = cluster.servers as [TestServer, TestServer?]
  await add(one)
  const first = await ContentStream.open(one, opening)
  first.text('abc')
  await first.received(3)
  const second = await ContentStream.open(other, opening)
  expect(second.opened.received).toBe(3)
  first.text('never')
  expect(await first.error()).toMatchObject({ details: { code: 'crdt/stream-taken-over' } })
  second.text('def')
  await second.end()
  expect(await textOf(one)).toBe('abcdef')
  const different = { ...opening, edit: { insert: { at: 'start' } } }
  const third = ContentStream.send(one, different)
  expect(await third.error()).toMatchObject({ details: { code: 'crdt/stream-conflict' } })
})

it.each([
  ['the same node', 1],
  ['another node', 2],
])('[STRM-91] does not end a stream when a different opening at %s has its id', async (_name, count) => {
  cluster = await startCluster(count)
  const [one, other = one] = cluster.servers as [TestServer, TestServer?]
  await add(one)
  const first = await ContentStream.open(one, opening)
  first.text('abc')
  await first.received(3)
  for (const different of [
    { ...opening, name: 'Another' },
    { ...opening, edit: { insert: { at: 'start' } } },
  ])
    expect(await ContentStream.send(other, different).error()).toMatchObject({
      details: { code: 'crdt/stream-conflict' },
    })
  first.text('def')
  expect(await first.end()).toMatchObject({ outcome: 'done', received: 6 })
  expect(await textOf(one)).toBe('abcdef')
})

it('[STRM-22] keeps the content and the replaced content of a writer that does not come back', async () => {
  const clock = new HeldClock(Date.now())
  server = await startTestServer({ streamSeconds: 60 }, { clock })
  await add(server, 'old')
  const given = { ...opening, edit: { replace: { find: 'old' } } }
  const first = await ContentStream.open(server, given)
  first.text(' new')
  await first.received(4)
  first.destroy()
  await first.closed
  clock.advance(61_000)
  expect(await ContentStream.send(server, given).error()).toMatchObject({
    details: { limit: 'streamSeconds', value: 60 },
  })
  expect(await textOf(server)).toBe('old new')
})

it('[STRM-23] returns the same result after the end, and changes nothing', async () => {
  server = await startTestServer()
  await add(server, 'old')
  const given = { ...opening, edit: { replace: { find: 'old' } } }
  const first = await ContentStream.open(server, given)
  first.text('new')
  const done = await first.end()
  const again = await ContentStream.open(server, given)
  expect(again.opened.received).toBe(3)
  expect(await again.text('new', 0).end()).toEqual(done)
  expect(await textOf(server)).toBe('new')
})

it('[STRM-24] ends streams with UNAVAILABLE when the server stops; the writer continues at another node', async () => {
  cluster = await startCluster(2)
  const [one, two] = cluster.servers as [TestServer, TestServer]
  await add(one)
  const first = await ContentStream.open(one, opening)
  first.text('abc')
  await first.received(3)
  const stopped = one.stop()
  expect(await first.error()).toMatchObject({
    status: 'UNAVAILABLE',
    details: { code: 'server/stopping' },
  })
  const second = await ContentStream.open(two, opening)
  expect(second.opened.received).toBe(3)
  second.text('d')
  await second.end()
  expect(await textOf(two)).toBe('abcd')
  await stopped
})

it('[STRM-24] ends the streams of a document that moves to another node; the writer continues there', async () => {
  cluster = await startCluster(2)
  const [one, two] = cluster.servers as [TestServer, TestServer]
  const [{ engine }] = cluster.nodes as [SharedNode, SharedNode]
  const { workspaceId, apiKey } = one.credentials
  const ownerOf = (documentId: string): TestServer =>
    engine.cluster.owner([workspaceId, apiKey, ids.organizationId, documentId]).id === engine.cluster.self
      ? one
      : two
  const documentIds = Array.from({ length: 100 }, (_, index) => `d${index}`)
  const begin = async (documentId: string) => {
    const server = ownerOf(documentId)
    dataOf(await server.post('/v2/crdt/add', { ...ids, documentId, type: 'text', data: '' }))
    const given = { ...opening, documentId, streamId: documentId }
    const writer = await ContentStream.open(server, given)
    writer.text('abc')
    await writer.received(3)
    return { given, writer }
  }
  const moved = await begin(documentIds.find((id) => ownerOf(id) === one) ?? '')
  const kept = await begin(documentIds.find((id) => ownerOf(id) === two) ?? '')
  await engine.cluster.drain(0)
  expect(await moved.writer.error()).toMatchObject({
    status: 'UNAVAILABLE',
    details: { code: 'cluster/document-moved' },
  })
  const again = await ContentStream.open(two, moved.given)
  expect(again.opened.received).toBe(3)
  again.text('d')
  expect(await again.end()).toMatchObject({ outcome: 'done', received: 4 })
  expect(await kept.writer.end()).toMatchObject({ outcome: 'done', received: 3 })
})

it.each([
  ['disabled', '/v2/organizations/documents/update', { disabled: true }, 'document/disabled'],
  ['deleted', '/v2/organizations/documents/delete', {}, 'document/not-found'],
])('[STRM-25] ends a stream when its document is %s', async (_name, path, change, code) => {
  server = await startTestServer()
  await add(server)
  const writer = await ContentStream.open(server, opening)
  writer.text('abc')
  await writer.received(3)
  const { organizationId, documentId } = ids
  const data = path.endsWith('delete')
    ? { organizationId, documentIds: [documentId] }
    : { organizationId, documents: [{ documentId, ...change }] }
  dataOf(await server.post(path, data))
  writer.text('def')
  const error = await writer.error()
  expect([code, 'crdt/no-content', 'server/store-unavailable']).toContain(error.details.code)
})

it('[STRM-26] serves streams one after the other on one connection', async () => {
  server = await startTestServer()
  await add(server)
  const ports = new Set<number>()
  let expected = ''
  for (let index = 0; index < 60; index += 1) {
    const writer = await ContentStream.open(server, { ...opening, streamId: `s${index}` })
    for (let piece = 0; piece < 5; piece += 1) writer.text(`${index}.`)
    await writer.end()
    if (writer.localPort !== undefined) ports.add(writer.localPort)
    expected += `${index}.`.repeat(5)
  }
  expect(await textOf(server)).toBe(expected)
  expect(ports.size).toBeLessThan(60)
})
