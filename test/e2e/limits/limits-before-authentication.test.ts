import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { newKey, type ProviderKey, TestProvider } from '../../support/servers/identity-provider.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

let server: TestServer
const sockets: Socket[] = []
const provider = new TestProvider()
let jwtJwksUrl: string
let key: ProviderKey

beforeAll(async () => {
  jwtJwksUrl = await provider.start()
  key = await newKey('one', 'ES256')
})
afterAll(() => provider.stop())
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
})

const start = async (overrides: Partial<Config>): Promise<void> => {
  server = await startTestServer(overrides)
}

/** Starts a server whose identity provider does not answer. */
async function startUndecided(overrides: Partial<Config>): Promise<string> {
  provider.state = 'silent'
  const { issuer: jwtIssuer, audience: jwtAudience } = provider
  await start({ jwtJwksUrl, jwtIssuer, jwtAudience, authTimeoutSeconds: 2, ...overrides })
  return `/sync/acme/plan/main?token=${await provider.sign(key)}`
}

const exceeded = (limit: string): Promise<number> => metric(server, `weft_limit_hits_total{limit="${limit}"}`)

/** A connection that sends nothing by itself and does not answer. */
async function tcp(): Promise<Socket> {
  const socket = connectTcp(server.port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const upgrade = (path: string, address = '127.0.0.1'): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

/** A whole binary message of zeros, masked with zeros. */
function frame(bytes: number): Buffer {
  const header = Buffer.from([0x82, 0xfe, 0, 0, 0, 0, 0, 0])
  header.writeUInt16BE(bytes, 2)
  return Buffer.concat([header, Buffer.alloc(bytes)])
}

/** Resolves when the server has closed the connection. */
const hungUp = (socket: Socket): Promise<unknown> =>
  socket.destroyed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve))

it('[LIM-3] limits how many unauthenticated websockets an address has, and how long they stay open', async () => {
  const path = await startUndecided({ maxUnauthenticatedPerAddress: 2 })
  const waiting = [RawClient.connect(server.wsUrl + path), RawClient.connect(server.wsUrl + path)]
  await eventually(() => provider.fetches > 0)
  const refused = await RawClient.connect(server.wsUrl + path)
  expect(await refused.closed).toEqual({
    code: 1013,
    reason: 'too many connections from this address at once: maxUnauthenticatedPerAddress is 2',
  })
  for (const client of await Promise.all(waiting))
    expect(await client.closed).toEqual({
      code: 1013,
      reason: 'the token could not be checked in time; try again',
    })
  expect(await exceeded('maxUnauthenticatedPerAddress')).toBe(1)
  expect(await exceeded('authTimeoutSeconds')).toBe(2)
  const late = await RawClient.connect(
    `${server.wsUrl}/sync/acme/plan/main?token=${await server.token('ada')}`,
  )
  await late.roundTrip()
  late.end()
})

it('[LIM-14] when an unauthenticated websocket sends many bytes, reads only a part of them, and closes the websocket', async () => {
  const path = await startUndecided({})
  const socket = await tcp()
  socket.write(upgrade(path))
  const message = frame(65_000)
  let takenBytes = 0
  const count = (error?: Error | null): void => {
    if (error == null) takenBytes += message.length
  }
  for (let sent = 0; sent < 64 * 2 ** 20; sent += message.length) socket.write(message, count)
  await hungUp(socket)
  // The buffers of the operating system hold the remaining bytes.
  expect(takenBytes).toBeLessThan(32 * 2 ** 20)
  expect(await exceeded('unauthenticatedBytes')).toBe(1)
})

it.each([
  ['messages', () => frame(10_000), 10],
  ['pings', () => Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]), 1000],
  ['empty messages', () => Buffer.from([0x82, 0x80, 0, 0, 0, 0]), 400],
  [
    'empty fragments',
    () =>
      Buffer.from([
        0x02,
        0x80,
        0,
        0,
        0,
        0,
        ...Array.from({ length: 399 }, () => [0, 0x80, 0, 0, 0, 0]).flat(),
      ]),
    1,
  ],
])(
  '[LIM-9] ends the connection of a rejected socket after it has sent 64 KB in total, in any number of %s',
  async (_name, made, times) => {
    await start({})
    const socket = await tcp()
    socket.write(upgrade('/sync/bad'))
    await once(socket, 'data')
    for (let sent = 0; sent < times; sent += 1) socket.write(made())
    await eventually(async () => (await exceeded('unauthenticatedBytes')) === 1)
    await hungUp(socket)
  },
)

it('[LIM-15] counts a body in chunks of one byte with the memory of its text and of one buffer', async () => {
  await start({})
  const { apiKey, authToken } = server.credentials
  const socket = await tcp()
  socket.write(
    'POST /v2/users/get HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n' +
      `x-service-api-key: ${apiKey}\r\nx-service-auth-token: ${authToken}\r\ntransfer-encoding: chunked\r\n\r\n` +
      '1\r\n \r\n'.repeat(20_000),
  )
  const held = (): Promise<number> => metric(server, 'weft_memory_held_bytes{holder="request_bodies"}')
  // The buffer of 16 KiB that is full was decoded once.
  await eventually(async () => (await held()) === 16_384 + 2 * 16_384 + 128)
})

it('[LIM-15] limits the memory for request bodies that arrive slowly, rejects further bodies, and still serves other workspaces', async () => {
  await start({ adminToken, memoryBudgetBytes: 2 ** 28 })
  const other = await otherWorkspace(server)
  const { apiKey, authToken } = server.credentials
  const head =
    'POST /v2/users/get HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n' +
    `x-service-api-key: ${apiKey}\r\nx-service-auth-token: ${authToken}\r\ntransfer-encoding: chunked\r\n\r\n`
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1_048_576, ' '), Buffer.from('\r\n')])
  const answers: string[] = []
  const slow = await Promise.all(Array.from({ length: 10 }, tcp))
  for (const socket of slow) {
    socket.on('data', (data: Buffer) => answers.push(data.toString()))
    socket.write(head)
    for (let sent = 0; sent < 15; sent += 1) socket.write(chunk)
  }
  await eventually(() => answers.length > 0)
  expect(answers[0]).toContain('429')
  expect(answers[0]).toContain('"limit":"bodyMemoryPerWorkspace"')
  expect(await exceeded('bodyMemoryPerWorkspace')).toBeGreaterThan(0)
  const padding = 'x'.repeat(15_000_000)
  const large = { organizationId: 'acme', padding }
  expect((await server.post('/v2/users/get', large, other.headers)).status).not.toBe(429)
  for (const socket of slow) socket.destroy()
  await eventually(async () => (await server.post('/v2/users/get', large)).status !== 429)
})

it('[LOAD-8] answers the upgrades of all addresses in rotation, so that a crowd of one address does not delay another', async () => {
  await start({ trustProxy: 1 })
  const crowd = await Promise.all(Array.from({ length: 200 }, accepted))
  const other = await accepted()
  const answered: Socket[] = []
  for (const socket of [...crowd, other]) socket.once('data', () => answered.push(socket))
  for (const socket of crowd) socket.write(upgrade('/hocuspocus', '203.0.113.1'))
  other.write(upgrade('/hocuspocus', '203.0.113.2'))
  await eventually(() => answered.length === 201)
  expect(answered.indexOf(other)).toBeLessThan(100)
})

/** A connection that the server has accepted, not only its operating system. */
async function accepted(): Promise<Socket> {
  const socket = await tcp()
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  return socket
}
