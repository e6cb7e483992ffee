import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { connectionOf } from '../../support/clients/hocuspocus-frames.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

const MiB = 2 ** 20

let server: TestServer
const clients: RawClient[] = []
const sockets: Socket[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.terminate()
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
})

const start = async (...[overrides, given]: Parameters<typeof startTestServer>): Promise<void> => {
  const config = {
    adminToken,
    maxDocumentBytes: 16 * MiB,
    memoryBudgetBytes: 16 * MiB,
    ...overrides,
  }
  server = await startTestServer(config, given)
}

const held = (holder: string): Promise<number> => metric(server, `weft_memory_held_bytes{holder="${holder}"}`)
const heldMax = (holder: string): Promise<number> =>
  metric(server, `weft_memory_held_max_bytes{holder="${holder}"}`)
const hits = async (limit: string): Promise<number> =>
  (await metric(server, `weft_limit_hits_total{limit="${limit}"}`)) || 0
const updates = (): Promise<number> => metric(server, 'weft_updates_total{source="socket"}')

async function connect(token: string, documentId: string): Promise<RawClient> {
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`,
    {},
    { autoPong: false },
  )
  clients.push(client)
  return client
}

/** A document of `bytes` bytes that stays open. */
async function largeDocument(token: string, documentId: string, bytes: number): Promise<RawClient> {
  const writer = await connect(token, documentId)
  for (let written = 0, client = 1; written < bytes; written += MiB, client += 1)
    writer.sendUpdate(typed('x'.repeat(Math.min(MiB, bytes - written)), client))
  await writer.roundTrip()
  return writer
}

/** Requests the whole document, and then reads nothing. */
function askAndStop(client: RawClient): void {
  client.send(message([0, 0], Uint8Array.of(0)))
  connectionOf(client).pause()
}

const isOpen = ({ socket }: RawClient): boolean => socket.readyState === socket.OPEN

it('[LIM-27] limits the bytes that live clients have not read yet, and closes the clients with the most unread bytes', async () => {
  await start()
  const other = await otherWorkspace(server)
  const honest = await largeDocument(other.token, 'theirs', 3 * MiB)
  const token = await server.token('mallory')
  const writer = await largeDocument(token, 'plan', 12 * MiB)
  const held0 = await held('unread_sockets')
  expect(held0).toBeLessThan(MiB)
  let most = 0
  for (let reader = 0; reader < 8; reader += 1) {
    const client = await connect(token, 'plan')
    askAndStop(client)
    // An edit makes the next answer a different frame.
    const before = await updates()
    writer.sendUpdate(typed(`edit ${reader}`, 1_000 + reader))
    await eventually(async () => (await updates()) > before)
    most = Math.max(most, await held('unread_sockets'))
  }
  // The server does not answer a reader that waits for room.
  expect(most).toBeGreaterThan(5 * MiB)
  expect(most).toBeLessThanOrEqual(17 * MiB)
  const late = await connect(other.token, 'theirs')
  await late.roundTrip()
  await honest.roundTrip()
  expect([late, honest].every(isOpen)).toBe(true)
})

it('[LIM-27] counts an unread frame only once, even if several clients have not read it', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-unread-'))
  const options = { engine: 'level', dataDir: data } as const
  await start(options)
  const before = await largeDocument(await server.token('ada'), 'plan', 6 * MiB)
  before.end()
  await server.stop()
  await start(options)
  const token = await server.token('ada')
  // An opened document is kept as bytes until a client edits it: all readers get the same frame.
  const readers = await Promise.all(Array.from({ length: 6 }, () => connect(token, 'plan')))
  for (const client of readers) askAndStop(client)
  await eventually(async () => (await held('unread_sockets')) > 5 * MiB)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(await held('unread_sockets')).toBeLessThan(8 * MiB)
  expect(await hits('unreadMemoryPerWorkspace')).toBe(0)
  expect(readers.every(isOpen)).toBe(true)
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

it('[LIM-27] closes a client that does not read the sent data in time', async () => {
  await start({}, { transferTimeoutMs: 1_000 })
  const token = await server.token('ada')
  await largeDocument(token, 'plan', 8 * MiB)
  const stopped = await connect(token, 'plan')
  askAndStop(stopped)
  await eventually(async () => (await hits('transferTimeoutSeconds')) === 1)
  connectionOf(stopped).resume()
  expect((await stopped.closed).code).toBe(1006)
  await eventually(async () => (await held('unread_sockets')) === 0)
})

/** Requests a document by REST, and reads nothing of the response. */
async function askUnread(headers: Readonly<Record<string, string>>, documentId: string): Promise<Socket> {
  const socket = connectTcp(server.port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  const body = JSON.stringify({ data: { organizationId: 'acme', documentId, type: 'text' } })
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const fixed = ['host: a', 'content-type: application/json', `content-length: ${body.length}`]
  socket.write(['POST /v2/crdt/get HTTP/1.1', ...fixed, ...own, '', body].join('\r\n'))
  return socket
}

it('[LIM-28] limits unread responses, and closes the connections of the workspace that has the most unread bytes', async () => {
  await start()
  const other = await otherWorkspace(server)
  await largeDocument(other.token, 'theirs', 10 * MiB)
  await largeDocument(await server.token('mallory'), 'plan', 10 * MiB)
  const { apiKey, authToken } = server.credentials
  const own = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  const honest = await askUnread(other.headers, 'theirs')
  await eventually(async () => (await held('unread_responses')) > 3 * MiB)
  const hostile: Socket[] = []
  for (let call = 0; call < 8; call += 1) {
    hostile.push(await askUnread(own, 'plan'))
    expect(await held('unread_responses')).toBeLessThanOrEqual(await heldMax('unread_responses'))
  }
  await eventually(async () => (await hits('unreadMemoryPerWorkspace')) > 0)
  let received = 0
  honest.on('data', (chunk: Buffer) => (received += chunk.length))
  honest.resume()
  await eventually(() => received > 6 * MiB)
  for (const socket of hostile) socket.destroy()
  await eventually(async () => (await held('unread_responses')) === 0)
})

it('[LIM-28] closes a connection if its client does not read the response in time', async () => {
  await start({}, { transferTimeoutMs: 1_000 })
  await largeDocument(await server.token('ada'), 'plan', 10 * MiB)
  const { apiKey, authToken } = server.credentials
  await askUnread({ 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }, 'plan')
  await eventually(async () => (await held('unread_responses')) > 3 * MiB)
  await eventually(async () => (await hits('transferTimeoutSeconds')) === 1)
  await eventually(async () => (await held('unread_responses')) === 0)
})
