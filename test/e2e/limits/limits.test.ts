import { afterEach, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import type { ServerOverrides } from '../../../src/server/server.ts'
import { contentOf, eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { type Answer, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherKey, otherWorkspace } from '../../support/servers/tenants.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { itLong } from '../../support/time/full-run.ts'

let server: TestServer
let token: string
const clients: RawClient[] = []

async function start(overrides: Partial<Config>, given: ServerOverrides = {}): Promise<void> {
  server = await startTestServer({ adminToken, ...overrides }, given)
  token = await server.token('ada')
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.end()
  await server.stop()
})

async function connect(documentId: string, by = token, from?: string): Promise<RawClient> {
  const headers = from === undefined ? {} : { 'x-forwarded-for': from }
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${by}`, headers)
  clients.push(client)
  return client
}

async function welcome(documentId: string, by = token, from?: string): Promise<RawClient> {
  const client = await connect(documentId, by, from)
  await client.roundTrip()
  return client
}

const full = (limit: string, value: number) => ({
  code: 1013,
  reason: expect.stringContaining(`${limit} is ${value}`),
})
const exceeded = (limit: string): Promise<number> => metric(server, `weft_limit_hits_total{limit="${limit}"}`)
const details = ({ body }: Answer): unknown => body.error?.details
const code = 'limit/exceeded'

it('[LIM-1] limits the open websockets of a workspace over all its API keys, and does not limit other workspaces', async () => {
  await start({ maxConnectionsPerWorkspace: 3 })
  const [key, other] = [await otherKey(server), await otherWorkspace(server)]
  const first = await welcome('one')
  await welcome('two')
  await welcome('three', key.token)
  for (const by of [token, key.token])
    expect(await (await connect('four', by)).closed).toEqual(full('maxConnectionsPerWorkspace', 3))
  await welcome('one', other.token)
  first.end()
  await eventually(async () => (await metric(server, 'weft_connections')) === 3)
  await welcome('four')
  expect(await exceeded('maxConnectionsPerWorkspace')).toBe(2)
})

it('[LIM-2] limits the new websockets of an address before it reads from them, and does not limit other addresses', async () => {
  await start({ connectsPerAddress: { perSecond: 1, burst: 3 }, trustProxy: 1 })
  const mine = '2001:db8:1:1::1'
  await welcome('one', token, mine)
  expect(await (await connect('one', 'wrong', mine)).closed).toMatchObject({ code: 4401 })
  expect(await (await connect('a/b/c', token, '2001:db8:1:1::2')).closed).toMatchObject({ code: 4400 })
  for (const by of [token, 'wrong'])
    expect(await (await connect('one', by, '2001:db8:1:1::3')).closed).toEqual({
      code: 1013,
      reason: 'too many new connections from this address: connectsPerAddress is 1 per second',
    })
  await welcome('one', token, '2001:db8:1:2::1')
  await welcome('one', token, '192.0.2.1')
})

it('[LIM-4] closes unused documents of a workspace to make room for others; if all documents are in use, rejects sockets and calls', async () => {
  await start({ maxDocumentsPerWorkspace: 2 })
  const other = await otherWorkspace(server)
  const add = (documentId: string, headers = {}) =>
    server.post(
      '/v2/crdt/add',
      { organizationId: 'acme', documentId, editorId: 'main', type: 'text', data: `text of ${documentId}` },
      headers,
    )
  for (const id of ['a', 'b', 'c', 'd', 'e']) expect((await add(id)).status).toBe(200)
  await eventually(async () => (await metric(server, 'weft_rooms_open')) === 2)
  const first = await welcome('a')
  await welcome('b')
  await welcome('b')
  expect(await (await connect('c')).closed).toEqual(full('maxDocumentsPerWorkspace', 2))
  const refused = await add('f')
  expect(refused).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(details(refused)).toEqual({ code, limit: 'maxDocumentsPerWorkspace', value: 2, scope: 'workspace' })
  expect((await add('a', other.headers)).status).toBe(200)
  await welcome('b', other.token)
  expect(await exceeded('maxDocumentsPerWorkspace')).toBe(2)
  first.end()
  await eventually(async () => (await metric(server, 'weft_connections')) === 3)
  const late = await welcome('c')
  expect(contentOf(late.offers())).toBe('text of c')
})

it('[LIM-4] does not count a document that cannot be opened as an open document', async () => {
  const engine = withLog(await openMemoryEngine(), (log) => ({
    load: (address) =>
      String(address).includes('broken')
        ? Promise.reject(new StoreUnavailableError('away'))
        : log.load(address),
  }))
  await start({ maxDocumentsPerWorkspace: 1 }, { engine })
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(await (await connect(`broken-${attempt}`)).closed).toMatchObject({
      code: 1013,
      reason: 'the document could not be opened: try again',
    })
  await welcome('fine')
})

itLong(
  '[LIM-5] when a workspace exceeds its receive rate, reads its sockets slowly, loses nothing, and does not slow other workspaces',
  async () => {
    await start({ receiveBytesPerWorkspace: { perSecond: 200_000, burst: 300_000 } })
    const other = await otherWorkspace(server)
    const [writer, witness, calm] = [
      await welcome('one'),
      await welcome('one'),
      await welcome('one', other.token),
    ]
    for (let client = 1; client <= 20; client += 1) writer.sendUpdate(typed('x'.repeat(50_000), client))
    await eventually(async () => (await exceeded('receiveBytesPerWorkspace')) > 0)
    for (let turn = 0; turn < 5; turn += 1) await calm.roundTrip()
    expect(witness.updates().length).toBeLessThan(20)
    await eventually(() => contentOf(witness.updates()).length === 1_000_000)
    await writer.roundTrip()
  },
)

it('[LIM-6] limits the calls and page requests of an address before it reads them, but limits neither health checks nor other addresses', async () => {
  server = await startTestServer({ callsPerAddress: { perSecond: 1, burst: 3 }, trustProxy: 1 })
  const path = '/v2/users/get'
  const from = (address: string, more = {}) =>
    server.post(path, { organizationId: 'acme' }, { 'x-forwarded-for': address, ...more })
  const wrong = { 'x-service-auth-token': 'a guess' }
  expect((await from('192.0.2.1', wrong)).status).toBe(401)
  expect((await server.post('/nowhere', {}, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(404)
  expect((await from('192.0.2.1', { 'content-type': 'text/plain' })).status).toBe(400)
  for (const more of [{}, wrong, { 'content-type': 'text/plain' }]) {
    const refused = await from('192.0.2.1', more)
    expect(refused).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(details(refused)).toEqual({ code, limit: 'callsPerAddress', value: 1, scope: 'address' })
  }
  expect((await from('192.0.2.2')).status).not.toBe(429)
  const look = async (page: string) =>
    (await fetch(server.url + page, { headers: { 'x-forwarded-for': '192.0.2.1' } })).status
  for (let looks = 0; looks < 5; looks += 1) {
    expect(await look('/healthz')).toBe(200)
    expect(await look('/readyz')).toBe(200)
  }
  for (const page of ['/openapi.json', '/docs', '/metrics', '/backup', '/'])
    expect(await look(page)).toBe(429)
  expect(await exceeded('callsPerAddress')).toBe(8)
})

it('[LIM-7] limits the bytes of request bodies for each API key, with and without a content-length header', async () => {
  await start({ bodyBytesPerKey: { perSecond: 1000, burst: 100_000 }, maxBodyBytes: 60_000 })
  const other = await otherWorkspace(server)
  const body = { organizationId: 'acme', padding: 'x'.repeat(40_000) }
  const send = (headers = {}) => server.post('/v2/users/get', body, headers)
  const chunked = () => {
    const text = JSON.stringify({ data: body })
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        controller.close()
      },
    })
    const { apiKey, authToken } = server.credentials
    const headers = {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    }
    return fetch(`${server.url}/v2/users/get`, {
      method: 'POST',
      headers,
      body: chunks,
      duplex: 'half',
    } as RequestInit)
  }
  expect((await send()).status).not.toBe(429)
  expect((await chunked()).status).not.toBe(429)
  expect((await chunked()).status).not.toBe(429)
  expect((await chunked()).status).toBe(429)
  const refused = await send()
  expect(refused).toMatchObject({ status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } })
  expect(details(refused)).toEqual({ code, limit: 'bodyBytesPerKey', value: 1000, scope: 'apiKey' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(5)
  expect((await send(other.headers)).status).not.toBe(429)
})
