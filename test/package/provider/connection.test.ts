import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { DocumentProvider, TokenDeniedError } from '../../../src/client/provider/index.ts'
import { eventually } from '../../support/clients/clients.ts'
import { openProvider, recorded, settled, textOf } from '../../support/clients/provider.ts'
import { dataOf, shortToken, startTestServer, type TestServer } from '../../support/servers/server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function start(...options: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(...options)
  ends.push(() => server.stop())
  return server
}

function open(options: Parameters<typeof openProvider>[0]): DocumentProvider {
  const provider = openProvider(options)
  ends.push(() => provider.destroy())
  return provider
}

const statusesOf = (calls: readonly unknown[][]): unknown[] =>
  calls.map(([status, problem]) => {
    const code = (problem as { code: string } | null)?.code
    return code === undefined ? status : `${String(status)}: ${code}`
  })

it('[PROV-4] does not renew a token that is valid for months', async () => {
  const server = await start()
  let [requests, messages] = [0, 0]
  class Counted extends WebSocket {
    override send(data: Uint8Array): void {
      messages += 1
      super.send(data)
    }
  }
  const ada = open({
    url: server.url,
    documentId: 'months',
    getToken: () => {
      requests += 1
      return shortToken(server, 'ada', 40 * 86_400)
    },
    WebSocket: Counted as never,
  })
  await settled(ada)
  // A delay that a timer cannot have would end after 1 ms; renewals have 1 s between them.
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect(requests).toBe(1)
  expect(messages).toBeLessThan(10)
})

it('[PROV-4] renews its token over the open connection before it expires, over websockets and HTTP', async () => {
  const server = await start()
  await Promise.all(
    [false, true].map(async (isHttp) => {
      let [tokens, sockets] = [0, 0]
      class Counted extends WebSocket {
        constructor(url: string) {
          super(url)
          sockets += 1
        }
      }
      const ada = open({
        url: server.url,
        documentId: isHttp ? 'http' : 'websocket',
        getToken: () => {
          tokens += 1
          return shortToken(server, 'ada', 4)
        },
        WebSocket: isHttp ? null : (Counted as never),
      })
      const [statuses, synced] = [recorded(ada, 'status'), recorded(ada, 'synced')]
      await settled(ada)
      const until = Date.now() + 6_000
      while (Date.now() < until) {
        textOf(ada).insert(0, '.')
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
      await settled(ada)
      expect(tokens).toBeGreaterThanOrEqual(3)
      expect(sockets).toBe(isHttp ? 0 : 1)
      expect(statusesOf(statuses)).toEqual(['connected'])
      expect(synced).toEqual([[true]])
    }),
  )
})

it('[PROV-5] gets a new token at once if the server rejects one, and stops after the third rejection', async () => {
  const server = await start()
  const expired = await shortToken(server, 'ada', 1)
  const other = open({ url: server.url, getToken: () => server.token('grace') })
  await settled(other)
  await new Promise((resolve) => setTimeout(resolve, 1_600))
  const given = [expired, await server.token('ada')]
  const ada = open({ url: server.url, getToken: () => given.shift() as string })
  const statuses = recorded(ada, 'status')
  await settled(ada)
  expect(statusesOf(statuses)).toEqual(['connecting: token-expired', 'connected'])
  expect(given).toEqual([])
  const lin = open({ url: server.url, getToken: () => expired })
  const problems = recorded(lin, 'status')
  await eventually(() => lin.status === 'closed')
  expect(statusesOf(problems)).toEqual(['connecting: token-expired', 'closed: token-rejected'])
  expect(lin.problem).toMatchObject({ action: 'stop', closeCode: 4401 })
})

it('[PROV-5] gets a new token if tokens are revoked', async () => {
  const server = await start()
  const ada = open({ url: server.url, getToken: () => server.token('ada') })
  await settled(ada)
  const statuses = recorded(ada, 'status')
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId: 'ada' }))
  // The revocation also covers a new token of the same second.
  await eventually(() => statuses.length > 1)
  await settled(ada)
  expect(statusesOf(statuses)).toEqual(['connecting: token-expired', 'connected'])
})

it('[PROV-6] tries again if the endpoint of tokens fails, less often with each failure, and stops if it refuses', async () => {
  const server = await start()
  const requests: { at: number; body: string; type: string | undefined }[] = []
  let answer: (count: number) => { status: number; body: string } = () => ({ status: 500, body: 'no' })
  const endpoint = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push({ at: Date.now(), body, type: request.headers['content-type'] })
      const { status, body: text } = answer(requests.length)
      response.writeHead(status).end(text)
    })
  }).listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  ends.push(() => endpoint.close())
  const token = await server.token('ada')
  answer = (count) =>
    count < 4 ? { status: 500, body: 'no' } : { status: 200, body: JSON.stringify({ token }) }
  const ada = new DocumentProvider({
    url: server.url,
    organizationId: 'acme',
    documentId: 'plan',
    tokenUrl: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`,
    WebSocket: WebSocket as never,
  })
  ends.push(() => ada.destroy())
  const statuses = recorded(ada, 'status')
  await settled(ada)
  expect(statusesOf(statuses)).toEqual(['offline: token-unavailable', 'connected'])
  expect(requests).toHaveLength(4)
  expect(requests[0]).toMatchObject({ type: 'application/json' })
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    organizationId: 'acme',
    documentId: 'plan',
    editorId: 'main',
  })
  const [one = 0, two = 0, three = 0] = requests
    .slice(1)
    .map(({ at }, index) => at - (requests[index]?.at ?? 0))
  // The delays are 200, 400 and 800 ms, each reduced by up to a half.
  expect(one).toBeGreaterThanOrEqual(95)
  expect(two).toBeGreaterThanOrEqual(195)
  expect(three).toBeGreaterThanOrEqual(395)
  answer = () => ({ status: 403, body: 'no' })
  ada.disconnect()
  const denied = new DocumentProvider({
    url: server.url,
    organizationId: 'acme',
    documentId: 'plan',
    tokenUrl: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`,
    WebSocket: WebSocket as never,
  })
  ends.push(() => denied.destroy())
  await eventually(() => denied.status === 'closed')
  expect(denied.problem).toMatchObject({ code: 'token-denied', action: 'stop', closeCode: null })
  const refused = open({
    url: server.url,
    getToken: () => {
      throw new TokenDeniedError('signed out')
    },
  })
  await eventually(() => refused.status === 'closed')
  expect(refused.problem).toMatchObject({ code: 'token-denied', message: 'signed out' })
})

it('[PROV-7] reports why the server closed, and does not connect again after a permanent close', async () => {
  const server = await start()
  const ada = open({ url: server.url, getToken: () => server.token('ada') })
  await settled(ada)
  textOf(ada).insert(0, 'text')
  await settled(ada)
  const where = { organizationId: 'acme', documentId: 'plan' }
  const listed = dataOf(await server.post('/v2/connections/get', where)) as { connectionId: string }[]
  dataOf(
    await server.post('/v2/connections/close', { connectionIds: listed.map((each) => each.connectionId) }),
  )
  await eventually(() => ada.status === 'closed')
  expect(ada.problem).toMatchObject({ code: 'forbidden', action: 'stop', closeCode: 4403 })
  textOf(ada).insert(4, ' two')
  expect(ada.saved).toBe(false)
  ada.connect()
  await settled(ada)

  dataOf(
    await server.post('/v2/organizations/documents/delete', {
      organizationId: 'acme',
      documentIds: ['plan'],
    }),
  )
  await eventually(() => ada.status === 'closed')
  expect(ada.problem).toMatchObject({ code: 'not-found', closeCode: 4404 })
  expect(ada.synced).toBe(false)
  dataOf(await server.post('/v2/crdt/add', { ...where, editorId: 'main', type: 'text', data: 'New.' }))
  ada.connect()
  await eventually(() => ada.status === 'closed')
  expect(ada.problem).toMatchObject({ code: 'document-replaced', action: 'stop', closeCode: null })
  expect(dataOf(await server.post('/v2/crdt/get', { ...where, editorId: 'main' }))).toMatchObject([
    { data: 'New.' },
  ])

  const bad = open({ url: server.url, documentId: '..', getToken: () => server.token('ada') })
  await eventually(() => bad.status === 'closed')
  expect(bad.problem).toMatchObject({ code: 'invalid-request', closeCode: 4400 })
  expect(() => open({ url: 'nowhere' })).toThrow(TypeError)
})

it('[PROV-8] connects again after the server has restarted, and sends what was written meanwhile', async () => {
  const engine = { engine: 'level' as const }
  const first = await startTestServer(engine)
  const dataDir = first.config.dataDir
  let server = first
  const options = { url: first.url, getToken: () => server.token('ada') }
  const [ada, grace] = [open(options), open(options)]
  await Promise.all([settled(ada), settled(grace)])
  textOf(ada).insert(0, 'before ')
  await settled(ada)
  const statuses = recorded(ada, 'status')
  await first.server.close()
  await eventually(() => ada.status === 'offline' && grace.status === 'offline')
  textOf(ada).insert(0, 'ada ')
  textOf(grace).insert(0, 'grace ')
  server = await startTestServer({ ...engine, dataDir, port: first.port })
  ends.push(() => server.stop())
  await eventually(() => String(textOf(ada)).length === 17 && String(textOf(ada)) === String(textOf(grace)))
  await Promise.all([settled(ada), settled(grace)])
  expect(statusesOf(statuses)).toEqual(
    expect.arrayContaining(['connecting: server-restart', 'offline: connection-lost', 'connected']),
  )
})

it('[PROV-10] ends its connection when the document is destroyed or `disconnect` is called, and calls nothing afterwards', async () => {
  const server = await start()
  const ada = open({ url: server.url, getToken: () => server.token('ada') })
  await settled(ada)
  ada.disconnect()
  expect([ada.status, ada.problem, ada.synced]).toEqual(['closed', null, false])
  ada.connect()
  await settled(ada)
  const calls = recorded(ada, 'status')
  ada.doc.destroy()
  ada.connect()
  const connected = async (): Promise<unknown[]> =>
    dataOf(await server.post('/v2/connections/get', {})) as unknown[]
  await eventually(async () => (await connected()).length === 0)
  expect(statusesOf(calls)).toEqual(['closed'])
})
