import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Config } from '../../../src/core/config/config.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import type { ServerOverrides } from '../../../src/server/server.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

const address = { organizationId: 'acme', documentId: 'ends', editorId: 'main' }
const elsewhere =
  'GET /elsewhere HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

let server: TestServer
let token: string
let stopped = false
const connect = (): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/ends/main?token=${token}`)
const add = (data: string) => server.post('/v2/crdt/add', { ...address, type: 'text', data })
const remove = () => server.post('/v2/crdt/delete', { ...address, editorId: undefined })

async function start(overrides: Partial<Config>, given: ServerOverrides = {}): Promise<void> {
  stopped = false
  server = await startTestServer(overrides, given)
  token = await server.token('ada')
}

afterEach(() => (stopped ? undefined : server.stop()))

it('[ORG-9] when a document is deleted while sockets wait for it to load, closes them with 4404', async () => {
  let gate: Promise<void> | null = null
  let open = (): void => {}
  let waiting = 0
  const engine = withLog(await openMemoryEngine(), (log) => ({
    load: async (...parameters) => {
      const loaded = await log.load(...parameters)
      waiting += 1
      await gate
      return loaded
    },
  }))
  await start({ idleUnloadSeconds: 0 }, { engine })
  await add('first life')
  await eventually(async () => (await metric(server, 'weft_rooms_open')) === 0)
  waiting = 0
  gate = new Promise((resolve) => {
    open = resolve
  })
  const clients = [await connect(), await connect()]
  await eventually(() => waiting > 0)
  const removal = remove()
  // The deletion has been read when later requests have been answered.
  for (let round = 0; round < 3; round++) await metric(server, 'weft_rooms_open')
  open()
  gate = null
  expect((await removal).status).toBe(200)
  for (const client of clients) expect(await client.closed).toMatchObject({ code: 4404 })
  await add('second life')
  const late = await connect()
  await late.roundTrip()
  expect(contentOf(late.offers())).toBe('second life')
  late.end()
})

interface HalfOpen {
  readonly socket: Socket
  readonly text: () => string
  readonly ended: () => boolean
}

/** A client that never closes its side of the connection. */
function halfOpen(port: number, request: string): HalfOpen {
  const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  let ended = false
  socket.on('error', () => {})
  socket.on('end', () => {
    ended = true
  })
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write(request)
  return { socket, text: () => text, ended: () => ended }
}

it('[SYNC-21] answers an upgrade to another path with 404, closes the connection even if it is half-open, and does not delay a stop', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weft-elsewhere-'))
  // A stop that waited for a client would exceed the time of the test.
  await start({ shutdownSeconds: 600 }, { engine: await openLevelEngine({ directory }) })
  const clients = Array.from({ length: 10 }, () => halfOpen(server.port, elsewhere))
  await eventually(() => clients.every(({ ended }) => ended()))
  for (const { text } of clients) expect(text()).toMatch(/^HTTP\/1\.1 404 .*"NOT_FOUND"/s)
  // Only a connection that is closed on both sides rejects written bytes.
  await eventually(() => {
    for (const { socket } of clients) if (!socket.destroyed) socket.write('x')
    return clients.every(({ socket }) => socket.destroyed)
  })
  const last = halfOpen(server.port, elsewhere)
  await eventually(() => last.text().includes('404'))
  await server.stop()
  stopped = true
  const again = await openLevelEngine({ directory })
  await again.close()
  last.socket.destroy()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

it('[LIM-9] reads at most 64 KB from a rejected socket', async () => {
  await start({})
  const send = (path: string, bytes: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${server.wsUrl}${path}`)
      socket.on('error', () => {})
      socket.on('open', () => socket.send(Buffer.alloc(bytes)))
      socket.on('close', () => resolve())
    })
  const closedAs = (code: number) => metric(server, `weft_connections_closed_total{code="${code}"}`)
  await send('/sync/bad', 60_000)
  await eventually(async () => (await closedAs(4400)) === 1)
  await send('/sync/bad', 100_000)
  await send('/sync/acme/ends/main?token=bad', 100_000)
  // Terminated: the server no longer reads its answer to the close frame.
  await eventually(async () => (await closedAs(1006)) === 2)
  const polite = await connect()
  polite.sendUpdate(typed('x'.repeat(100_000), 1))
  await polite.roundTrip()
  polite.end()
})

it('[SYNC-23] when a deletion fails, keeps the document, and keeps its sockets open or closes them with 1013', async () => {
  let disk: 'full' | 'fine' = 'full'
  const engine = withLog(await openMemoryEngine(), (log) => ({
    destroy: async (doc) => {
      if (disk === 'full') throw new StoreUnavailableError('disk full')
      return log.destroy(doc)
    },
  }))
  await start({}, { engine })
  await add('kept')
  const client = await connect()
  await client.roundTrip()
  expect(await remove()).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } })
  const end = await Promise.race([client.closed, client.roundTrip().then(() => null)])
  expect(end?.code ?? 1013).toBe(1013)
  const late = await connect()
  await late.roundTrip()
  expect(contentOf(late.offers())).toBe('kept')
  disk = 'fine'
  expect((await remove()).status).toBe(200)
  expect(await late.closed).toMatchObject({ code: 4404 })
  client.end()
})
