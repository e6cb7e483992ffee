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
  const connections = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const [client, connection] = await opened()
      client.resume()
      client.write(headOf(headers()))
      client.write(chunks.repeat(8))
      return connection
    }),
  )
  let [read, most] = [0, 0]
  while (read < 8 * 8 * chunks.length) {
    await new Promise((resolve) => setImmediate(resolve))
    // The first read of a connection needs no share.
    const wasRead = connections.every(({ bytesRead }) => bytesRead > 65_536)
    const now = bytesOf(connections)
    if (wasRead) most = Math.max(most, now - read)
    read = now
  }
  expect(most).toBeLessThanOrEqual(2 * 65_536)
})

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
