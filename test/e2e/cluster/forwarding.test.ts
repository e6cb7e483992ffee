import { createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../../src/clock.ts'
import { nodeUrlAt } from '../../../src/config/node-url.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { addressKey } from '../../../src/model/address.ts'
import { ForwardingSigner, forwardingHeader } from '../../../src/sync/nodes/forwarding-signature.ts'
import { type Editor, eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { metric, type TestServer } from '../../support/servers/server.ts'

const forwardToHomeNode = true
const opened: { close(): void }[] = []
let cluster: TestCluster

afterEach(async () => {
  for (const each of opened.splice(0)) each.close()
  await cluster.stop()
})

const server = (index: number): TestServer => cluster.servers[index] as TestServer
const engine = (index: number): Engine => (cluster.nodes[index] as { engine: Engine }).engine

const sealOf = (index: number): ForwardingSigner =>
  new ForwardingSigner([server(index).credentials.jwtSecret], systemClock)

/** A document that is at home at a node. */
function documentAt(index: number, prefix = 'doc'): string {
  const { workspaceId, apiKey } = server(0).credentials
  const { cluster: nodes } = engine(0)
  for (let count = 0; ; count++) {
    const documentId = `${prefix}-${count}`
    const key = addressKey({ workspaceId, apiKey, organizationId: 'acme', documentId, editorId: 'main' })
    if (nodes.home(key) === engine(index).cluster.self) return documentId
  }
}

async function editorOf(document: string, through: number, userId = 'ann'): Promise<Editor> {
  const { wsUrl, token } = server(through)
  const editor = await syncedEditor(wsUrl, `acme/${document}/main`, await token(userId))
  opened.push(editor)
  return editor
}

async function rawOf(document: string, through: number, headers = {}, userId = 'ann'): Promise<RawClient> {
  const { wsUrl, token } = server(through)
  const url = `${wsUrl}/sync/acme/${document}/main?token=${await token(userId)}`
  const client = await RawClient.connect(url, headers)
  opened.push({ close: () => client.end() })
  return client
}

const open = (index: number): Promise<number> => metric(server(index), 'weft_rooms_open')
const served = (index: number): Promise<number> =>
  metric(server(index), 'weft_connections{protocol="y-websocket"}').then((count) => count || 0)
const forwarded = (index: number): Promise<number> => metric(server(index), 'weft_connections_forwarded')

it('[CF-1] a websocket of a document is served by its home node, whichever node it comes to', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  const document = documentAt(1)
  const [ann, bob] = [await editorOf(document, 0), await editorOf(document, 1, 'bob')]
  expect([await open(0), await served(0), await forwarded(0)]).toEqual([0, 0, 1])
  expect([await open(1), await served(1), await forwarded(1)]).toEqual([1, 2, 0])
  ann.text.insert(0, 'a'.repeat(300_000))
  await eventually(() => bob.text.length === 300_000)
  bob.text.insert(0, 'b'.repeat(300_000))
  await eventually(() => ann.text.length === 600_000)
  expect(ann.text.toString()).toBe(bob.text.toString())
  ann.close()
  await eventually(async () => (await served(1)) === 1 && (await forwarded(0)) === 0)
})

it('[CF-1] nobody is passed on where that is not wanted', async () => {
  cluster = await startCluster(2)
  await editorOf(documentAt(1), 0)
  expect([await served(0), await served(1)]).toEqual([1, 0])
})

it('[CF-1] a document at home here, and sockets of many documents, stay here', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  await editorOf(documentAt(0), 0)
  expect([await served(0), await forwarded(0)]).toEqual([1, 0])
  const shared = new WebSocket(`${server(0).wsUrl}/hocuspocus`)
  opened.push({ close: () => shared.terminate() })
  await new Promise((resolve) => shared.once('open', resolve))
  expect(await forwarded(0)).toBe(0)
})

it('[CF-2] what the home node refuses is refused with its code and reason, at once and later', async () => {
  cluster = await startCluster(2, { forwardToHomeNode, createOnConnect: false })
  const document = documentAt(1)
  const refused = await rawOf(document, 0)
  expect(await refused.closed).toEqual({ code: 4404, reason: 'document not found' })
  const ids = { organizationId: 'acme', documentId: document, editorId: 'main' }
  await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: 'here' })
  const client = await rawOf(document, 0)
  await client.roundTrip()
  expect(await forwarded(0)).toBe(1)
  client.send(Uint8Array.of(0, 2, 3, 255, 255, 255))
  expect((await client.closed).code).toBe(4400)
  const editor = await rawOf(document, 0)
  await editor.roundTrip()
  await server(0).post('/v2/organizations/documents/delete', {
    organizationId: 'acme',
    documentIds: [document],
  })
  expect((await editor.closed).code).toBe(4404)
})

it('[CF-2] who shows a bad token is told so by the node he came to', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  const client = await RawClient.connect(`${server(0).wsUrl}/sync/acme/${documentAt(1)}/main?token=bad`)
  expect((await client.closed).code).toBe(4401)
})

it('[CF-3] whom the home node has no room for is served here', async () => {
  cluster = await startCluster(2, { forwardToHomeNode, maxConnections: 1 })
  const document = documentAt(1)
  const ann = await editorOf(document, 1)
  const bob = await editorOf(document, 0, 'bob')
  expect([await served(0), await served(1), await forwarded(0)]).toEqual([1, 1, 0])
  bob.text.insert(0, 'from elsewhere')
  await eventually(() => ann.text.toString() === 'from elsewhere')
})

it('[CF-3] so is whom the home node takes no notice of, or cannot hear', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  const deaf: Server = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => deaf.once('listening', resolve))
  const { port } = deaf.address() as { port: number }
  const { self } = engine(1).cluster
  // What it says first is taken.
  const url = Buffer.from(sealOf(0).sealUrl(self, `http://127.0.0.1:${port}`))
  const unsubscribe = engine(0).bus.subscribe(`address/${self}`, () => url)
  const document = documentAt(1)
  const ann = await editorOf(document, 0)
  expect([await served(0), await forwarded(0)]).toEqual([1, 0])
  unsubscribe()
  deaf.close()
  const bob = await editorOf(document, 1, 'bob')
  ann.text.insert(0, 'heard')
  await eventually(() => bob.text.toString() === 'heard')
})

it('[CF-15] where somebody else says that a node is, nobody is sent', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  let asked = 0
  const other: Server = createServer((connection) => {
    asked += 1
    connection.destroy()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const { self } = engine(1).cluster
  engine(0).bus.subscribe(`address/${self}`, () => Buffer.from(`http://127.0.0.1:${port}`))
  await editorOf(documentAt(1), 0)
  expect([await served(0), await forwarded(0), asked]).toEqual([1, 0, 0])
  other.close()
})

it('[CF-4] who says that a node has sent him, and none has, is refused', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  const status = (headers: Record<string, string>, through: number) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${server(through).wsUrl}/sync/acme/${documentAt(1)}/main`, { headers })
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
      socket.on('error', () => {})
    })
  const sealed = `${Date.now()}.MS4yLjMuNA.${'A'.repeat(43)}`
  for (const through of [0, 1]) expect(await status({ [forwardingHeader]: sealed }, through)).toBe(401)
  expect(await status({ [forwardingHeader]: '' }, 0)).toBe(401)
})

it('[CF-5] limits of an address count clients where they are, at both nodes', async () => {
  cluster = await startCluster(2, { forwardToHomeNode, trustProxy: 1, maxConnectionsPerAddress: 1 })
  const document = documentAt(1)
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const first = await rawOf(document, 0, from('192.0.2.1'))
  const second = await rawOf(document, 0, from('192.0.2.2'))
  await Promise.all([first.roundTrip(), second.roundTrip()])
  expect(await forwarded(0)).toBe(2)
  expect((await (await rawOf(document, 0, from('192.0.2.1'))).closed).code).toBe(1013)
  expect((await (await rawOf(document, 1, from('192.0.2.2'))).closed).code).toBe(1013)
  first.end()
  await eventually(async () => (await forwarded(0)) === 1 && (await served(1)) === 1)
  await (await rawOf(document, 1, from('192.0.2.1'))).roundTrip()
})

it('[CF-7] whoever is passed on by a node that stops is told 1012 there, and is gone at the home node', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  const document = documentAt(1)
  const [ann, bob] = [await rawOf(document, 0), await rawOf(document, 1, {}, 'bob')]
  ann.sendAwareness(7, 1, { user: { name: 'Ann' } })
  await Promise.all([ann.roundTrip(), bob.roundTrip()])
  await eventually(() => bob.awareness().some(({ clientId, state }) => clientId === 7 && state !== null))
  const stopped = server(0).server.close()
  expect(await ann.closed).toMatchObject({ code: 1012, reason: 'the server is restarting' })
  await eventually(() => bob.awareness().some(({ clientId, state }) => clientId === 7 && state === null))
  await stopped
})

it('[CF-8] where the home node goes clients go on elsewhere, also where it ends without a word', async () => {
  cluster = await startCluster(3, { forwardToHomeNode })
  const document = documentAt(1)
  const [ann, bob] = [await editorOf(document, 0), await editorOf(document, 2, 'bob')]
  expect([await forwarded(0), await forwarded(2)]).toEqual([1, 1])
  ann.text.insert(0, 'before. ')
  await eventually(() => bob.text.toString() === 'before. ')
  const codes: (number | undefined)[] = []
  for (const { provider } of [ann, bob]) provider.on('connection-close', (event) => codes.push(event?.code))
  cluster.nodes[1]?.cut()
  await eventually(() => codes.length === 2)
  expect(codes).toEqual([1012, 1012])
  bob.text.insert(0, 'after. ')
  await eventually(() => ann.text.toString() === 'after. before. ')
  expect(await served(1)).toBe(0)
})

it('[CF-16] whoever came through a node that has stopped dead is gone at its home as soon as that node is', async () => {
  cluster = await startCluster(2, { forwardToHomeNode })
  const [from, to] = [engine(0).cluster.self, engine(1).cluster.self]
  const document = documentAt(1)
  const bob = await rawOf(document, 1, {}, 'bob')
  const url = `/sync/acme/${document}/main?token=${await server(1).token('ann')}`
  // As that node would pass her on, and then nobody would answer.
  const hop = sealOf(0).seal({ to, url }, { from, address: '192.0.2.1' })
  const ann = await RawClient.connect(server(1).wsUrl + url, { [forwardingHeader]: hop })
  opened.push({ close: () => ann.end() })
  ann.sendAwareness(7, 1, { user: { name: 'Ann' } })
  await ann.roundTrip()
  await eventually(() => bob.awareness().some(({ clientId, state }) => clientId === 7 && state !== null))
  ann.socket.pause()
  cluster.nodes[0]?.cut()
  await eventually(() => bob.awareness().some(({ clientId, state }) => clientId === 7 && state === null))
  expect(await served(1)).toBe(1)
  // Where it is only the others who cannot hear it, it has her come back.
  ann.socket.resume()
  expect((await ann.closed).code).toBe(1012)
})

it('[CF-6] a node says where it is: as it is told, or as what it listens on', async () => {
  const nodeUrl = 'https://one.internal:8443'
  cluster = await startCluster(2, { forwardToHomeNode, nodeUrl })
  const said = await engine(0).bus.request(`address/${engine(1).cluster.self}`, new Uint8Array(), 1000)
  const { self } = engine(1).cluster
  expect(sealOf(0).readUrl(self, Buffer.from(said ?? []).toString())?.origin).toBe(nodeUrl)
  expect(nodeUrlAt('192.0.2.7', 8787)).toBe('http://192.0.2.7:8787')
  expect(nodeUrlAt('2001:db8::7', 8787)).toBe('http://[2001:db8::7]:8787')
  expect(nodeUrlAt('0.0.0.0', 8787)).toBe(`http://${hostname()}:8787`)
})
