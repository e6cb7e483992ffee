import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { contentOf, eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { HttpSession, randomSessionId } from '../../support/clients/http-session.ts'
import { sendRaw } from '../../support/clients/raw-websocket.ts'
import { newKey, TestProvider } from '../../support/servers/identity-provider.ts'
import { Inspector, inspectable } from '../../support/servers/inspector.ts'
import { freePort, startProcess } from '../../support/servers/process.ts'
import { residentBytes } from '../../support/servers/process-memory.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function start(...[overrides, given]: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(overrides, given)
  stops.push(() => server.stop())
  return server
}

/** A connection whose bytes a test writes and reads itself. */
class RawConnection {
  readonly socket: Socket
  text = ''
  readonly closed: Promise<unknown>

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1').setEncoding('latin1')
    this.socket.on('data', (chunk: Buffer | string) => {
      this.text += String(chunk)
    })
    this.socket.on('error', () => {})
    this.closed = once(this.socket, 'close')
    stops.push(() => this.socket.destroy())
  }

  /** Sends the head of a request. */
  request(line: string, headers: readonly string[] = ['host: x']): void {
    this.socket.write(`${[line, ...headers].join('\r\n')}\r\n\r\n`)
  }
}

const pathOf = (token: string, id = randomSessionId(), document = 'plan'): string =>
  `/sync-http/acme/${document}/main?session=${id}&token=${token}`

/** Returns the events in a text, without lines of chunks. */
const messagesIn = (text: string): Buffer[] =>
  [...text.matchAll(/^data: ([\w+/=]+)$/gm)].map(([, data = '']) => Buffer.from(data, 'base64'))

it('[TRANS-80] an idle stream takes at most 1.5 times the memory of an idle websocket', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-streams-'))
  stops.push(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
  const count = 1_500
  const inspectorPort = await freePort()
  const server = await startProcess(data, {
    NODE_OPTIONS: `--max-semi-space-size=4 ${inspectable(inspectorPort)}`,
    WEFT_CONNECTS_PER_ADDRESS: '0',
    WEFT_CALLS_PER_ADDRESS: '0',
    WEFT_MAX_CONNECTIONS_PER_ADDRESS: '20000',
  })
  stops.push(() => server.end('SIGKILL'))
  const inspector = await Inspector.connect(inspectorPort)
  stops.push(() => inspector.close())
  const token = await server.token()
  const port = Number(new URL(server.url).port)
  const openStream = async (): Promise<void> => {
    const connection = new RawConnection(port)
    connection.request(`GET ${pathOf(token)} HTTP/1.1`)
    await eventually(() => messagesIn(connection.text).length > 0)
  }
  const openWebsocket = async (): Promise<void> => {
    const client = await RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${token}`)
    stops.push(() => client.end())
  }
  const bytesOf = async (open: () => Promise<void>): Promise<number> => {
    // The first connections compile the code.
    for (let opened = 0; opened < 200; opened += 50) await Promise.all(Array.from({ length: 50 }, open))
    await inspector.heap()
    const before = residentBytes(server.child.pid)
    for (let opened = 0; opened < count; opened += 50) await Promise.all(Array.from({ length: 50 }, open))
    await inspector.heap()
    return (residentBytes(server.child.pid) - before) / count
  }
  const websocket = await bytesOf(openWebsocket)
  expect((await bytesOf(openStream)) / websocket).toBeLessThan(1.5)
}, 60_000)

it('[TRANS-81] a stream can follow other requests on its connection, and ends the connection', async () => {
  const server = await start()
  const token = await server.token('ada')
  const session = new HttpSession(`${server.url}/sync-http/acme/plan/main`, token)
  const connection = new RawConnection(server.port)
  connection.request('GET /healthz HTTP/1.1')
  await eventually(() => connection.text.includes('HTTP/1.1 200'))
  connection.text = ''
  connection.request(`GET ${pathOf(token, session.id)} HTTP/1.1`)
  await eventually(() => messagesIn(connection.text).length > 0)
  expect(connection.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(connection.text).toMatch(/^connection: close\r$/im)
  expect(connection.text).toMatch(/^transfer-encoding: chunked\r$/im)
  const other = await session.stream({ position: 0 })
  stops.push(() => other.cut())
  await connection.closed
  expect(connection.text).toMatch(/\r\n0\r\n\r\n$/)
})

it('[TRANS-81] a client with HTTP/1.0 gets a stream without chunks', async () => {
  const server = await start()
  const token = await server.token('ada')
  const session = new HttpSession(`${server.url}/sync-http/acme/plan/main`, token)
  const connection = new RawConnection(server.port)
  connection.request(`GET ${pathOf(token, session.id)} HTTP/1.0`, [])
  await eventually(() => messagesIn(connection.text).length > 0)
  await session.post([message([0, 2], typed('words', 1)), message([0, 0], Uint8Array.of(0))])
  await eventually(() => messagesIn(connection.text).length > 1)
  expect(connection.text).not.toMatch(/chunked/i)
  await session.post([], { close: 1000 })
  await connection.closed
  const [, body = ''] = connection.text.split('\r\n\r\n')
  expect(body).toMatch(/^event: open\ndata: \{\}\n\nid: 1\n/)
  expect(body).toMatch(/\n\n$/)
})

it('[TRANS-82] a stream that is rejected has the usual response, and its connection ends', async () => {
  const server = await start()
  const token = await server.token('ada')
  const malformed = await sendRaw(server.port, 'GET /sync-http/acme HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(malformed.status).toBe(400)
  expect(JSON.parse(malformed.body)).toMatchObject({
    error: { details: { code: 'transport/invalid-request' } },
  })
  const noHost = await sendRaw(server.port, `GET ${pathOf(token)} HTTP/1.1\r\n\r\n`)
  expect(noHost.status).toBe(400)
  expect(JSON.parse(noHost.body)).toMatchObject({ error: { details: { code: 'request/malformed' } } })
  const rejected = new RawConnection(server.port)
  rejected.request(`GET ${pathOf('wrong')} HTTP/1.1`)
  await rejected.closed
  expect(rejected.text).toMatch(/^event: close\ndata: \{"code":4401,/m)
})

it('[TRANS-82] bytes after the request of a stream end it, and are not used', async () => {
  const server = await start()
  const token = await server.token('ada')
  const reader = await RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${token}`)
  stops.push(() => reader.end())
  const session = new HttpSession(`${server.url}/sync-http/acme/plan/main`, token)
  const first = await session.stream({ position: 0 })
  stops.push(() => first.cut())
  const body = Buffer.from(message([], message([0, 2], typed('smuggled', 1))))
  const post = `POST ${pathOf(token, session.id)}&number=1 HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`
  const get = `GET ${pathOf(token)} HTTP/1.1\r\nhost: x\r\n\r\n`
  const together = new RawConnection(server.port)
  together.socket.write(Buffer.concat([Buffer.from(get + post), body]))
  await together.closed
  const later = new RawConnection(server.port)
  later.socket.write(get)
  await eventually(() => messagesIn(later.text).length > 0)
  later.socket.write(Buffer.concat([Buffer.from(post), body]))
  await later.closed
  await reader.roundTrip()
  expect(contentOf(reader.updates())).toBe('')
  expect((await session.post([])).body).toEqual({ received: 0 })
})

it('[TRANS-83] a server that stops ends the connection of a stream whose token is being checked', async () => {
  const provider = new TestProvider()
  const key = await newKey('one', 'ES256')
  let requested = 0
  const keys = createServer(() => {
    requested += 1
  })
  keys.listen(0, '127.0.0.1')
  await once(keys, 'listening')
  stops.push(() => {
    keys.closeAllConnections()
    keys.close()
  })
  const jwtJwksUrl = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks.json`
  const { issuer: jwtIssuer, audience: jwtAudience } = provider
  const server = await startTestServer({
    jwtJwksUrl,
    jwtIssuer,
    jwtAudience,
    authTimeoutSeconds: 60,
    shutdownSeconds: 2,
  })
  const connection = new RawConnection(server.port)
  connection.request(`GET ${pathOf(await provider.sign(key))} HTTP/1.1`)
  await eventually(() => requested > 0)
  let isClosed = false
  void connection.closed.then(() => {
    isClosed = true
  })
  await server.stop()
  await eventually(
    () => isClosed,
    () => '',
    500,
  )
})
