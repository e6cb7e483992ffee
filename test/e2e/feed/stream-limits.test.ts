import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { feedLimits } from '../../../src/capabilities/feed/limits.ts'
import { eventually } from '../../support/clients/clients.ts'
import { FeedConsumer } from '../../support/clients/feed-consumer.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

const MiB = 2 ** 20

let server: TestServer
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
})

async function start(...given: Parameters<typeof startTestServer>): Promise<void> {
  server = await startTestServer(...given)
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
}

const held = () => metric(server, 'weft_memory_held_bytes{holder="unread_responses"}')
const hits = async (limit: string) => (await metric(server, `weft_limit_hits_total{limit="${limit}"}`)) || 0

/** Together, the contents do not fit into the buffers of a connection, which take up to 5 MB. */
const [documents, contentBytes] = [12, 900_000]

/** Writes the documents. */
async function fill(): Promise<void> {
  const data = 'y'.repeat(contentBytes)
  for (let number = 0; number < documents; number++) {
    const ids = { organizationId: 'acme', documentId: `d${number}`, editorId: 'main' }
    dataOf(await server.post('/v2/crdt/update', { ...ids, type: 'text', data, upsert: true }))
  }
  const isLast = { documentIds: [`d${documents - 1}`], types: ['crdt.update_data'] }
  await new FeedConsumer(server, isLast).until(() => true)
}

/** Opens a stream with content, and reads nothing. */
async function openUnread(): Promise<Socket> {
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  const { apiKey, authToken } = server.credentials
  socket.write(
    [
      'GET /v2/feed/stream?content=text&types=crdt.update_data HTTP/1.1',
      'host: a',
      'connection: close',
      `x-service-api-key: ${apiKey}`,
      `x-service-auth-token: ${authToken}`,
      '\r\n',
    ].join('\r\n'),
  )
  return socket
}

const allOf = async (socket: Socket): Promise<string> => {
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

it('[FEED-63] counts the unread page of a stream, ends a reader that does not read in time with the reason, and disconnects it if it still reads nothing', async () => {
  await start({}, { transferTimeoutMs: 1_000 })
  await fill()
  const socket = await openUnread()
  await eventually(async () => (await held()) > 0)
  expect(await held()).toBeLessThan(feedLimits.pageBytes + 2 * feedLimits.pageContentBytes)
  await eventually(async () => (await hits('transferTimeoutSeconds')) === 1)
  const text = await allOf(socket)
  expect(text.length).toBeLessThan(documents * contentBytes)
  expect(text).toMatch(/event: error\ndata: .*"limit":"transferTimeoutSeconds"/)
  await openUnread()
  await eventually(async () => (await hits('transferTimeoutSeconds')) === 2)
  // No memory of either reader is left.
  await eventually(async () => (await held()) === 0)
  expect(await metric(server, 'weft_feed_readers')).toBe(0)
}, 60_000)

it('[FEED-63] ends streams of a workspace whose unread pages exceed its memory', async () => {
  await start({ memoryBudgetBytes: 16 * MiB, maxDocumentBytes: 2 * MiB })
  await fill()
  const max = await metric(server, 'weft_memory_held_max_bytes{holder="unread_responses"}')
  // The workspace may hold 3 MiB, and all of them 6 MiB. Each stream holds a content of 900 KB.
  for (let streams = 0; streams < 10; streams++) {
    await openUnread()
    expect(await held()).toBeLessThanOrEqual(max)
  }
  await eventually(async () => (await hits('unreadMemoryPerWorkspace')) > 0)
  expect(await held()).toBeLessThanOrEqual(max)
  // The server has disconnected a reader before it could receive all contents.
  const ended = await Promise.race(sockets.map(allOf))
  expect(ended.slice(0, 12)).toBe('HTTP/1.1 200')
  expect(ended.length).toBeLessThan(documents * contentBytes)
}, 60_000)

it('[FEED-64] a stream counts as a call of its API key, and is in the list of recent requests', async () => {
  await start()
  const { apiKey, authToken } = server.credentials
  const open = async (headers: Record<string, string>, query = '') => {
    const response = await fetch(`${server.url}/v2/feed/stream${query}`, { headers })
    if (response.status === 200) await response.body?.cancel()
    return response
  }
  const own = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
  expect((await open(own)).status).toBe(200)
  expect((await open(own, '?cursor=x')).status).toBe(400)
  expect((await open({ ...own, 'x-service-auth-token': 'wrong' })).status).toBe(401)
  const requests = dataOf(await server.post('/v2/requests/get', {})) as {
    target: string
    outcome: string
  }[]
  const outcomes = requests.filter(({ target }) => target === '/v2/feed/stream').map(({ outcome }) => outcome)
  expect(outcomes.toSorted()).toEqual(['FAILED_PRECONDITION', 'UNAUTHENTICATED', 'success'])
  await server.stop()
  await start({ callsPerKey: { perSecond: 1, burst: 2 } })
  const answers = [await open(headersOf()), await open(headersOf()), await open(headersOf())]
  const last = answers.at(-1) as Response
  expect(last.status).toBe(429)
  expect(last.headers.get('retry-after')).not.toBeNull()
}, 60_000)

const headersOf = () => {
  const { apiKey, authToken } = server.credentials
  return { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
}
