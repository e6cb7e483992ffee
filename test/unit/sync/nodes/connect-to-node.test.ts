import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { UpgradeRequest } from '../../../../src/sync/connect/upgrade-request.ts'
import { connectToNode } from '../../../../src/sync/nodes/connect-to-node.ts'
import { forwardingHeader } from '../../../../src/sync/nodes/forwarding-signature.ts'

const key = 'dGhlIHNhbXBsZSBub25jZQ=='
const asking = ['Host: a', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Key: ${key}`]

/** Listens for requests for websockets. */
async function listening(): Promise<{ port: number; next: () => Promise<UpgradeRequest> }> {
  const server = createServer().listen(0, '127.0.0.1')
  const waiting: ((knock: UpgradeRequest) => void)[] = []
  server.on('upgrade', (request, connection, head) => {
    connection.on('error', () => {})
    onTestFinished(() => void connection.destroy())
    waiting.shift()?.({ request, connection, head, address: '' })
  })
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { port, next: () => new Promise((resolve) => waiting.push(resolve)) }
}

/** What a node gets of a request that a client has sent to another one. */
async function passedOn(headers: readonly string[]): Promise<IncomingHttpHeaders> {
  const [first, home] = [await listening(), await listening()]
  const [knocked, arrived] = [first.next(), home.next()]
  const client = connect(first.port, '127.0.0.1')
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  client.write(`GET /sync/acme/doc/main HTTP/1.1\r\n${[...asking, ...headers].join('\r\n')}\r\n\r\n`)
  const reached = connectToNode(new URL(`http://127.0.0.1:${home.port}`), await knocked, 'sealed', 1_000)
  const { request, connection } = await arrived
  connection.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
  expect((await reached).kind).toBe('taken')
  return request.headers
}

it('[CF-9] of a request with as many headers as are read, the other node reads that it was passed on', async () => {
  const headers = await passedOn(Array.from({ length: 2_100 }, (_, index) => `a:${index % 10}`))
  expect(headers).toMatchObject({ [forwardingHeader]: 'sealed', 'sec-websocket-key': key, host: 'a' })
})

it('[CF-9] what a request says of a body that it does not have is not passed on', async () => {
  const headers = await passedOn([
    'Content-Length: 0',
    'Trailer: x',
    'Expect: 100-continue',
    'Origin: https://a',
  ])
  expect(headers).toMatchObject({ [forwardingHeader]: 'sealed', origin: 'https://a' })
  for (const name of ['content-length', 'transfer-encoding', 'trailer', 'expect'])
    expect(headers).not.toHaveProperty(name)
})

it('[CF-9] what cannot be sent is not passed on', async () => {
  const first = await listening()
  const knocked = first.next()
  const client = connect(first.port, '127.0.0.1')
  onTestFinished(() => void client.destroy())
  client.write(`GET /sync HTTP/1.1\r\n${asking.join('\r\n')}\r\n\r\n`)
  const knock = await knocked
  expect(await connectToNode(new URL('http://127.0.0.1:1'), knock, 'no\nheader', 1_000)).toEqual({
    kind: 'refused',
  })
})
