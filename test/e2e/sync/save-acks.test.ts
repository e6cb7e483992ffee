import * as decoding from 'lib0/decoding'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import {
  eventually,
  message,
  openEditor,
  RawClient,
  syncedEditor,
  typed,
} from '../../support/clients/clients.ts'
import {
  endYSweet,
  hocuspocusProvider,
  type YSweetToken,
  ySweetProvider,
} from '../../support/clients/protocol-clients.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type HeldEngine, holdable } from '../../support/stores/pausable-engine.ts'

const [messageEcho, messageSaved] = [102, 111]

let engine: HeldEngine
let server: TestServer
let token: string
let documents = 0
const newDocument = (): string => `saved-${++documents}`
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

beforeAll(async () => {
  engine = holdable(await openMemoryEngine())
  server = await startTestServer({}, { engine })
  token = await server.token('ada')
})

afterAll(() => server.stop())

const connect = (documentId: string, query = ''): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${token}${query}`)

/** Numbers in the messages of type 111. */
const saved = ({ received }: RawClient): number[] =>
  received
    .filter(([type]) => type === messageSaved)
    .map((bytes) => decoding.readVarUint(decoding.createDecoder(bytes.slice(1))))

it('[SYNC-29] with echo=1, sends a client its own updates in order, only when they are durable; without it, never', async () => {
  const documentId = newDocument()
  const [client, other] = [await connect(documentId, '&echo=1'), await connect(documentId)]
  for (const each of [client, other]) await each.roundTrip()
  engine.hold()
  const [one, two] = [typed('one', 1), typed('two', 2)]
  client.sendUpdate(one)
  client.sendUpdate(two)
  await eventually(() => engine.waiting() > 0)
  await pause()
  expect(client.updates()).toEqual([])
  engine.release()
  await eventually(() => client.updates().length === 2 && other.updates().length === 2)
  expect(client.updates()).toEqual([one, two])
  other.sendUpdate(typed('three', 3))
  await eventually(() => client.updates().length === 3)
  await other.roundTrip()
  expect(other.updates()).toHaveLength(2)
  for (const each of [client, other]) each.end()
})

it('[DIA-5] with saved=1, sends the number of saved updates only when these updates are durable', async () => {
  const client = await connect(newDocument(), '&saved=1')
  await client.roundTrip()
  engine.hold()
  client.sendUpdate(typed('one', 1))
  client.sendUpdate(typed('two', 2))
  await eventually(() => engine.waiting() > 0)
  await pause()
  expect(saved(client)).toEqual([])
  engine.release()
  await eventually(() => saved(client).at(-1) === 2)
  // Known content is also saved.
  client.sendOffer(typed('one', 1))
  await eventually(() => saved(client).at(-1) === 3)
  client.end()
})

it('[DIA-5] includes an update with a missing dependency in the saved number only after the missing update has arrived', async () => {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  doc.getText('content').insert(0, 'a')
  doc.getText('content').insert(1, 'b')
  const client = await connect(newDocument(), '&saved=1')
  await client.roundTrip()
  client.sendUpdate(updates[1] as Uint8Array)
  await client.roundTrip()
  await pause()
  expect(saved(client)).toEqual([])
  client.sendUpdate(updates[0] as Uint8Array)
  await eventually(() => saved(client).at(-1) === 2)
  client.end()
})

it('[DIA-5] sends no acknowledgment to a client that does not set saved=1', async () => {
  const documentId = newDocument()
  const clients = await Promise.all(['', '&live=1', '&saved=0'].map((query) => connect(documentId, query)))
  for (const client of clients) {
    await client.roundTrip()
    client.sendUpdate(typed('x', documents + clients.indexOf(client) + 10))
    await client.roundTrip()
  }
  await pause()
  expect(clients.flatMap(saved)).toEqual([])
  expect(clients.flatMap((client) => client.bodies(messageEcho))).toEqual([])
  for (const client of clients) client.end()
})

it('[DIA-5] delivers acknowledgments to a message handler of stock y-websocket clients', async () => {
  const editor = await syncedEditor(server.wsUrl, `acme/${newDocument()}/main`, token, {
    parameters: { saved: '1' },
  })
  let count = 0
  editor.provider.messageHandlers[messageSaved] = (_encoder, decoder) => {
    count = decoding.readVarUint(decoder)
  }
  editor.text.insert(0, 'a')
  editor.text.insert(1, 'b')
  // The client's answer to the first request of the server may also count.
  await eventually(() => count === 3 || count === 2)
  editor.close()
})

const ySweetToken = async (documentId: string): Promise<YSweetToken> =>
  dataOf(
    await server.post('/v2/auth/generate_token', {
      userId: 'ada',
      userProperties: { name: 'Ada', email: 'ada@example.com' },
      format: 'y-sweet',
      document: { organizationId: 'acme', documentId },
    }),
  ) as YSweetToken

const withoutDocument = ({ url, baseUrl }: YSweetToken) => ({ url, baseUrl })

it('[DIA-7] generate_token returns the members that the client of Y-Sweet needs, with the public URL', async () => {
  const clientToken = await ySweetToken('a plan/1')
  expect(clientToken).toMatchObject({
    url: `ws://localhost:${server.config.port}/sync`,
    baseUrl: `http://localhost:${server.config.port}`,
    docId: 'acme/a%20plan%2F1/main',
  })
  const doc = new Y.Doc()
  const provider = ySweetProvider({ ...clientToken, url: `${server.wsUrl}/sync` }, doc)
  doc.getText('content').insert(0, 'from Y-Sweet')
  await eventually(() => provider.status === 'connected' && !provider.hasLocalChanges)
  const answer = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'a plan/1' })
  expect(JSON.stringify(answer.body)).toContain('from Y-Sweet')
  endYSweet(provider)
  const without = await server.post('/v2/auth/generate_token', {
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    format: 'y-sweet',
  })
  expect(dataOf(without)).toEqual({
    ...withoutDocument(clientToken),
    token: expect.any(String) as string,
    expiresAt: expect.any(Number) as number,
  })
})

it('[DIA-8] returns an echo only after the offline edits of the client are durable', async () => {
  const client = await connect(newDocument())
  await eventually(() => client.vectors().length === 1)
  client.send(message([messageEcho], Uint8Array.of(7)))
  await pause()
  expect(client.bodies(messageEcho)).toEqual([])
  engine.hold()
  client.sendOffer(typed('offline', 5))
  await eventually(() => engine.waiting() > 0)
  await pause()
  expect(client.bodies(messageEcho)).toEqual([])
  engine.release()
  await eventually(() => client.bodies(messageEcho).length === 1)
  expect([...(client.bodies(messageEcho)[0] as Uint8Array)]).toEqual([7])
  client.end()
})

it('[DIA-8] returns the first echo only once, even if the updates before it take long to apply', async () => {
  const scattered = new Y.Doc()
  const text = scattered.getText('content')
  scattered.transact(() => {
    for (let inserts = 0; inserts < 20_000; inserts += 1) text.insert(0, 'a')
  })
  const client = await connect(newDocument())
  client.sendOffer(Y.encodeStateAsUpdate(scattered))
  client.sendUpdate(typed('b', 9))
  client.send(message([messageEcho], Uint8Array.of(1)))
  await eventually(() => client.bodies(messageEcho).length === 1)
  await client.roundTrip()
  expect(client.bodies(messageEcho)).toEqual([Uint8Array.of(1)])
  client.end()
})

it('[DIA-9] sends a message every second or two to a client that waits for an echo', async () => {
  const client = await connect(newDocument())
  await client.roundTrip()
  client.sendOffer(typed('x', 6))
  engine.hold()
  client.sendUpdate(typed('held', 7))
  client.send(message([messageEcho], Uint8Array.of(1)))
  const before = client.received.length
  await eventually(() => client.received.length >= before + 2)
  expect(client.bodies(messageEcho)).toEqual([])
  engine.release()
  await eventually(() => client.bodies(messageEcho).length === 1)
  client.end()
})

/** The helper of the CodeMirror example. */
interface Helper {
  watchSaved(provider: object, onChange: (isSaved: boolean) => void): void
}

it('[DIA-5] the helper of the CodeMirror example reports "saved" only when all edits, including offline edits, are durable', async () => {
  const { href } = new URL('../../../examples/codemirror/src/saved.js', import.meta.url)
  const helper = (await import(href)) as Helper
  const path = `acme/${newDocument()}/main`
  const editor = openEditor(server.wsUrl, path, token, { parameters: { saved: '1' } })
  const told: boolean[] = []
  helper.watchSaved(editor.provider, (isSaved) => told.push(isSaved))
  editor.text.insert(0, 'before it is connected, ')
  await eventually(() => told.join() === 'false,true')
  engine.hold()
  editor.text.insert(0, 'then ')
  await eventually(() => engine.waiting() > 0)
  await pause()
  expect(told).toEqual([false, true, false])
  engine.release()
  await eventually(() => told.length === 4)
  editor.provider.disconnect()
  editor.text.insert(0, 'while away, ')
  await pause()
  expect(told).toEqual([false, true, false, true, false])
  editor.provider.connect()
  await eventually(() => told.length === 6)
  const stored = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: path.split('/')[1] })
  expect(JSON.stringify(stored.body)).toContain('while away, then before it is connected, ')
  editor.close()
})

/** Two updates, the second of which builds on the first. */
function twoUpdates(client: number): readonly [Uint8Array, Uint8Array] {
  const doc = new Y.Doc()
  doc.clientID = client
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  doc.getText('content').insert(0, 'a')
  doc.getText('content').insert(1, 'b')
  return [updates[0] as Uint8Array, updates[1] as Uint8Array]
}
const nothingNew = new Uint8Array(2)
const echo = message([messageEcho], Uint8Array.of(1))

it('[DIA-8] returns the first echo only when no update that was sent before it is pending', async () => {
  const [first, second] = twoUpdates(91)
  const client = await connect(newDocument())
  client.sendOffer(nothingNew)
  client.sendUpdate(second)
  await client.roundTrip()
  client.send(echo)
  await pause()
  expect(client.bodies(messageEcho)).toEqual([])
  client.sendUpdate(first)
  client.send(echo)
  await eventually(() => client.bodies(messageEcho).length === 1)
  client.end()
})

it('[DIA-8] returns a later echo only when no update that was sent before it is pending', async () => {
  const [first, second] = twoUpdates(92)
  const client = await connect(newDocument())
  client.sendOffer(nothingNew)
  client.send(echo)
  await eventually(() => client.bodies(messageEcho).length === 1)
  client.sendUpdate(second)
  client.send(echo)
  await client.roundTrip()
  await pause()
  expect(client.bodies(messageEcho).length).toBe(1)
  client.sendUpdate(first)
  await eventually(() => client.bodies(messageEcho).length === 2)
  client.end()
})

const viewerOf = async (documentId: string): Promise<string> => {
  const resources = [
    { type: 'document', id: documentId, organizationId: 'acme', accessRole: 'viewer' },
  ] as const
  return server.token('eve', { resources: resources })
}

it('[DIA-3] returns no first echo to a viewer that has sent an edit', async () => {
  const documentId = newDocument()
  const editor = await connect(documentId)
  editor.sendOffer(typed('x', 93))
  await editor.roundTrip()
  const eve = await viewerOf(documentId)
  const viewer = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${eve}`)
  viewer.sendOffer(nothingNew)
  viewer.sendUpdate(typed('y', 94))
  await viewer.roundTrip()
  viewer.send(echo)
  await pause()
  expect(viewer.bodies(messageEcho)).toEqual([])
  editor.end()
  viewer.end()
})

it('[DIA-5] when a requested offer contains updates that were rejected before, includes them in the saved number', async () => {
  const documentId = newDocument()
  const editor = await connect(documentId)
  editor.sendOffer(typed('x', 95))
  await editor.roundTrip()
  const change = async (accessRole: string): Promise<void> => {
    const resources = [{ type: 'document', id: documentId, organizationId: 'acme', accessRole }]
    dataOf(
      await server.post('/v2/auth/permissions/add', {
        user: { userId: 'fay' },
        permissions: { resources },
      }),
    )
  }
  await change('viewer')
  const token = await server.token('fay')
  const path = `${server.wsUrl}/sync/acme/${documentId}/main?token=${token}&saved=1`
  const client = await RawClient.connect(path)
  const [first, second] = twoUpdates(96)
  client.sendOffer(nothingNew)
  client.sendUpdate(first)
  await client.roundTrip()
  await eventually(() => saved(client).at(-1) === 1)
  await change('editor')
  const vectors = client.vectors().length
  client.sendUpdate(second)
  await eventually(() => client.vectors().length > vectors)
  expect(saved(client)).toEqual([1])
  client.sendOffer(Y.mergeUpdates([first, second]))
  await eventually(() => saved(client).at(-1) === 3)
  editor.end()
  client.end()
})

it('[DIA-4] after a client has forced a sync, acknowledges its next edit only when the edit is durable', async () => {
  const provider = hocuspocusProvider(server, `acme/${newDocument()}/main`, token, { version: 2 })
  await eventually(() => provider.isSynced && !provider.hasUnsyncedChanges)
  const text = provider.document.getText('content')
  engine.hold()
  text.insert(0, 'a')
  text.insert(0, 'b')
  await eventually(() => engine.waiting() > 0)
  provider.forceSync()
  provider.forceSync()
  await pause()
  engine.release()
  await eventually(() => !provider.hasUnsyncedChanges)
  await pause()
  engine.hold()
  text.insert(0, 'c')
  await pause()
  expect(provider.hasUnsyncedChanges).toBe(true)
  engine.release()
  await eventually(() => !provider.hasUnsyncedChanges)
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
})

it('[DIA-27] when a client reads again after a pause, sends it only the last saved number and the last echo', async () => {
  const small = await startTestServer({ sendBufferBytes: 65_536 })
  const ada = await small.token('ada')
  const path = `${small.wsUrl}/sync/acme/unread/main?token=${ada}`
  const client = await RawClient.connect(`${path}&saved=1`)
  client.sendOffer(nothingNew)
  await client.roundTrip()
  await eventually(() => saved(client).at(-1) === 1)
  client.socket.pause()
  const writer = await RawClient.connect(path)
  const slow = (): Promise<number> => metric(small, 'weft_limit_hits_total{limit="sendBufferBytes"}')
  for (let times = 0; (await slow()) !== 1; times++)
    writer.sendUpdate(typed('x'.repeat(200_000), 1_000 + times))
  const before = writer.updates().length
  for (let times = 1; times <= 20; times++) {
    client.sendUpdate(typed('y', 100 + times))
    client.send(message([messageEcho], Uint8Array.of(times)))
    await eventually(() => writer.updates().length === before + times)
  }
  client.socket.resume()
  await eventually(() => saved(client).at(-1) === 21)
  await eventually(() => client.bodies(messageEcho).length > 0)
  expect(saved(client)).toEqual([1, 21])
  expect(client.bodies(messageEcho).map(([body]) => body)).toEqual([20])
  for (const each of [client, writer]) each.end()
  await small.stop()
})
