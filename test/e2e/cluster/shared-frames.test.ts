import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { ForwardSigner, forwardedHeader } from '../../../src/core/forwarding/forward-signer.ts'
import { frameHeaderBytes, framePayloadBytes } from '../../../src/core/sync/protocols/frame.ts'
import { sharedFramesPath } from '../../../src/core/sync/socket/shared-frames.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { connectionsOf, documentOf, forwardedBy, pathOf } from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'

let cluster: TestCluster
const opened: { close(): void }[] = []

afterEach(async () => {
  for (const client of opened.splice(0)) client.close()
  await cluster.stop()
})

type Ids = ReturnType<typeof documentOf>

const server = (index: number): TestServer => cluster.servers[index] as TestServer

async function rawAt(index: number, ids: Ids, userId: string, parameters = ''): Promise<RawClient> {
  const url = await urlAt(index, ids, userId)
  const client = await RawClient.connect(`${url}${parameters}`)
  opened.push({ close: () => client.end() })
  await client.roundTrip()
  return client
}

const urlAt = async (index: number, ids: Ids, userId: string): Promise<string> =>
  `${server(index).wsUrl}/sync/${pathOf(ids)}?token=${await server(index).token(userId)}`

/** Opens several websockets at the first node for a document of the second, and waits until they take shared frames. */
async function readersOf(ids: Ids, count: number): Promise<RawClient[]> {
  const readers = await Promise.all(Array.from({ length: count }, (_, at) => rawAt(0, ids, `reader-${at}`)))
  await eventually(async () => (await forwardedBy(server(0), 'frames')) > 0)
  for (const reader of readers) await reader.roundTrip()
  return readers
}

const textOf = (client: RawClient): string => contentOf([...client.offers(), ...client.updates()])

const passedBytes = (): Promise<number> =>
  metric(server(0), 'weft_forwarded_bytes_total{direction="response"}')

it('[FW-12] sends the updates and awareness states of a large document once to each node', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const readers = await readersOf(ids, 12)
  const writer = await rawAt(1, ids, 'writer')
  const before = await passedBytes()
  for (let client = 1; client <= 20; client++) {
    writer.sendUpdate(typed('x'.repeat(10_000), client))
    await writer.roundTrip()
  }
  writer.sendAwareness(7, 1, { name: 'writer' })
  await eventually(() => readers.every((reader) => textOf(reader).length === 200_000))
  await eventually(() => readers.every((reader) => reader.awareness().some(({ clientId }) => clientId === 7)))
  expect((await passedBytes()) - before).toBeLessThan(400_000)
})

it('[FW-12] gives clients of one node the changes of each other, and not their own', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const readers = await readersOf(ids, 5)
  for (const [at, reader] of readers.entries()) reader.sendUpdate(typed(`${at}`, at + 1))
  await eventually(() => readers.every((reader) => contentOf(reader.updates()).length === 4))
  for (const [at, reader] of readers.entries()) expect(contentOf(reader.updates())).not.toContain(`${at}`)
})

it('[FW-12] sends shared frames between the messages of a websocket, never inside', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [reader] = (await readersOf(ids, 4)) as [RawClient]
  const writer = await rawAt(1, ids, 'writer')
  for (let client = 1; client <= 12; client++) writer.sendUpdate(typed('x'.repeat(1_000_000), client))
  await eventually(() => contentOf(reader.updates()).length === 12_000_000)
  const before = await passedBytes()
  reader.socket.pause()
  reader.sendVector(Uint8Array.of(0))
  // The reply is larger than what the operating system keeps, so a part of it waits.
  await eventually(async () => (await passedBytes()) - before > 1_000_000)
  for (let client = 13; client <= 20; client++) {
    writer.sendUpdate(typed('y', client))
    await writer.roundTrip()
  }
  reader.socket.resume()
  await eventually(() => contentOf(reader.offers()).length === 12_000_000)
  await eventually(() => contentOf(reader.updates()).length === 12_000_008)
})

it('[FW-12] a client that does not read loses nothing, and the others do not wait', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [slow, ...others] = (await readersOf(ids, 5)) as [RawClient, ...RawClient[]]
  const writer = await rawAt(1, ids, 'writer')
  slow.socket.pause()
  let count = 0
  const isBehind = async (): Promise<boolean> => (await metric(server(1), 'weft_slow_clients')) === 1
  const write = async (): Promise<void> => {
    writer.sendUpdate(typed('x'.repeat(100_000), ++count))
    await eventually(() => others.every((reader) => reader.updates().length === count))
  }
  for (let first = 0; first < 300 && !(await isBehind()); first++) await write()
  for (let more = 0; more < 5; more++) await write()
  expect(await isBehind()).toBe(true)
  slow.socket.resume()
  await eventually(async () => !(await isBehind()))
  writer.sendUpdate(typed('end', ++count))
  await eventually(() => slow.updates().at(-1)?.length === typed('end', count).length)
  expect(slow.updates().length).toBeLessThan(count)
  for (const reader of [slow, ...others])
    expect(contentOf(reader.updates())).toHaveLength((count - 1) * 100_000 + 3)
})

it('[FW-12] a client that does not read takes no shared frames again because others come and go', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const [slow, other, third] = (await readersOf(ids, 4)) as [RawClient, RawClient, RawClient]
  const writer = await rawAt(1, ids, 'writer')
  slow.socket.pause()
  let count = 0
  const write = async (): Promise<void> => {
    writer.sendUpdate(typed('x'.repeat(100_000), ++count))
    await eventually(() => other.updates().length === count)
  }
  // More than the operating system keeps for the client, so that the node excludes it.
  for (let first = 0; first < 80; first++) await write()
  third.end()
  await third.closed
  await eventually(async () => (await connectionsOf(server(1), ids)).length === 4)
  await rawAt(0, ids, 'fourth')
  const isBehind = async (): Promise<boolean> => (await metric(server(1), 'weft_slow_clients')) === 1
  for (let more = 0; more < 200 && !(await isBehind()); more++) await write()
  expect(await isBehind()).toBe(true)
})

it('[FW-12] live messages keep their order when a client begins to take shared frames', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const slow = await rawAt(0, ids, 'slow', '&live=1')
  const others = [await rawAt(0, ids, 'other'), await rawAt(0, ids, 'third')]
  const writer = await rawAt(1, ids, 'writer')
  slow.socket.pause()
  for (let count = 1; count <= 80; count++) {
    writer.sendUpdate(typed('x'.repeat(100_000), count))
    await eventually(() => others.every((other) => other.updates().length === count))
  }
  const say = (event: string) => server(1).post('/v2/livestate/broadcast', { ...ids, event, data: event })
  await say('first')
  await rawAt(0, ids, 'fourth')
  await eventually(async () => (await forwardedBy(server(0), 'frames')) > 0)
  for (const other of others) await other.roundTrip()
  await say('second')
  slow.socket.resume()
  await eventually(() => slow.bodies(110).length === 2)
  expect(Buffer.from(slow.bodies(110)[0] ?? []).toString()).toContain('first')
})

it('[FW-13] closes the websockets with 1012 when the connection for shared frames is lost', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  const readers = await readersOf(ids, 4)
  const near = await rawAt(1, ids, 'near')
  const signer = new ForwardSigner(server(0).credentials.jwtSecret, null, systemClock)
  const header = signer.sign(
    { method: 'GET', url: sharedFramesPath, headers: {} },
    { node: 'node-1', clientAddress: '', tool: null, websocket: null },
  )
  // The owner uses the newest connection of a node only.
  const second = await RawClient.connect(`${server(1).wsUrl}${sharedFramesPath}`, {
    [forwardedHeader]: header,
  })
  opened.push({ close: () => second.end() })
  for (const reader of readers) expect((await reader.closed).code).toBe(1012)
  await near.roundTrip()
  const again = await readersOf(ids, 4)
  near.sendUpdate(typed('after', 1))
  await eventually(() => again.every((reader) => textOf(reader) === 'after'))
})

it('[FW-13] rejects clients that request shared frames', async () => {
  cluster = await startCluster(2)
  const token = await server(0).token('ada')
  const client = await RawClient.connect(`${server(0).wsUrl}${sharedFramesPath}?token=${token}`)
  expect((await client.closed).code).toBe(4400)
})

it('[FW-13] closes a websocket with one close frame when the owner stops', async () => {
  cluster = await startCluster(2)
  const ids = documentOf(cluster, 1)
  await readersOf(ids, 4)
  const url = new URL(await urlAt(0, ids, 'raw'))
  const received: Buffer[] = []
  const socket = connect(Number(url.port), url.hostname)
  opened.push({ close: () => socket.destroy() })
  const closed = once(socket, 'close')
  socket.on('data', (bytes: Buffer) => received.push(bytes))
  const key = Buffer.alloc(16).toString('base64')
  const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`
  socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: weft\r\n${upgrade}\r\n\r\n`)
  // This client does not reply to the close frame.
  await eventually(async () => (await connectionsOf(server(1), ids)).length === 5)
  await server(1).stop()
  await closed
  const bytes = Buffer.concat(received)
  const opcodes: number[] = []
  for (let at = bytes.indexOf('\r\n\r\n') + 4; at < bytes.length; ) {
    opcodes.push(bytes.readUInt8(at) & 0x0f)
    at += frameHeaderBytes(bytes.readUInt8(at + 1)) + framePayloadBytes(bytes, at)
  }
  expect(opcodes.filter((opcode) => opcode === 8)).toHaveLength(1)
  expect(opcodes.at(-1)).toBe(8)
})

it('[FW-13] an owner that does not recognize the node sends no shared frames, and closes no websocket', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-shared-frames-'))
  const nodes = await sharedNodes(2)
  // Statements of another node are valid for 30 s.
  const clocks = [systemClock, { ...systemClock, now: () => Date.now() + 60_000 }]
  const servers: TestServer[] = []
  for (const [index, { engine }] of nodes.entries())
    servers.push(await startTestServer({ dataDir: data }, { engine, clock: clocks[index] ?? systemClock }))
  const stop = async (): Promise<void> => {
    for (const each of servers) await each.stop()
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  }
  cluster = { servers, nodes, any: () => server(0), stop }
  const ids = documentOf(cluster, 1)
  const readers = await Promise.all(Array.from({ length: 5 }, (_, at) => rawAt(0, ids, `reader-${at}`)))
  // The owner closes what it does not know.
  await eventually(async () => (await metric(server(1), 'weft_connections_closed_total{code="4400"}')) === 1)
  const writer = await rawAt(1, ids, 'writer')
  writer.sendUpdate(typed('still here', 1))
  await eventually(() => readers.every((reader) => textOf(reader) === 'still here'))
  for (const reader of readers) await reader.roundTrip()
})
