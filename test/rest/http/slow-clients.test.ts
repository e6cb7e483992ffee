import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHttpServer, httpTimeouts } from '../../../src/rest/http/http-server.ts'
import { eventually } from '../../support/clients/clients.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const short = {
  headersTimeout: 300,
  requestTimeout: 600,
  connectionsCheckingInterval: 50,
  keepAliveTimeout: 300,
  silenceTimeout: 1_500,
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

/** A connection that keeps everything it receives. */
interface Slow {
  readonly socket: Socket
  readonly text: () => string
  readonly ended: () => boolean
}

function open(port: number, bytes = ''): Slow {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => {})
  if (bytes !== '') socket.write(bytes)
  return { socket, text: () => text, ended: () => socket.destroyed || socket.readableEnded }
}

/** Writes one more byte every 10 ms until the server closes the connection. */
function drip({ socket }: Slow, byte: string): void {
  const timer = setInterval(() => {
    if (socket.writable) socket.write(byte)
    else clearInterval(timer)
  }, 10)
  socket.once('close', () => clearInterval(timer))
}

const upgrade =
  'GET /sync/acme/slow/main HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'

/** The start of each request, and the bytes that it then repeats indefinitely. */
const slow: Readonly<Record<string, readonly [string, string | null]>> = {
  'nothing at all': ['', null],
  'a request line without end': ['GET /', 'x'],
  'one header after the other': ['GET / HTTP/1.1\r\nhost: x\r\n', 'a'],
  'a body, byte by byte': ['POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n', 'x'],
  'a chunk, byte by byte': ['POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffff\r\n', 'x'],
  'half of an upgrade': [upgrade, null],
  'an upgrade, byte by byte': [upgrade, 'a'],
}

itLong(
  '[SEC-2] closes a client that never completes its headers, body or upgrade, even if it sends them byte by byte',
  async () => {
    const http = createHttpServer((request) => request.resume(), short)
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    const { port } = http.address() as AddressInfo
    const clients = Object.entries(slow).map(([name, [begin, more]]) => {
      const client = open(port, begin)
      if (more !== null) drip(client, more)
      return { name, client }
    })
    await eventually(
      () => clients.every(({ client }) => client.ended()),
      () => clients.filter(({ client }) => !client.ended()).map(({ name }) => name),
    )
    for (const { name, client } of clients)
      expect([name, client.text()]).toEqual([name, expect.stringMatching(/^HTTP\/1\.1 408 /)])
    http.close()
  },
)

itLong(
  '[SEC-2] closes an idle connection, and keeps a connection open that sends requests in time',
  async () => {
    const http = createHttpServer((_request, response) => response.end('ok'), short)
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    const { port } = http.address() as AddressInfo
    const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
    const idle = open(port, request)
    const busy = open(port, request)
    const answers = (): number => busy.text().split('HTTP/1.1 200').length - 1
    for (let asked = 1; !idle.ended(); asked++) {
      await eventually(() => answers() === asked)
      busy.socket.write(request)
    }
    expect(busy.ended()).toBe(false)
    busy.socket.destroy()
    http.close()
  },
)

const slowMany = 1_000

it(`[SEC-3] serves other clients while ${slowMany} clients stop in the middle of headers, bodies or upgrades`, async () => {
  const { apiKey, authToken } = server.credentials
  const call = `POST /v2/crdt/get HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-service-api-key: ${apiKey}\r\nx-service-auth-token: ${authToken}\r\n`
  const kinds = ['GET / HTTP/1.1\r\nhost:', `${call}content-length: 1000\r\n\r\n{"data":`, upgrade, '']
  const clients = Array.from({ length: slowMany }, (_, index) =>
    open(server.port, kinds[index % kinds.length]),
  )
  await eventually(() => clients.every(({ socket }) => !socket.connecting))
  for (let round = 0; round < 5; round++) {
    expect(await server.token(`user-${round}`)).toBeTruthy()
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  }
  // If all clients had their response already, the test would prove nothing.
  expect(clients.some(({ ended }) => !ended())).toBe(true)
  for (const { socket } of clients) socket.destroy()
})

itLong('[SEC-2] the tests on slow clients shorten every time limit of the server', () => {
  expect(Object.keys(short)).toEqual(Object.keys(httpTimeouts))
})

itLong('[SEC-2] closes a client that does not read its responses', async () => {
  const http = createHttpServer((_request, response) => response.end(Buffer.alloc(64 * 2 ** 20)), short)
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const client = connect((http.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.pause()
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const connections = (): Promise<number> =>
    new Promise((resolve) => http.getConnections((_error, count) => resolve(count)))
  await eventually(async () => (await connections()) === 1)
  await eventually(async () => (await connections()) === 0)
  client.destroy()
  http.close()
})

const request = 'GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'
const pipelined = 200_000

it(`[SEC-4] closes a connection that pipelines ${pipelined} requests, and answers at most one of them`, async () => {
  const before = await answered()
  const flood = open(server.port)
  flood.socket.pause()
  const batch = request.repeat(1_000)
  for (let count = 0; count < pipelined; count += 1_000) flood.socket.write(batch)
  await eventually(() => flood.ended())
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect((await answered()) - before).toBeLessThanOrEqual(1)
})

it('[SEC-4] counts requests with an unknown Expect header toward the limit of waiting requests', async () => {
  const expecting = 'GET / HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n\r\n'
  const flood = open(server.port, request + expecting.repeat(1_000))
  await eventually(() => flood.ended())
  expect(flood.text()).not.toContain('HTTP/1.1 417')
})

it('[SEC-4] answers several requests on one connection in their order', async () => {
  const pages = ['healthz', 'version', 'readyz', 'openapi.json', 'healthz']
  const client = open(server.port, pages.map((page) => `GET /${page} HTTP/1.1\r\nhost: x\r\n\r\n`).join(''))
  const bodies = ['"ok"', '"version"', '"ready"', '"openapi"', '"ok"']
  const inOrder = new RegExp(bodies.map((body) => `HTTP/1.1 200 OK[^]*?${body}`).join('[^]*'))
  await eventually(() => inOrder.test(client.text()))
  client.socket.destroy()
})

/** Number of completed requests for the OpenAPI document. */
async function answered(): Promise<number> {
  const name = 'weft_http_request_duration_seconds_count{route="/openapi.json",status="200"}'
  const count = await metric(server, name)
  return Number.isNaN(count) ? 0 : count
}
