import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { contentOf, eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

let server: TestServer
let token: string
let documents = 0
const newPath = (): string => `acme/room-${++documents}/main`
const connect = (path: string): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/${path}?token=${token}`)

beforeAll(async () => {
  server = await startTestServer({
    engine: 'level',
    idleUnloadSeconds: 0,
    maxDocumentBytes: 4_000_000,
    maxMessageBytes: 1_000_000,
    compactAfterUpdates: 50,
    sendBufferBytes: 262_144,
    maxConnections: 12,
  })
  token = await server.token('ada')
})

afterAll(() => server.stop())

/** Applies each update that the client has received once, and returns whether the document is as wanted. */
function followed(client: RawClient, isWanted: (seen: Y.Doc) => boolean): () => boolean {
  const seen = new Y.Doc()
  let [offers, updates] = [0, 0]
  return () => {
    const received = [...client.offers().slice(offers), ...client.updates().slice(updates)]
    offers = client.offers().length
    updates = client.updates().length
    for (const update of received) Y.applyUpdate(seen, update)
    return isWanted(seen)
  }
}

it('[ROOM-1] keeps a limited backlog for a reader that stops, and later sends all missed updates as one difference', async () => {
  const path = newPath()
  const [writer, reader, witness] = [await connect(path), await connect(path), await connect(path)]
  await Promise.all([writer.roundTrip(), reader.roundTrip(), witness.roundTrip()])
  reader.socket.pause()
  const doc = new Y.Doc()
  const map = doc.getMap<string>('map')
  let sent = 0
  doc.on('update', (update: Uint8Array) => {
    sent += 1
    writer.sendUpdate(update)
  })
  // Sets the same key 600 times: the server sends 30 MB while the document stays small.
  for (let round = 0; round < 600; round++) {
    map.set('key', `${round} ${'x'.repeat(50_000)}`)
    if (round % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await eventually(followed(witness, (seen) => seen.getMap('map').get('key') === map.get('key')))
  expect(await metric(server, 'weft_slow_clients')).toBe(1)
  reader.socket.resume()
  await eventually(followed(reader, (seen) => seen.getMap('map').get('key') === map.get('key')))
  expect(reader.updates().length).toBeLessThan(sent / 2)
  expect(await metric(server, 'weft_slow_clients')).toBe(0)
  const next = typed('on time again', 3)
  writer.sendUpdate(next)
  await eventually(() => Buffer.compare(reader.updates().at(-1) ?? next, next) === 0)
  for (const client of [writer, reader, witness]) client.end()
})

it('[ROOM-2] closes idle rooms, frees their memory, and opens them again from the log', async () => {
  const paths = Array.from({ length: 10 }, newPath)
  for (const [index, path] of paths.entries()) {
    const client = await connect(path)
    client.sendUpdate(typed(`room ${index}`, 1))
    await client.roundTrip()
    client.end()
  }
  await eventually(async () => (await metric(server, 'weft_rooms_open')) === 0)
  const client = await connect(paths[7] as string)
  await client.roundTrip()
  expect(contentOf(client.offers())).toBe('room 7')
  client.end()
})

it('[ROOM-3] compacts long logs without loss of content, and opens a document from a single snapshot', async () => {
  const path = newPath()
  const editor = await syncedEditor(server.wsUrl, path, token)
  for (let index = 0; index < times(1_000, 3_000); index++) {
    editor.text.insert(editor.text.length, `${index % 10}`)
    if (index % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const expected = editor.text.toString()
  const reader = await syncedEditor(server.wsUrl, path, token)
  await eventually(() => reader.text.toString() === expected)
  for (const each of [editor, reader]) each.close()
  await eventually(async () => (await metric(server, 'weft_rooms_open')) === 0)
  const again = await syncedEditor(server.wsUrl, path, token)
  expect(again.text.toString()).toBe(expected)
  again.close()
})

it('[ROOM-72] encodes a large document in slices for clients that join while others edit, and loses no update', async () => {
  const path = newPath()
  const editor = await syncedEditor(server.wsUrl, path, token)
  for (const part of ['a', 'b', 'c']) editor.text.insert(0, part.repeat(700_000))
  const typing = setInterval(() => editor.text.insert(0, 'x'), 2)
  const readers = await Promise.all(Array.from({ length: 4 }, () => syncedEditor(server.wsUrl, path, token)))
  readers[0]?.text.insert(0, 'y')
  clearInterval(typing)
  await eventually(() => editor.text.toString().includes('y'))
  const expected = editor.text.toString()
  await eventually(() => readers.every(({ text }) => text.length === expected.length))
  expect(readers.map(({ text }) => text.toString() === expected)).toEqual([true, true, true, true])
  for (const each of [editor, ...readers]) each.close()
  await eventually(async () => (await metric(server, 'weft_rooms_open')) === 0)
  const again = await syncedEditor(server.wsUrl, path, token)
  expect(again.text.toString() === expected).toBe(true)
  again.close()
})

it('[ROOM-4] if a message is too large, or an update makes the document too large, closes the sender with 4413', async () => {
  const path = newPath()
  const big = await connect(path)
  big.sendUpdate(typed('x'.repeat(1_100_000), 1))
  expect(await big.closed).toMatchObject({ code: 4413, reason: 'message larger than 1000000 bytes' })
  const witness = await connect(path)
  await witness.roundTrip()
  expect(contentOf(witness.offers())).toBe('')
  const filler = await connect(path)
  for (let client = 1; client <= 5; client++) filler.sendUpdate(typed('y'.repeat(900_000), client))
  expect(await filler.closed).toMatchObject({ code: 4413, reason: expect.stringContaining('4000000') })
  await eventually(() => contentOf(witness.updates()).length === 3_600_000)
  witness.end()
})

it('[LIM-1] closes connections beyond the limit with 1013, and accepts new ones when others disconnect', async () => {
  const path = newPath()
  const clients = await Promise.all(Array.from({ length: 12 }, () => connect(path)))
  const refused = await connect(path)
  expect(await refused.closed).toMatchObject({
    code: 1013,
    reason: 'too many connections: maxConnections is 12',
  })
  for (const client of clients) client.end()
  await eventually(async () => (await metric(server, 'weft_connections')) === 0)
  const welcome = await connect(path)
  await welcome.roundTrip()
  welcome.end()
})

it('[ROOM-6] when an update nests types too deeply, closes its sender with 4400, and keeps the room open', async () => {
  const path = newPath()
  const witness = await connect(path)
  const doc = new Y.Doc()
  doc.transact(() => {
    let array = doc.getArray<unknown>('root')
    for (let level = 0; level < 2_000; level++) {
      const inner = new Y.Array<unknown>()
      array.insert(0, [inner])
      array = inner
    }
  })
  const hostile = await connect(path)
  hostile.sendUpdate(Y.encodeStateAsUpdate(doc))
  expect(await hostile.closed).toMatchObject({ code: 4400, reason: expect.stringContaining('nested') })
  const offering = await connect(path)
  offering.sendOffer(Y.encodeStateAsUpdate(doc))
  expect(await offering.closed).toMatchObject({ code: 4400 })
  const polite = await connect(path)
  polite.sendUpdate(typed('still here', 9))
  await eventually(() => contentOf(witness.updates()) === 'still here')
  for (const client of [witness, polite]) client.end()
})
