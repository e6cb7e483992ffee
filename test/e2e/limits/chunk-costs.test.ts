import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
const sockets: Socket[] = []
const accepted: Socket[] = []
const onAccepted = (event: unknown): void => void accepted.push((event as { socket: Socket }).socket)

beforeEach(async () => {
  subscribe('net.server.socket', onAccepted)
  server = await startTestServer()
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
  unsubscribe('net.server.socket', onAccepted)
  accepted.length = 0
})

/** Opens a connection, and returns it with the socket of the server. */
async function opened(): Promise<readonly [client: Socket, connection: Socket]> {
  const client = connect(server.port, '127.0.0.1')
  sockets.push(client)
  client.on('error', () => {})
  await once(client, 'connect')
  for (;;) {
    const connection = accepted.find(({ remotePort }) => remotePort === client.localPort)
    if (connection !== undefined) return [client, connection]
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const headOf = (headers: Readonly<Record<string, string>>): string =>
  ['POST /v2/users/get HTTP/1.1', 'host: a', 'content-type: application/json', 'transfer-encoding: chunked']
    .concat(Object.entries(headers).map(([name, value]) => `${name}: ${value}`))
    .concat('', '')
    .join('\r\n')

const chunks = '1\r\n \r\n'.repeat(10_000)

const bytesOf = (connections: readonly Socket[]): number =>
  connections.reduce((sum, { bytesRead }) => sum + bytesRead, 0)

const credentials = (): Record<string, string> => ({
  'x-service-api-key': server.credentials.apiKey,
  'x-service-auth-token': server.credentials.authToken,
})

it.each([
  ['with credentials', credentials],
  ['without credentials', () => ({})],
])('[LIM-34] reads few chunks of the bodies of an address %s in one tick', async (_what, headers) => {
  const connections = await Promise.all(Array.from({ length: 8 }, opened))
  for (const [client] of connections) {
    client.resume()
    client.write(headOf(headers()))
    client.write(chunks.repeat(8))
  }
  const read = (): number => bytesOf(connections.map(([, connection]) => connection))
  expect(await mostPerTick(read, 8 * 8 * chunks.length)).toBeLessThanOrEqual(2 * 65_536)
})

it('[LIM-34] reads few bytes of the bodies of an address in one tick', async () => {
  const body = Buffer.alloc(1_000_000, ' ')
  const head = headOf(credentials()).replace('transfer-encoding: chunked', `content-length: ${body.length}`)
  const connections = await Promise.all(Array.from({ length: 8 }, opened))
  for (const [client] of connections) {
    client.resume()
    client.write(head)
    client.write(body)
  }
  const read = (): number => bytesOf(connections.map(([, connection]) => connection))
  expect(await mostPerTick(read, 8 * body.length)).toBeLessThanOrEqual(4 * 65_536)
})

const pageRequest = 'GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n'

it.each([
  ['pipelined requests', 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(17)],
  ['requests for large pages', pageRequest],
])('[LIM-35] reads few %s of an address in one tick', async (_what, bytes) => {
  // The first request of a page reads its file.
  await (await fetch(`${server.url}/openapi.json`)).text()
  const connections = await Promise.all(Array.from({ length: 32 }, opened))
  for (const [client] of connections) client.pause().write(bytes)
  const begun = (): number => connections.filter(([, { bytesRead }]) => bytesRead > 0).length
  expect(await mostPerTick(begun, connections.length)).toBeLessThanOrEqual(2)
})

it('[LIM-35] reads the other connections of an address before those that use up its share', async () => {
  const [calm] = await opened()
  const flooding = await Promise.all(Array.from({ length: 8 }, opened))
  for (const [client] of flooding) {
    client.resume()
    client.write(`${headOf({})}${chunks.repeat(8)}`)
  }
  calm.write('GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(calm, 'data')
  expect(bytesOf(flooding.map(([, connection]) => connection))).toBeLessThan(8 * chunks.length)
})

/** Returns by how much a number grows at most in one tick, until it is at least `end`. */
async function mostPerTick(current: () => number, end: number): Promise<number> {
  let [last, most] = [0, 0]
  while (last < end) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = current()
    most = Math.max(most, now - last)
    last = now
  }
  return most
}

it('[LIM-34] after the response to a rejected request, reads the rest of its body, and answers the next request', async () => {
  const [client] = await opened()
  let text = ''
  client.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  client.write(headOf({}))
  await expect.poll(() => text).toContain('HTTP/1.1 400')
  client.write(`${chunks}0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: a\r\n\r\n`)
  await expect.poll(() => text).toContain('HTTP/1.1 200')
})

it('[LIM-34] closes a connection if the rest of the body of a rejected request has too many chunks', async () => {
  const [client, connection] = await opened()
  client.resume()
  client.write(headOf({}))
  const pour = (): void => {
    while (!client.destroyed && client.write(chunks));
  }
  client.on('drain', pour)
  pour()
  await new Promise((resolve) => client.once('close', resolve))
  // 64 MiB at 200 bytes for each chunk.
  expect(connection.bytesRead).toBeLessThan((67_108_864 / 200) * 6 + 20 * 65_536)
})
