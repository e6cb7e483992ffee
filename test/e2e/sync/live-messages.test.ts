import * as decoding from 'lib0/decoding'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  eventually,
  message,
  type ProviderVersion,
  RawClient,
  syncedEditor,
} from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const live = 110

let server: TestServer
let token: string
let documents = 0

beforeAll(async () => {
  server = await startTestServer({ sendBufferBytes: 65_536 })
  token = await server.token('ada')
})

afterAll(() => server.stop())

async function newDocument(): Promise<string> {
  const documentId = `live-${++documents}`
  const data = { organizationId: 'acme', documents: [{ documentId }], createOrganization: true }
  dataOf(await server.post('/v2/organizations/documents/add', data))
  return documentId
}

async function broadcast(documentId: string, data: object): Promise<unknown> {
  return dataOf(await server.post('/v2/livestate/broadcast', { organizationId: 'acme', documentId, ...data }))
}

/** A client after its handshake. @param query for example `&live=1` */
async function connect(path: string, query = '&live=1', by = token): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/${path}?token=${by}${query}`)
  await client.roundTrip()
  return client
}

const told = (client: RawClient): unknown[] =>
  client.bodies(live).map((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as unknown)
const reach = (delivered: number, missed = 0) => ({ success: true, delivered, missed })
const endAll = (...clients: RawClient[]): void => {
  for (const client of clients) client.end()
}

it('[LIVE-1] delivers a broadcast to a message handler of stock clients of every version', async () => {
  const documentId = await newDocument()
  const versions: readonly ProviderVersion[] = [1, 2, 3]
  const heard: unknown[] = []
  const editors = await Promise.all(
    versions.map(async (version) => {
      const options = { version, parameters: { live: '1' } }
      const editor = await syncedEditor(server.wsUrl, `acme/${documentId}/main`, token, options)
      editor.provider.messageHandlers[live] = (_encoder, decoder) => {
        heard.push([version, JSON.parse(decoding.readVarString(decoder))])
      }
      return editor
    }),
  )
  const said = { event: 'build.finished', data: { build: 7, by: 'Ada 😀' } }
  expect(await broadcast(documentId, said)).toEqual(reach(3))
  await eventually(() => heard.length === 3)
  expect(heard.toSorted()).toEqual(versions.map((version) => [version, said]))
  // The editors continue as before.
  editors[0]?.text.insert(0, 'hello')
  await eventually(() => editors.every(({ text }) => text.toString() === 'hello'))
  for (const editor of editors) editor.close()
})

it('[LIVE-1] sends no live message to a client without live=1', async () => {
  const documentId = await newDocument()
  const path = `${documentId}/main`
  const queries = ['', '&live=0', '&live', '&live=true', '&LIVE=1']
  const plain = await Promise.all(queries.map((query) => connect(path, query)))
  const listener = await connect(path)
  const before = plain.map(({ received }) => received.length)
  for (let round = 0; round < 5; round++)
    expect(await broadcast(documentId, { event: 'secret' })).toEqual(reach(1))
  await eventually(() => told(listener).length === 5)
  for (const client of plain) await client.roundTrip()
  // The client received nothing but the answer to its round trip.
  expect(plain.map(({ received }) => received.length)).toEqual(before.map((count) => count + 1))
  for (const { received } of plain) {
    expect(received.filter(([type]) => type === live)).toEqual([])
    expect(received.some((bytes) => Buffer.from(bytes).includes('secret'))).toBe(false)
  }
  endAll(listener, ...plain)
})

it('[LIVE-3] sends a live message as type 110, the length, and the given event and data as JSON in UTF-8', async () => {
  const documentId = await newDocument()
  const client = await connect(`${documentId}/main`)
  await broadcast(documentId, { event: 'é' })
  await eventually(() => client.bodies(live).length === 1)
  const text = new TextEncoder().encode('{"event":"é","data":null}')
  expect(client.received.at(-1)).toEqual(Uint8Array.of(110, text.length, ...text))
  const data: unknown[] = [0, '', false, [], { b: 1, a: [null] }, '\u0000\ud800😀', 'x'.repeat(65_534)]
  data.push(JSON.parse('{"__proto__":{"a":1},"constructor":2}'))
  for (const each of data) await broadcast(documentId, { event: 'any', data: each })
  await eventually(() => told(client).length === data.length + 1)
  const shown = (all: readonly unknown[]) => all.map((each) => JSON.stringify(each))
  expect(shown(told(client).slice(1))).toEqual(shown(data.map((each) => ({ event: 'any', data: each }))))
  client.end()
})

it('[LIVE-4] sends a live message to all editors of a document or to one editor, also to viewers, and to no other client', async () => {
  const [documentId, other] = [await newDocument(), await newDocument()]
  const resource = { type: 'document', id: documentId, organizationId: 'acme', accessRole: 'viewer' } as const
  const viewerToken = await server.token('vic', { resources: [resource] })
  const content = { type: 'text', data: 'notes' }
  dataOf(
    await server.post('/v2/crdt/add', { organizationId: 'acme', documentId, editorId: 'notes', ...content }),
  )
  const main = await connect(`${documentId}/main`)
  const viewer = await connect(`${documentId}/notes`, '&live=1', viewerToken)
  const elsewhere = await connect(`${other}/main`)
  expect(await broadcast(documentId, { event: 'all' })).toEqual(reach(2))
  expect(await broadcast(documentId, { event: 'notes', editorId: 'notes' })).toEqual(reach(1))
  expect(await broadcast(documentId, { event: 'none', editorId: 'nobody' })).toEqual(reach(0))
  for (const client of [main, viewer, elsewhere]) await client.roundTrip()
  const eventsOf = (client: RawClient) => told(client).map((each) => (each as { event: string }).event)
  expect([main, viewer, elsewhere].map(eventsOf)).toEqual([['all'], ['all', 'notes'], []])
  endAll(main, viewer, elsewhere)
})

it('[LIVE-5] sends the messages to each client in the order of the calls', async () => {
  const documentId = await newDocument()
  const clients = [await connect(`${documentId}/a`), await connect(`${documentId}/b`)]
  const numbers = Array.from({ length: 200 }, (_, index) => index)
  for (const data of numbers) await broadcast(documentId, { event: 'count', data })
  await eventually(() => clients.every((client) => told(client).length === numbers.length))
  for (const client of clients)
    expect(told(client)).toEqual(numbers.map((data) => ({ event: 'count', data })))
  endAll(...clients)
})

it('[LIVE-6] skips and counts messages for a slow reader, and sends the next message when the reader has caught up', async () => {
  const documentId = await newDocument()
  const [slow, quick] = [await connect(`${documentId}/main`), await connect(`${documentId}/main`)]
  slow.socket.pause()
  const answers: { delivered: number; missed: number }[] = []
  const say = async (event: string, data: unknown = null) => {
    answers.push((await broadcast(documentId, { event, data })) as { delivered: number; missed: number })
    return answers.at(-1)
  }
  const large = 'x'.repeat(60_000)
  while ((await say('filling', large))?.missed === 0) expect(answers.length).toBeLessThan(2_000)
  expect(await say('missed')).toEqual(reach(1, 1))
  await eventually(() => told(quick).length === answers.length)
  slow.socket.resume()
  await eventually(async () => (await say('heard'))?.missed === 0)
  await eventually(() => told(slow).some((each) => (each as { event: string }).event === 'heard'))
  expect(JSON.stringify(told(slow))).not.toContain('missed')
  const sent = answers.filter(({ delivered }) => delivered === 2).length
  await slow.roundTrip()
  expect(told(slow)).toHaveLength(sent)
  endAll(slow, quick)
})

it.each(['', '&live=1'])('[LIVE-8] closes a client that tries to send a live message (%s)', async (query) => {
  const documentId = await newDocument()
  const [liar, witness] = [await connect(`${documentId}/main`, query), await connect(`${documentId}/main`)]
  liar.send(message([live], new TextEncoder().encode('{"event":"forged","data":1}')))
  expect(await liar.closed).toMatchObject({ code: 4400 })
  await witness.roundTrip()
  expect(told(witness)).toEqual([])
  await eventually(async () => {
    const { delivered } = (await broadcast(documentId, { event: 'next' })) as { delivered: number }
    return delivered === 1
  })
  witness.end()
})

it('[LIVE-9] sends no live message to a client that has left or that has lost its right', async () => {
  const documentId = await newDocument()
  const resource = { type: 'document', id: documentId, organizationId: 'acme', accessRole: 'editor' } as const
  const [gone, out] = [
    await connect(`${documentId}/main`),
    await connect(`${documentId}/main`, '&live=1', await server.token('eve', { resources: [resource] })),
  ]
  gone.end()
  const data = { organizationId: 'acme', documentIds: [documentId], accessType: 'restricted' }
  dataOf(await server.post('/v2/organizations/documents/access/update', data))
  expect(await out.closed).toMatchObject({ code: 4403 })
  await eventually(async () => {
    const { delivered } = (await broadcast(documentId, { event: 'secret' })) as { delivered: number }
    return delivered === 0
  })
  expect(told(out)).toEqual([])
})
