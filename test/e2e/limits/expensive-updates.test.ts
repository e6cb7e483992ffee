import { afterEach, beforeEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { writeStateVector } from '../../../src/core/update/state-vector.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let engine: Engine
let pendingBytes: number
let server: TestServer

beforeEach(async () => {
  pendingBytes = 0
  engine = { ...(await openMemoryEngine()), pendingBytes: () => pendingBytes }
  server = await startTestServer({}, { engine })
})

afterEach(() => server.stop())

const address = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })

async function connect(documentId: string, userId = 'ada'): Promise<RawClient> {
  const token = await server.token(userId)
  return RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`)
}

/** Content of the root that the hostile shapes write to. */
const textOf = (updates: readonly Uint8Array[]): string => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc.getText('t').toString()
}

const shape = (name: 'rightOriginsBackwards' | 'concurrentPrepends', n: number): readonly Uint8Array[] =>
  hostileUpdates[name](n)

/** Small enough for a server to accept, and too expensive for the conflict scans of an event loop. */
const accepted = 2_000
/** More steps than an event loop spends to read a document. */
const poisoned = 2_500
/** More steps than a document of this size may need. */
const rejected = 20_000

it('[ROOM-50] integrates an expensive update on a thread, and sends it to the other members', async () => {
  const [writer, witness] = [await connect('shared'), await connect('shared', 'bob')]
  const updates = shape('concurrentPrepends', accepted)
  for (const update of updates) writer.sendUpdate(update)
  // This update arrives while the thread integrates the expensive one.
  writer.sendUpdate(typed('later', 77))
  await eventually(() => contentOf(witness.updates()).includes('later'))
  const expected = [...updates, typed('later', 77)]
  expect(textOf(witness.updates())).toBe(textOf(expected))
  const joining = await connect('shared', 'eve')
  joining.sendVector(Uint8Array.of(0))
  await eventually(() => joining.offers().length > 0)
  expect(textOf(joining.offers())).toBe(textOf(expected))
  expect(await metric(server, 'weft_thread_jobs_total{purpose="change",outcome="done"}')).toBeGreaterThan(0)
  for (const client of [writer, witness, joining]) client.end()
})

it('[ROOM-65] opens a document after a large update in slices, when a client edits it', async () => {
  const [writer, witness] = [await connect('large'), await connect('large', 'bob')]
  const [large = new Uint8Array(2)] = hostileUpdates.alternateItemDeletions(10_000)
  writer.sendUpdate(large)
  await writer.roundTrip()
  const jobs = 'weft_thread_jobs_total{purpose="change",outcome="done"}'
  expect(await metric(server, jobs)).toBe(1)
  witness.sendUpdate(typed('a', 77))
  witness.sendUpdate(typed('b', 78))
  await eventually(
    () => contentOf(writer.updates()).includes('a') && contentOf(writer.updates()).includes('b'),
  )
  expect(await metric(server, jobs)).toBe(2)
  for (const client of [writer, witness]) client.end()
})

it('[ROOM-65] opens a document after a large update in slices, when a client lacks a part of it', async () => {
  const writer = await connect('part')
  const [large = new Uint8Array(2)] = hostileUpdates.alternateItemDeletions(10_000)
  writer.sendUpdate(large)
  await writer.roundTrip()
  const joining = await connect('part', 'bob')
  joining.sendVector(writeStateVector(new Map([[1, 1]])))
  await eventually(() => joining.offers().length > 0)
  expect(textOf(joining.offers())).toBe(textOf([large]))
  expect(await metric(server, 'weft_thread_jobs_total{purpose="change",outcome="done"}')).toBe(2)
  for (const client of [writer, joining]) client.end()
})

it('[ROOM-73] while many bytes wait for the disk, changes by websocket and REST wait, and all are made afterwards', async () => {
  const [writer, witness] = [await connect('waits'), await connect('waits', 'bob')]
  await server.post('/v2/crdt/add', { ...address('rest'), type: 'text', data: 'before' })
  pendingBytes = 20_000_000
  writer.sendUpdate(typed('by websocket', 77))
  const replaced = server.post('/v2/crdt/update', { ...address('rest'), type: 'text', data: 'after' })
  const wait = new Promise((resolve) => setTimeout(() => resolve('waits'), 150))
  expect(await Promise.race([replaced, wait])).toBe('waits')
  expect(witness.updates()).toEqual([])
  pendingBytes = 0
  expect((await replaced).status).toBe(200)
  await eventually(() => contentOf(witness.updates()) === 'by websocket')
  for (const client of [writer, witness]) client.end()
})

it('[ROOM-51] when an update would make its document too expensive, closes the socket of the sender with 4413, and no other socket', async () => {
  const [writer, witness] = [await connect('shared'), await connect('shared', 'bob')]
  witness.sendUpdate(typed('before', 78))
  await witness.roundTrip()
  for (const update of shape('rightOriginsBackwards', rejected)) writer.sendUpdate(update)
  expect(await writer.closed).toMatchObject({ code: 4413, reason: expect.stringContaining('too expensive') })
  witness.sendUpdate(typed('after', 79))
  await witness.roundTrip()
  const again = await connect('shared', 'eve')
  again.sendVector(Uint8Array.of(0))
  await eventually(() => again.offers().length > 0)
  expect(contentOf(again.offers())).toContain('before')
  expect(contentOf(again.offers())).toContain('after')
  expect(textOf(again.offers())).toBe('')
  expect(await metric(server, 'weft_limit_hits_total{limit="integrationSteps"}')).toBe(1)
  for (const client of [witness, again]) client.end()
}, 60_000)

it('[ROOM-51] when a REST update would make its document too expensive, returns RESOURCE_EXHAUSTED with the limit, and changes nothing', async () => {
  const [update] = shape('rightOriginsBackwards', rejected)
  await server.post('/v2/crdt/add', { ...address('rest'), type: 'text', data: 'kept' })
  const { body: before } = await server.post('/v2/crdt/get', address('rest'))
  const answer = await server.post('/v2/crdt/apply', {
    ...address('rest'),
    update: Buffer.from(update as Uint8Array).toString('base64'),
  })
  expect(answer).toMatchObject({
    status: 429,
    body: {
      error: {
        status: 'RESOURCE_EXHAUSTED',
        details: { limit: 'integrationSteps', scope: 'document', value: expect.any(Number) },
      },
    },
  })
  expect((await server.post('/v2/crdt/get', address('rest'))).body).toEqual(before)
}, 60_000)

it('[ROOM-52] accepts an expensive update by REST, and clients can still edit the document', async () => {
  const [first, second] = shape('concurrentPrepends', accepted) as [Uint8Array, Uint8Array]
  await server.post('/v2/crdt/add', { ...address('rest'), type: 'text', data: 'kept' })
  for (const update of [first, second]) {
    const answer = await server.post('/v2/crdt/apply', {
      ...address('rest'),
      update: Buffer.from(update).toString('base64'),
    })
    expect(answer).toMatchObject({ status: 200 })
  }
  const editor = await connect('rest')
  editor.sendVector(Uint8Array.of(0))
  await eventually(() => editor.offers().length > 0)
  expect(textOf(editor.offers())).toBe(textOf([first, second]))
  editor.sendUpdate(typed('on', 5_000_000))
  await editor.roundTrip()
  editor.end()
})

/** Stores updates as an older server without a bound for steps did. */
async function store(documentId: string, updates: readonly Uint8Array[]): Promise<void> {
  await server.post('/v2/crdt/add', { ...address('template'), type: 'text', data: 'x' })
  const [known = []] = await engine.log.list([], { limit: 1 })
  const doc = known.map((segment) => (segment === 'template' ? documentId : segment))
  await engine.log.append(
    doc,
    'create',
    updates.map((bytes) => ({ bytes, by: 'ada' })),
  )
}

it('[ROOM-52] opens a stored document on a thread if the document is too expensive for the event loop', async () => {
  const updates = shape('rightOriginsBackwards', poisoned)
  await store('poisoned', updates)
  const answer = await server.post('/v2/crdt/get', {
    ...address('poisoned'),
    contentKey: 't',
    format: 'text',
  })
  expect(answer).toMatchObject({ status: 200 })
  expect(JSON.stringify(answer.body)).toContain(textOf(updates).slice(0, 1_000))
  expect(await metric(server, 'weft_documents_expensive')).toBe(1)
  const writer = await connect('poisoned')
  writer.sendVector(Uint8Array.of(0))
  await eventually(() => writer.offers().length > 0)
  writer.sendUpdate(typed('still edited', 78))
  await writer.roundTrip()
  const replaced = await server.post('/v2/crdt/update', {
    ...address('poisoned'),
    contentKey: 't',
    type: 'text',
    data: 'new',
  })
  expect(replaced).toMatchObject({ status: 200 })
  expect(writer.socket.readyState).toBe(writer.socket.OPEN)
  writer.end()
}, 60_000)

it('[ROOM-52] edits a large stored document by REST on a thread if it is too expensive for the event loop, and closes no socket', async () => {
  const large = typed('x'.repeat(150_000), 77)
  await store('closed', [Y.mergeUpdates([...shape('rightOriginsBackwards', poisoned), large])])
  const witness = await connect('closed')
  const edits = [{ insert: { at: 'end', content: 'edited' } }]
  const edited = await server.post('/v2/crdt/edit', { ...address('closed'), contentKey: 'content', edits })
  expect(edited).toMatchObject({ status: 200 })
  await Promise.race([witness.closed, witness.roundTrip()])
  expect(witness.socket.readyState).toBe(witness.socket.OPEN)
  witness.end()
}, 60_000)

it('[ROOM-52] when a client edits a stored expensive document, closes its socket at most once, and accepts its edits afterwards', async () => {
  await store('poisoned', shape('rightOriginsBackwards', poisoned))
  const first = await connect('poisoned')
  first.sendUpdate(typed('mine', 78))
  // Large enough that the server needs the document to check the update.
  first.sendUpdate(typed('x'.repeat(300), 79))
  for (let at = 0; at < 100; at += 1) first.sendUpdate(typed('k', 100 + at))
  await Promise.race([first.closed, first.roundTrip()])
  const second = await connect('poisoned')
  second.sendUpdate(typed('mine', 78))
  await second.roundTrip()
  expect(second.socket.readyState).toBe(second.socket.OPEN)
  for (const client of [first, second]) client.end()
}, 60_000)

it('[ROOM-52] when the first edit of a stored expensive document has a shared type, its sender may connect again', async () => {
  await store('poisoned', shape('rightOriginsBackwards', poisoned))
  const doc = new Y.Doc()
  doc.getMap('map').set('inner', new Y.Map())
  const edit = Y.encodeStateAsUpdate(doc)
  const first = await connect('poisoned')
  first.sendUpdate(edit)
  expect(await Promise.race([first.closed, first.roundTrip()])).not.toMatchObject({ code: 4400 })
  const second = await connect('poisoned')
  second.sendUpdate(edit)
  await second.roundTrip()
  expect(second.socket.readyState).toBe(second.socket.OPEN)
  for (const client of [first, second]) client.end()
}, 60_000)

it('[ROOM-53] loses none of the edits in a flood of expensive edits', async () => {
  const [neighbor, hostile] = [await connect('neighbor', 'bob'), await connect('flooded')]
  const updates = hostileUpdates.smallLongScans(20_000).slice(0, 301)
  for (const update of updates) hostile.sendUpdate(update)
  // On a slow machine, the flood exceeds the time of its client, which then offers everything again.
  void hostile.closed.then(async ({ code }) => {
    if (code !== 1013) return
    const again = await connect('flooded')
    again.sendUpdate(Y.mergeUpdates(updates))
  })
  neighbor.sendUpdate(typed('n', 79))
  await neighbor.roundTrip()
  const witness = await connect('flooded', 'eve')
  await eventually(
    () => {
      witness.sendVector(Uint8Array.of(0))
      const received = [...witness.offers(), ...witness.updates()]
      if (received.length === 0) return false
      const clocks = Y.decodeStateVector(Y.encodeStateVectorFromUpdate(Y.mergeUpdates(received)))
      return clocks.get(9) === updates.length - 1
    },
    () => 'all updates',
    50_000,
  )
  for (const client of [neighbor, hostile, witness]) client.end()
}, 60_000)

it('[UPD-28] if a state vector lists far more clients than the document has, closes the sender with 4400', async () => {
  const [few, many] = [await connect('vectors', 'ada'), await connect('vectors', 'eve')]
  const vector = (clients: number): Uint8Array =>
    writeStateVector(new Map(Array.from({ length: clients }, (_, client) => [client + 1, 1])))
  few.sendVector(vector(20_000))
  await few.roundTrip()
  many.sendVector(vector(20_001))
  expect(await many.closed).toMatchObject({ code: 4400 })
  few.end()
})

it('[ROOM-50] deletes a large list of nested types on a thread, and sends the remaining content to new clients', async () => {
  const [writer, witness] = [await connect('lists'), await connect('lists', 'bob')]
  const source = new Y.Doc()
  const [doomed, kept] = [new Y.Array<Y.Map<number>>(), source.getText('t')]
  source.getMap('m').set('list', doomed)
  doomed.push(Array.from({ length: 6_000 }, (_, at) => new Y.Map([['at', at]])))
  kept.insert(0, 'kept')
  const before = Y.encodeStateVector(source)
  const added = Y.encodeStateAsUpdate(source)
  writer.sendUpdate(added)
  await writer.roundTrip()
  source.getMap('m').delete('list')
  const deletion = Y.encodeStateAsUpdate(source, before)
  writer.sendUpdate(deletion)
  await eventually(() => witness.updates().length >= 2)
  expect(await metric(server, 'weft_thread_jobs_total{purpose="change",outcome="done"}')).toBeGreaterThan(0)
  const joining = await connect('lists', 'eve')
  joining.sendVector(Uint8Array.of(0))
  // The offer may be followed by the updates that the server has not merged into it yet.
  for (const received of [() => witness.updates(), () => [...joining.offers(), ...joining.updates()]]) {
    const doc = new Y.Doc()
    await eventually(() => {
      for (const update of received()) Y.applyUpdate(doc, update)
      return doc.getMap('m').size === 0 && doc.getText('t').length > 0
    })
    expect(doc.getText('t').toJSON()).toBe('kept')
  }
  writer.sendUpdate(typed('after', 99))
  await writer.roundTrip()
  for (const client of [writer, witness, joining]) client.end()
})
