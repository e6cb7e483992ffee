import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Config } from '../../../src/core/config/config.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { ReadBackpressure } from '../../../src/core/sync/socket/read-backpressure.ts'
import { type RunningServer, type ServerOverrides, startServer } from '../../../src/server/server.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { heldStore } from '../../support/stores/pausable-store.ts'
import { HeldClock } from '../../support/time/clock.ts'

let server: TestServer
let token: string
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-limits-'))
})
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
afterEach(() => server.stop())

async function start(overrides: Partial<Config>, given: ServerOverrides = {}): Promise<void> {
  server = await startTestServer(overrides, given)
  token = await server.token('ada')
}

const connect = (document = 'plan') =>
  RawClient.connect(`${server.wsUrl}/sync/acme/${document}/main?token=${token}`)
const exceeded = (limit: string): Promise<number> => metric(server, `weft_limit_hits_total{limit="${limit}"}`)
const write = (documentId: string, data: string) =>
  server.post('/v2/crdt/update', {
    organizationId: 'acme',
    documentId,
    editorId: 'main',
    type: 'text',
    data,
    upsert: true,
  })

it('[LIM-11] in the metrics, counts connections beyond the total limit and beyond the limit of their address', async () => {
  await start({ maxConnections: 2 })
  const clients = [await connect(), await connect(), await connect()]
  expect(await clients[2]?.closed).toMatchObject({ code: 1013 })
  expect(await exceeded('maxConnections')).toBe(1)
  for (const client of clients) client.end()
  await server.stop()
  await start({ maxConnectionsPerAddress: 1 })
  const again = [await connect(), await connect()]
  expect(await again[1]?.closed).toEqual({
    code: 1013,
    reason: 'too many connections from this address: maxConnectionsPerAddress is 1',
  })
  expect(await exceeded('maxConnectionsPerAddress')).toBe(1)
  for (const client of again) client.end()
})

it('[LIM-11] in the metrics, counts messages, documents and bodies that are too large', async () => {
  await start({ maxMessageBytes: 100_000, maxDocumentBytes: 150_000, maxBodyBytes: 200_000 })
  const big = await connect()
  big.sendUpdate(typed('x'.repeat(110_000), 1))
  expect(await big.closed).toMatchObject({ code: 4413 })
  expect(await exceeded('maxMessageBytes')).toBe(1)
  const filler = await connect()
  for (const client of [1, 2]) filler.sendUpdate(typed('x'.repeat(90_000), client))
  expect(await filler.closed).toMatchObject({ code: 4413 })
  expect(await exceeded('maxDocumentBytes')).toBe(1)
  const grown = await write('other', 'x'.repeat(160_000))
  expect(grown).toMatchObject({
    status: 400,
    body: { error: { details: { limit: 'maxDocumentBytes', value: 150_000, scope: 'document' } } },
  })
  expect(await exceeded('maxDocumentBytes')).toBe(2)
  expect(await write('other', 'x'.repeat(210_000))).toMatchObject({
    status: 413,
    body: { error: { details: { limit: 'maxBodyBytes', value: 200_000, scope: 'call' } } },
  })
  expect(await exceeded('maxBodyBytes')).toBe(1)
})

it('[LIM-11] in the metrics, counts calls that exceed a rate', async () => {
  await start({ callsPerKey: { perSecond: 1, burst: 2 }, workspaceReadsPerMinute: 1 })
  await write('plan', 'one')
  const refused = await write('plan', 'two')
  expect(refused).toMatchObject({
    status: 429,
    body: { error: { details: { limit: 'callsPerKey', value: 1, scope: 'apiKey' } } },
  })
  expect(await exceeded('callsPerKey')).toBe(1)
  const headers = {
    'x-service-workspace-id': server.credentials.workspaceId,
    'x-service-workspace-auth-token': server.credentials.workspaceAuthToken,
  }
  await server.post('/v2/workspace/get', {}, headers)
  expect(await server.post('/v2/workspace/get', {}, headers)).toMatchObject({
    status: 429,
    body: { error: { details: { limit: 'workspaceReadsPerMinute', value: 1, scope: 'workspace' } } },
  })
  expect(await exceeded('workspaceReadsPerMinute')).toBe(1)
})

it('[LIM-11] in the metrics, counts a slow reader', async () => {
  await start({ sendBufferBytes: 65_536 })
  const [writer, reader] = [await connect(), await connect()]
  await Promise.all([writer.roundTrip(), reader.roundTrip()])
  reader.socket.pause()
  const doc = new Y.Doc()
  doc.on('update', (update: Uint8Array) => writer.sendUpdate(update))
  for (let round = 0; (await exceeded('sendBufferBytes')) !== 1; round += 1)
    doc.getMap('map').set('key', `${round} ${'x'.repeat(200_000)}`)
  for (const client of [writer, reader]) client.end()
})

it('[LIM-11] when too many rejections are pending, closes rejected connections without a reason, and counts this in the metrics', async () => {
  await start({})
  const refused: Socket[] = []
  const upgrade =
    'GET /sync/bad HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  for (let client = 0; client < 510; client += 1) {
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(upgrade)
    refused.push(socket)
  }
  await eventually(async () => (await exceeded('pendingRejections')) > 0)
  for (const socket of refused) socket.destroy()
  await Promise.all(refused.map((socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'))))
})

it('[LIM-5] [LIM-11] reports sockets that wait for the disk as an exceeded limit; after the wait, sockets that exceed the receive rate stay paused', async () => {
  const store = heldStore()
  const clock = new HeldClock()
  const engine = await openLevelEngine({ directory: join(directory, 'held'), ...store })
  const quota = { receiveBytesPerWorkspace: { perSecond: 1_000_000, burst: 14_000_000 } }
  await start(quota, { engine, clock })
  const [writer, other] = [await connect(), await connect('other')]
  await Promise.all([writer.roundTrip(), other.roundTrip()])
  store.hold()
  // After the second update, more than 4 MB wait for the disk and the burst is used up.
  for (let client = 1; client <= 4; client += 1) writer.sendUpdate(typed('x'.repeat(7_000_000), client))
  for (const limit of ['uncommittedBytes', 'receiveBytesPerWorkspace'])
    await eventually(async () => (await exceeded(limit)) === 1)
  store.release()
  const taken = () => metric(server, 'weft_updates_total{source="socket"}')
  await eventually(() => engine.pendingBytes() === 0)
  // Longer than readers that wait for the disk poll.
  await new Promise((resolve) => setTimeout(resolve, 200 * ReadBackpressure.pollMs))
  expect(await taken()).toBe(2)
  await eventually(async () => {
    clock.advance(1000)
    return (await taken()) > 2
  })
  for (const client of [writer, other]) client.end()
})

it('[LIM-12] logs which API key or workspace has exceeded a limit, and logs no tokens', async () => {
  await start({})
  const lines: string[] = []
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => void lines.push(line) })
  const data = join(directory, 'logged')
  const { config } = readConfig({ flags: {}, environment: {}, file: null })
  const own = { ...config, port: 0, host: '127.0.0.1', dataDir: data, engine: 'memory' as const }
  const running = await startServer(
    { ...own, maxConnectionsPerWorkspace: 1, callsPerKey: { perSecond: 1, burst: 1 } },
    log,
  )
  const { workspaceId, apiKey, authToken } = running.credentials
  const call = (userId: string) =>
    fetch(`http://127.0.0.1:${running.port}/v2/auth/generate_token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      },
      body: JSON.stringify({ data: { userId, userProperties: { name: userId, email: 'a@example.com' } } }),
    })
  const made = (await (await call('ada')).json()) as { result: { data: { token: string } } }
  const secret = made.result.data.token
  await Promise.all(Array.from({ length: 5 }, () => call('ada')))
  const open = () => RawClient.connect(`ws://127.0.0.1:${running.port}/sync/acme/plan/main?token=${secret}`)
  const clients = [await open(), await open()]
  await clients[1]?.closed
  for (const client of clients) client.end()
  await running.close()
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(told).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ limit: 'callsPerKey', scope: 'apiKey', who: apiKey, times: 1 }),
      expect.objectContaining({
        limit: 'maxConnectionsPerWorkspace',
        scope: 'workspace',
        who: workspaceId,
        times: 1,
      }),
    ]),
  )
  for (const hidden of [authToken, secret]) expect(lines.join('')).not.toContain(hidden)
})

it('[LIM-17] when many clients reconnect while the store is unavailable, logs one line', async () => {
  await start({})
  const lines: string[] = []
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => void lines.push(line) })
  const clock = new HeldClock(Date.now())
  const engine = withLog(await openMemoryEngine(), () => ({
    load: () => Promise.reject(new StoreUnavailableError('away')),
  }))
  const running = await startServer({ ...server.config, dataDir: join(directory, 'away') }, log, {
    clock,
    engine,
  })
  const path = `ws://127.0.0.1:${running.port}/sync/acme/plan/main?token=${await tokenOf(running)}`
  const comeBack = async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.connect(path)))
    for (const client of clients) expect(await client.closed).toMatchObject({ code: 1013 })
  }
  const told = () => lines.filter((line) => line.includes('could not be opened')).length
  await comeBack()
  expect(told()).toBe(1)
  clock.advance(10_000)
  await comeBack()
  expect(told()).toBe(2)
  await running.close()
})

/** Returns a token that the running server creates for its key. */
async function tokenOf({ port, credentials }: RunningServer): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v2/auth/generate_token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': credentials.apiKey,
      'x-service-auth-token': credentials.authToken,
    },
    body: JSON.stringify({
      data: { userId: 'ada', userProperties: { name: 'ada', email: 'a@example.com' } },
    }),
  })
  return ((await answer.json()) as { result: { data: { token: string } } }).result.data.token
}
