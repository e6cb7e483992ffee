import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import type { NodesOptions, SharedNode } from '../../support/servers/simulated-network.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'

let server: TestServer
/** Another node of the cluster of `server`, which owns the document. */
let other: TestServer
let stop = async (): Promise<void> => {}
afterEach(() => stop())

const ids = { organizationId: 'acme', documentId: 'report', editorId: 'main' }
const replacing = { ...ids, streamId: 's', edit: { replace: { find: 'old' } } }

type Headers = Readonly<Record<string, string>>

async function start(...given: Parameters<typeof startTestServer>): Promise<void> {
  server = await startTestServer(...given)
  stop = server.stop
}
async function startNodes(
  options: NodesOptions,
  given: Parameters<typeof startCluster>[1] = {},
): Promise<void> {
  const cluster = await startCluster(2, given, options)
  const { nodes, servers } = cluster
  const { workspaceId, apiKey } = (servers[0] as TestServer).credentials
  const document = [workspaceId, apiKey, ids.organizationId, ids.documentId]
  const isOwner = ({ engine }: SharedNode): boolean =>
    engine.cluster.owner(document).id === engine.cluster.self
  const owner = nodes.findIndex(isOwner)
  other = servers[owner] as TestServer
  server = servers[1 - owner] as TestServer
  stop = cluster.stop
}
const add = async (data: string, headers: Headers = {}): Promise<void> => {
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'text', data }, headers))
}
const textOf = async (headers: Headers = {}): Promise<string> =>
  (dataOf(await server.post('/v2/crdt/get', ids, headers)) as [{ data: string }])[0].data
const disable = async (disabled: boolean): Promise<void> => {
  const { organizationId, documentId } = ids
  const documents = [{ documentId, disabled }]
  dataOf(await server.post('/v2/organizations/documents/update', { organizationId, documents }))
}

/** Opens a stream that replaces, and waits until its first piece is durable. */
async function openWithPiece(headers: Headers = {}, at = server): Promise<ContentStream> {
  const writer = await ContentStream.open(at, replacing, headers)
  writer.text('new')
  await writer.received(3)
  return writer
}

/** Sends a piece and the end in one chunk. */
const sendTailAndEnd = (writer: ContentStream, tail = ' tail'): ContentStream =>
  writer.raw(`${JSON.stringify({ text: tail })}\n${JSON.stringify({ end: true })}\n`)

/** Creates an API key. Returns its headers, and the function that replaces its auth token. */
async function newKey() {
  const { workspaceId, workspaceAuthToken } = server.credentials
  const workspace = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const request = { apiKeyName: 'Streams', type: 'testing' }
  const created = dataOf(await server.post('/v2/workspace/apikey/create', request, workspace))
  const { apiKey, authToken } = created as { apiKey: string; authToken: string }
  const headersWith = (token: string) => ({ 'x-service-api-key': apiKey, 'x-service-auth-token': token })
  const replace = async () => {
    const data = { apiKey, graceSeconds: 0 }
    const answer = dataOf(await server.post('/v2/workspace/authtoken/reset', data, workspace))
    return headersWith((answer as { newAuthToken: { token: string } }).newAuthToken.token)
  }
  return { headers: headersWith(authToken), replace }
}

it('[STRM-90] keeps the replaced text when the document is disabled before the last piece', async () => {
  await start()
  await add('an old text')
  const first = await openWithPiece()
  await disable(true)
  sendTailAndEnd(first)
  expect(await first.error()).toMatchObject({ details: { code: 'document/disabled' } })
  await disable(false)
  expect(await textOf()).toBe('an oldnew text')
  const second = await ContentStream.open(server, replacing)
  expect(second.opened.received).toBe(3)
  expect(await second.text(' tail').end()).toMatchObject({ outcome: 'done', received: 8 })
  expect(await textOf()).toBe('an new tail text')
})

it('[STRM-90] keeps the replaced text when the last piece does not fit into the document', async () => {
  await start({ maxDocumentBytes: 65_536 })
  await add('an old text')
  const first = await openWithPiece()
  sendTailAndEnd(first, 'x'.repeat(70_000))
  expect(await first.error()).toMatchObject({ details: { limit: 'maxDocumentBytes' } })
  expect(await textOf()).toBe('an oldnew text')
  const second = await ContentStream.open(server, replacing)
  expect(await second.text(' tail').end()).toMatchObject({ outcome: 'done', received: 8 })
  expect(await textOf()).toBe('an new tail text')
})

it.each([
  ['before the last piece', ' tail'],
  ['before the end', ''],
])('[STRM-90] keeps the replaced text when the auth token is replaced %s', async (_name, tail) => {
  // The node of the stream gets no notice, so that it learns of the replacement from the next line.
  let isFair = true
  await startNodes({ weather: () => (isFair ? [0] : []) })
  const { headers, replace } = await newKey()
  await add('an old text', headers)
  const first = await openWithPiece(headers, other)
  isFair = false
  const valid = await replace()
  sendTailAndEnd(first, tail)
  expect(await first.error()).toMatchObject({ details: { code: 'auth/invalid-credentials' } })
  const second = await ContentStream.open(server, replacing, valid)
  expect(second.opened.received).toBe(3)
  expect(await second.withdraw()).toMatchObject({ outcome: 'withdrawn' })
  expect(await textOf(valid)).toBe('an old text')
})

it('[STRM-90] keeps the replaced text when the server stops before the last piece is stored', async () => {
  const store = holdable(await openMemoryEngine({ clock: systemClock }))
  await startNodes({ store })
  await add('an old text')
  const first = await openWithPiece({}, other)
  store.hold()
  first.text(' a')
  await eventually(() => store.waiting() === 1)
  sendTailAndEnd(first)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const stopped = other.stop()
  await eventually(async () => {
    const probe = ContentStream.send(other, {}).endBody()
    await probe.closed
    return probe.status !== 400
  })
  store.release()
  expect(await first.error()).toMatchObject({ status: 'UNAVAILABLE' })
  const second = await ContentStream.open(server, replacing)
  expect(second.opened.received).toBe(5)
  expect(await second.text(' tail').end()).toMatchObject({ outcome: 'done', received: 10 })
  expect(await textOf()).toBe('an new a tail text')
  await stopped
})

it('[STRM-106] withdraws a stream whose waiting text does not fit into the document', async () => {
  await start({ maxDocumentBytes: 65_536 })
  await add('an old text')
  const writer = await openWithPiece()
  writer.raw(`${JSON.stringify({ text: 'x'.repeat(40_000) })}\n${JSON.stringify({ withdraw: true })}\n`)
  const { done } = await writer.until((line) => line.done !== undefined || line.error !== undefined)
  expect(done).toMatchObject({ outcome: 'withdrawn', received: 3 })
  expect(await textOf()).toBe('an old text')
})

it('[STRM-106] withdraws rows of a table after text that is not a row', async () => {
  await start()
  const data = '| A | B |\n| --- | --- |\n| one | two |'
  dataOf(await server.post('/v2/crdt/add', { ...ids, type: 'markdown', schema: 'tiptap', data }))
  const edit = { insert: { after: { row: 'one' } } }
  const before = await textOf()
  const writer = await ContentStream.open(server, { ...ids, format: 'markdown', edit })
  writer.text('| | |\n| --- | --- |\n| 1 | 2 |\n\n|')
  await writer.received(30)
  writer.raw(`${JSON.stringify({ text: ' |\n\nSorry, ' })}\n${JSON.stringify({ withdraw: true })}\n`)
  const { done } = await writer.until((line) => line.done !== undefined || line.error !== undefined)
  expect(done).toMatchObject({ outcome: 'withdrawn' })
  expect(await textOf()).toBe(before)
})
