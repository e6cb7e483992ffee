import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { HttpSession } from '../../support/clients/http-session.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { type CuttingProxy, startCuttingProxy } from '../../support/faults/connection-cutting-proxy.ts'
import { documentOf, forwardedBy, pathOf, textAt } from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, metric, type TestServer } from '../../support/servers/server.ts'

let cluster: TestCluster
let proxy: CuttingProxy
const opened: { close(): void }[] = []
afterEach(async () => {
  for (const client of opened.splice(0)) client.close()
  proxy.close()
  await cluster.stop()
})

const server = (index: number): TestServer => cluster.servers[index] as TestServer

/** Starts three nodes. The other nodes reach the second one through a proxy, which can be paused. */
async function start() {
  cluster = await startCluster(3)
  proxy = await startCuttingProxy(Number(new URL(server(1).url).port))
  const owner = cluster.nodes[1]
  if (owner === undefined) throw new Error('no node')
  owner.engine.cluster.listening(`http://127.0.0.1:${proxy.port}`)
  const ids = documentOf(cluster, 1)
  dataOf(await server(0).post('/v2/crdt/add', { ...ids, type: 'text', data: 'text' }))
  /** Resolves when the owner has received this many connections more than now. */
  const connections = async (more: number): Promise<void> => {
    const wanted = proxy.connections + more
    await eventually(() => proxy.connections >= wanted)
  }
  return { ids, token: await server(0).token('ada'), connections, leave: () => owner.cut() }
}

it('[FW-10] answers a call at once when the frozen owner leaves the list of nodes', async () => {
  const { ids, connections, leave } = await start()
  proxy.pause()
  const arrived = connections(1)
  const answer = server(0).post('/v2/crdt/update', { ...ids, type: 'text', data: 'new' })
  const read = server(0).post('/v2/crdt/get', ids)
  await arrived
  leave()
  const { status, body } = await answer
  expect([status, body.error?.details?.code]).toEqual([503, 'cluster/owner-unreachable'])
  expect(dataOf(await read)).toMatchObject([{ data: 'text' }])
})

it('[FW-10] begins websockets and sessions at the new owner when the frozen one leaves the list of nodes', async () => {
  const { ids, token, connections, leave } = await start()
  proxy.pause()
  const arrived = connections(2)
  const socket = RawClient.connect(`${server(0).wsUrl}/sync/${pathOf(ids)}?token=${token}`)
  const session = new HttpSession(`${server(0).url}/sync-http/${pathOf(ids)}`, token)
  const stream = session.stream()
  await arrived
  leave()
  const client = await socket
  opened.push({ close: () => client.end() })
  await client.roundTrip()
  const events = await stream
  opened.push({ close: () => events.cut() })
  await eventually(() => events.messages().length > 0)
})

it('[FW-10] ends streams and sessions when the frozen owner leaves the list of nodes', async () => {
  const { ids, token, connections, leave } = await start()
  const stream = await ContentStream.open(server(0), { ...ids, edit: { insert: { at: 'end' } } })
  stream.text(' streamed')
  await stream.received(9)
  const session = new HttpSession(`${server(0).url}/sync-http/${pathOf(ids)}`, token)
  const events = await session.stream()
  opened.push({ close: () => events.cut() })
  proxy.pause()
  const arrived = connections(2)
  const opening = ContentStream.send(server(0), { ...ids, edit: { insert: { at: 'end' } } })
  const post = session.post([message([0, 2], typed('more', 1))])
  await arrived
  leave()
  for (const each of [stream, opening])
    expect(await each.error()).toMatchObject({ details: { code: 'cluster/owner-unreachable' } })
  await events.ended
  expect(await post).toMatchObject({
    status: 503,
    body: { error: { details: { code: 'cluster/owner-unreachable' } } },
  })
  expect(await textAt(server(2), ids)).toBe('text streamed')
})

it('[FW-9] a Hocuspocus client goes on at the new owner when the frozen one leaves the list of nodes', async () => {
  const { ids, token, leave } = await start()
  const socket = hocuspocusSocket(server(0))
  const provider = hocuspocusProvider(server(0), pathOf(ids), token, { socket })
  opened.push({
    close: () => {
      provider.destroy()
      socket.destroy()
    },
  })
  await eventually(() => provider.isSynced)
  expect(await forwardedBy(server(0), 'tunnel')).toBe(1)
  proxy.pause()
  leave()
  provider.document.getText('content').insert(0, 'more ')
  await eventually(async () => (await textAt(server(2), ids)) === 'more text')
})

it('[FW-10] a frozen owner delays no call to another node', async () => {
  const { ids, connections, leave } = await start()
  const near = documentOf(cluster, 2)
  dataOf(await server(0).post('/v2/crdt/add', { ...near, type: 'text', data: 'near' }))
  proxy.pause()
  const arrived = connections(200)
  const waiting = Array.from({ length: 400 }, () => server(0).post('/v2/crdt/get', ids))
  await arrived
  expect(await textAt(server(0), near)).toBe('near')
  leave()
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200)
})

it('[FW-6] closes a websocket with 1012 and ends its half of the connection, so that the client does not wait for a frozen owner', async () => {
  const { ids, token, leave } = await start()
  const port = Number(new URL(server(0).url).port)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  opened.push({ close: () => socket.destroy() })
  const lines = [
    `GET /sync/${pathOf(ids)}?token=${token} HTTP/1.1`,
    'host: 127.0.0.1',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let received = ''
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
  })
  await eventually(() => received.includes('101 Switching Protocols'))
  proxy.pause()
  leave()
  await once(socket, 'end')
  const code = String.fromCharCode(1012 >> 8, 1012 & 255)
  expect(received).toContain(`${code}the node of the document has stopped`)
  // The other half of the connection is still open.
  const forwarded = () => metric(server(0), 'weft_forwarded_bytes_total{direction="request"}')
  const before = await forwarded()
  socket.write(Uint8Array.of(0x88, 0x80, 0, 0, 0, 0))
  await eventually(async () => (await forwarded()) === before + 6)
})
