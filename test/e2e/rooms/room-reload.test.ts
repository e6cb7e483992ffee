import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { addressKey } from '../../../src/core/model/address.ts'
import { type LevelEngine, openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type HeldStore, heldStore } from '../../support/stores/pausable-store.ts'

const address = { organizationId: 'acme', documentId: 'reload', editorId: 'main' }
const pendingBytesMax = 100_000

interface Read {
  readonly data: string
  readonly version: string
  readonly stateVector: string
}

let directory: string
let store: HeldStore
let engine: LevelEngine
let server: TestServer
let token: string
const connect = (): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/reload/main?token=${token}`)

async function start(): Promise<void> {
  engine = await openLevelEngine({ directory, openStore: store.openStore, pendingBytesMax })
  const limits = { idleUnloadSeconds: 0, compactAfterUpdates: 10, maxDocumentBytes: 200_000 }
  server = await startTestServer(limits, { engine })
  token = await server.token('ada')
}

const allDurable = (): Promise<void> => eventually(() => engine.pendingBytes() === 0)

async function read(): Promise<Read> {
  const { organizationId, documentId } = address
  const [document] = dataOf(await server.post('/v2/crdt/get', { organizationId, documentId })) as Read[]
  return document as Read
}

/** Waits until the activity of the edit is stored, after which the server writes nothing by itself. */
const edited = (): Promise<void> =>
  eventually(async () => {
    const { organizationId } = address
    const found = dataOf(await server.post('/v2/activities/get', { organizationId })) as readonly unknown[]
    return found.length > 0
  })

async function reloaded(): Promise<void> {
  await eventually(async () => (await metric(server, 'weft_rooms_open')) === 0)
}

async function compacted(): Promise<boolean> {
  const { workspaceId, apiKey } = server.credentials
  const log = await engine.log.load(addressKey({ workspaceId, apiKey, ...address }))
  return log.state === 'live' && log.base > 0
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-reload-'))
  store = heldStore()
  await start()
})

afterEach(async () => {
  store.release()
  await server.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

it('[CR-22] when the log does not end where the room expects, closes the clients with 1012, and loads the document again', async () => {
  await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'base' })
  const client = await connect()
  await client.roundTrip()
  await edited()
  const { workspaceId, apiKey } = server.credentials
  const doc = addressKey({ workspaceId, apiKey, ...address })
  const [head = null] = await engine.log.heads([doc])
  await engine.log.append(doc, head?.epoch ?? 0, [{ bytes: typed('of another writer', 77), by: '' }])
  client.sendUpdate(typed('of ada', 78))
  expect(await client.closed).toEqual({ code: 1012, reason: 'the document moved to another node' })
  expect((await engine.log.heads([doc]))[0]).toMatchObject({ head: 2 })
  const again = await connect()
  again.sendUpdate(typed('of ada', 78))
  await again.roundTrip()
  again.end()
  const { data } = await read()
  for (const part of ['base', 'of another writer', 'of ada']) expect(data.split(part)).toHaveLength(2)
})

it('[ROOM-8] when the room fails because of a rejected append while another one is pending, reloads the room, and keeps that append', async () => {
  await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'base' })
  const client = await connect()
  await client.roundTrip()
  await edited()
  await allDurable()
  store.hold()
  const update = server.post('/v2/crdt/update', { ...address, type: 'text', data: 'base, acknowledged' })
  await eventually(() => engine.pendingBytes() > 0)
  void engine.blobs.put(['filler'], new Uint8Array(pendingBytesMax + 1))
  client.sendUpdate(typed('k', 77))
  await client.closed
  const late = await connect()
  // Takes enough time to load a document, if the server loaded it now.
  for (const documentId of ['one', 'two', 'three']) {
    expect((await server.post('/v2/crdt/get', { organizationId: 'acme', documentId })).status).toBe(404)
  }
  store.release()
  expect((await update).status).toBe(200)
  await late.roundTrip()
  expect(contentOf(late.offers())).toBe('base, acknowledged')
  await allDurable()
  for (let edit = 0; edit < 15; edit++) {
    late.sendUpdate(typed('edit'.repeat(1_000), 1_000 + edit))
    await late.roundTrip()
  }
  await eventually(compacted)
  late.end()
  await server.stop()
  await start()
  expect((await read()).data).toContain('base, acknowledged')
})

it.each([
  ['log', 10],
  ['snapshot', 60_000],
])(
  '[ROOM-9] after a reload from a %s, does not again request, store or broadcast content that both the client and the server have',
  async (_, length) => {
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'x'.repeat(length))
    const whole = Y.encodeStateAsUpdate(doc)
    const first = await connect()
    first.sendUpdate(whole)
    await first.roundTrip()
    first.end()
    await reloaded()
    const [client, witness] = [await connect(), await connect()]
    await Promise.all([client.roundTrip(), witness.roundTrip()])
    const [vector] = client.vectors()
    expect(vector).toEqual(Y.encodeStateVector(doc))
    const before = await read()
    expect(Buffer.from(before.stateVector, 'base64')).toEqual(Buffer.from(Y.encodeStateVector(doc)))
    client.sendOffer(Y.encodeStateAsUpdate(doc, vector))
    client.sendUpdate(whole)
    client.sendOffer(whole)
    await client.roundTrip()
    await witness.roundTrip()
    expect(witness.updates()).toEqual([])
    expect((await read()).version).toBe(before.version)
    for (const each of [client, witness]) each.end()
  },
)
