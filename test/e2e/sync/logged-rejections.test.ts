import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { SignJWT } from 'jose'
import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { callbackTests, send } from '../../support/servers/callback-servers.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { answering, hookTests } from '../../support/servers/webhook-servers.ts'

type Line = Readonly<Record<string, unknown>>

let lines: Line[] = []
let server: TestServer | null = null

afterEach(async () => {
  await server?.stop()
  server = null
  lines = []
})

const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
const eventsNamed = (event: string): Line[] => lines.filter((line) => line.event === event)

const document = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const address = '127.0.0.1'

it('[RUN-11] logs each rejected token with reason, address and document, and logs a flood of rejected tokens in one line', async () => {
  server = await startTestServer({}, { log })
  const wsUrl = `${server.wsUrl}/sync/acme/plan/main`
  const flood = await Promise.all(Array.from({ length: 30 }, () => RawClient.connect(`${wsUrl}?token=wrong`)))
  await Promise.all(flood.map(({ closed }) => closed))
  await (await RawClient.connect(wsUrl)).closed
  const provider = hocuspocusProvider(server, 'acme/other/main', 'wrong', {
    version: 4,
    socket: hocuspocusSocket(server, 4),
  })
  await new Promise((resolve) => provider.on('authenticationFailed', resolve))
  provider.destroy()
  expect(eventsNamed('token.rejected')).toMatchObject([
    { ...document, reason: 'malformed', address, times: 1 },
    { ...document, reason: 'missing', address, times: 1 },
    { ...document, documentId: 'other', reason: 'malformed', address, times: 1 },
  ])
  await server.stop()
  // The server logs the number of the other rejections at its end.
  expect(eventsNamed('token.rejected').slice(3)).toMatchObject([
    { ...document, reason: 'malformed', times: 29 },
  ])
  expect(JSON.stringify(lines)).not.toContain('wrong')
})

it('[ACC-94] rejects a token with a misspelled claim, and states the claim in the close reason and the log', async () => {
  server = await startTestServer({}, { log })
  const { workspaceId: ws, apiKey: key, jwtSecret } = server.credentials
  const token = await new SignJWT({ ws, key, grnats: [] })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('weft')
    .setSubject('ann')
    .setExpirationTime('1m')
    .sign(Buffer.from(jwtSecret))
  const detail = 'the token has an unknown claim "grnats" (did you mean "grants"?)'
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${token}`)
  expect(await client.closed).toMatchObject({ code: 4401, reason: detail })
  expect(eventsNamed('token.rejected')).toMatchObject([{ ...document, reason: 'claims', detail, address }])
})

it('[RUN-11] logs the detailed reason of each rejected websocket, which the client does not receive', async () => {
  server = await startTestServer({ createOnConnect: false }, { log })
  const open = async (path: string): Promise<{ code: number; reason: string }> =>
    (await RawClient.connect(`${server?.wsUrl}${path}?token=${await server?.token('ann')}`)).closed
  const closed = await open('/sync/acme/plan/main')
  expect(closed.code).toBe(4404)
  expect(eventsNamed('socket.rejected')).toMatchObject([
    {
      ...document,
      code: 4404,
      address,
      reason: 'the document does not exist, and this client may not create it',
    },
  ])
  const documents = [{ documentId: 'secret', accessType: 'restricted' }]
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] }))
  dataOf(await server.post('/v2/organizations/documents/add', { organizationId: 'acme', documents }))
  expect(await open('/sync/acme/secret/main')).toEqual(closed)
  expect(eventsNamed('socket.rejected').at(-1)).toMatchObject({
    documentId: 'secret',
    reason: 'the user has no role on the document',
  })
})

it('[RUN-11] logs the rejections of an address for its first ten documents in separate lines, and for further documents in one line', async () => {
  server = await startTestServer({ createOnConnect: false }, { log })
  const token = await server.token('ann')
  const names = Array.from({ length: 15 }, (_, index) => `d${index}`)
  for (const name of [...names, 'd0'])
    await (await RawClient.connect(`${server.wsUrl}/sync/acme/${name}/main?token=${token}`)).closed
  const own = eventsNamed('socket.rejected')
  expect(own.map(({ documentId, times }) => [documentId, times])).toEqual([
    ...names.slice(0, 10).map((name) => [name, 1]),
    [undefined, 1],
  ])
  expect(own.at(-1)).toMatchObject({ address })
  await server.stop()
  const later = eventsNamed('socket.rejected').slice(own.length)
  expect(later.map(({ documentId, times }) => [documentId, times])).toEqual([
    ['d0', 1],
    [undefined, 4],
  ])
})

const callbacks = callbackTests()

it('[RUN-11] logs no rejection of a client that disconnects while its document loads, and closes the room', async () => {
  const {
    server: loading,
    configure,
    connect,
    read,
  } = await callbacks.start({ defaultAccess: 'public', idleUnloadSeconds: 0 }, log)
  let answer = (): void => {}
  const { url, hooks } = await callbacks.backend((response) => {
    answer = () => send(response, JSON.stringify({ type: 'text', data: 'loaded' }))
  })
  await configure({ load: { url } })
  const gone = await connect('plan')
  await eventually(() => hooks.length === 1)
  ;(Reflect.get(gone.socket, '_socket') as Socket).resetAndDestroy()
  await eventually(async () => (await metric(loading, 'weft_connections_closed_total{code="1006"}')) === 1)
  const present = await connect('plan')
  answer()
  expect(await read(present)).toBe('loaded')
  present.end()
  await eventually(async () => (await metric(loading, 'weft_rooms_open')) === 0)
  expect(eventsNamed('socket.rejected')).toEqual([])
})

/** Sends the request of a websocket; returns the HTTP status of the response. */
const upgradeStatus = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const handshake = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const request = httpRequest(`${server?.url}${path}`, { headers: { ...handshake, ...headers } })
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      response.resume()
    })
    request.on('error', reject).end()
  })

it('[RUN-17] logs rejected credentials of HTTP calls with reason and address, and logs a flood of them in one line', async () => {
  server = await startTestServer({ adminToken: 'a'.repeat(32) }, { log })
  const header = { 'x-service-auth-token': 'very-secret' }
  for (let times = 0; times < 5; times++)
    expect(await server.post('/v2/organizations/get', {}, header)).toMatchObject({ status: 401 })
  await server.post('/v2/organizations/get', {}, { 'x-service-auth-token': '' })
  await fetch(`${server.url}/backup`, { headers: { 'x-service-admin-token': 'very-secret' } })
  expect(eventsNamed('credentials.rejected')).toMatchObject([
    { reason: 'auth/invalid-credentials', address, times: 1 },
    { reason: 'auth/missing-credentials', address, times: 1 },
  ])
  await server.stop()
  expect(eventsNamed('credentials.rejected').at(-1)).toMatchObject({ times: 5 })
  expect(JSON.stringify(lines)).not.toContain('very-secret')
})

it('[RUN-18] the metrics group the pages of all error codes under one route', async () => {
  server = await startTestServer()
  for (const code of ['auth/invalid-credentials', 'request/unknown-path', 'none/such'])
    await fetch(`${server.url}/docs/errors/${code}`)
  await fetch(`${server.url}/docs/errors/none/such`, { method: 'POST' })
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  const routes = [...metrics.matchAll(/duration_seconds_count\{route="(\/docs\/errors[^"]*)"/g)].map(
    ([, route]) => route,
  )
  expect([...new Set(routes)]).toEqual(['/docs/errors/*'])
})

it('[RUN-11] logs a websocket at a wrong path with this path, and without its query', async () => {
  server = await startTestServer({}, { log })
  const reason =
    'there is no websocket at this path; connect to /sync/{organizationId}/{documentId}/{editorId} or /hocuspocus'
  expect(await upgradeStatus('/acme/plan/main?token=secret')).toBe(404)
  expect(eventsNamed('socket.rejected')).toMatchObject([
    { status: 404, requested: '/acme/plan/main', reason, address, times: 1 },
  ])
  for (const path of ['/yjs/acme/plan/main', '/syn/acme/plan/main', '/'])
    expect(await upgradeStatus(path)).toBe(404)
  expect(eventsNamed('socket.rejected')).toHaveLength(1)
  await server.stop()
  expect(eventsNamed('socket.rejected').at(-1)).toMatchObject({ requested: '/', times: 3 })
  expect(JSON.stringify(lines)).not.toContain('secret')
})

it('[RUN-11] states how the provider of Hocuspocus connects if the path names a document', async () => {
  server = await startTestServer({}, { log })
  expect(await upgradeStatus('/hocuspocus/acme/plan/main')).toBe(404)
  expect(eventsNamed('socket.rejected')).toMatchObject([
    { reason: expect.stringMatching(/connect to \/hocuspocus, and name the document in the provider/) },
  ])
})

it('[RUN-11] logs an invalid websocket handshake with its reason', async () => {
  server = await startTestServer({}, { log })
  const path = `/sync/acme/plan/main?token=${await server.token('ann')}`
  const wrong: readonly (readonly [string, string])[] = [
    ['sec-websocket-version', '7'],
    ['sec-websocket-key', 'short'],
    ['sec-websocket-protocol', 'two words'],
  ]
  for (const [name, value] of wrong) {
    expect(await upgradeStatus(path, { [name]: value })).toBe(400)
    const reason = `invalid websocket handshake: missing or invalid ${name} header`
    expect(eventsNamed('socket.rejected').at(-1)).toMatchObject({
      status: 400,
      requested: '/sync/acme/plan/main',
      reason,
      address,
    })
  }
})

it('[RUN-11] logs the invalid address that a websocket requests, without the token', async () => {
  server = await startTestServer({}, { log })
  const token = await server.token('ann')
  const requested = async (path: string): Promise<unknown> => {
    const { code } = await (await RawClient.connect(`${server?.wsUrl}${path}`)).closed
    expect(code).toBe(4400)
    await server?.stop()
    const line = eventsNamed('socket.rejected').at(-1)
    expect(line).toMatchObject({ code: 4400, address })
    server = await startTestServer({}, { log })
    return line?.requested
  }
  expect(await requested(`/sync/acme?token=${token}`)).toBe('/sync/acme')
  expect(await requested(`/sync/acme/plan/main/more&token=${token}`)).toBe('/sync/acme/plan/main/more')
  expect(await requested(`/sync/acme/plan/main/more%3ftoken=${token}`)).toBe('/sync/acme/plan/main/more')
  expect(await requested(`/sync/acme/plan/main/${token}`)).toBe('/sync/acme/plan/main/…')
  expect(await requested(`/sync/${'x'.repeat(2_000)}`)).toBe(`/sync/${'x'.repeat(94)}…`)
  const shared = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
  shared.send(tokenFrame('acme-plan', token))
  await eventually(() => eventsNamed('socket.rejected').at(-1)?.requested === 'acme-plan')
  shared.end()
  const [, payload = ''] = token.split('.')
  expect(JSON.stringify(lines)).not.toContain(payload)
})

it('[RUN-11] when a websocket is closed because of its messages, logs its address and document', async () => {
  server = await startTestServer({}, { log })
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/acme/plan/main?token=${await server.token('ann')}`,
  )
  client.send(Uint8Array.of(99, 1, 2))
  const { code, reason } = await client.closed
  expect(code).toBe(4400)
  expect(eventsNamed('socket.closed')).toMatchObject([{ ...document, code, reason, address, times: 1 }])
  const shared = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
  shared.send(Uint8Array.of(255))
  expect((await shared.closed).code).toBe(4400)
  expect(eventsNamed('socket.closed').at(-1)).toMatchObject({ code: 4400, address })
})

const { start, receiving } = hookTests()

it('[RUN-12] logs a failed webhook attempt with endpoint, event and reason', async () => {
  const { server, endpoint, document: create } = await start({}, log)
  const { apiKey } = server.credentials
  const receiver = await receiving(answering(500))
  const endpointId = await endpoint(receiver.url, { filterTypes: ['document.create'] })
  await create('one')
  await eventually(() => eventsNamed('webhook.attempt_failed').length > 0)
  expect(eventsNamed('webhook.attempt_failed')).toMatchObject([
    {
      apiKey,
      endpointId,
      type: 'document.create',
      messageId: expect.stringMatching(/^msg_/),
      httpStatus: 500,
      reason: 'the receiver answered 500',
      times: 1,
    },
  ])
  for (const name of ['two', 'three', 'four']) await create(name)
  await eventually(() => receiver.hooks.length >= 4)
  expect(eventsNamed('webhook.attempt_failed')).toHaveLength(1)
})

it('[RUN-21] logs that an endpoint was disabled, and logs the messages that therefore fail', async () => {
  const { server, endpoint, document: create } = await start({}, log)
  const { workspaceId, apiKey } = server.credentials
  const receiver = await receiving(answering(410))
  const endpointId = await endpoint(receiver.url, { filterTypes: ['document.create'] })
  await create('one')
  await eventually(() => eventsNamed('webhook.messages_dropped').length > 0)
  expect(eventsNamed('webhook.endpoint_disabled')).toMatchObject([
    { workspaceId, apiKey, endpointId, by: 'gone' },
  ])
  expect(eventsNamed('webhook.messages_dropped')).toMatchObject([
    {
      workspaceId,
      apiKey,
      endpointId,
      type: 'document.create',
      messageId: expect.stringMatching(/^msg_/),
      reason: 'the endpoint is disabled',
      times: 1,
    },
  ])
})
