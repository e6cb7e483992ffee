import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { contentOf, eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { type EventStream, HttpSession } from '../../support/clients/http-session.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function start(...[overrides, given]: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(overrides, given)
  stops.push(() => server.stop())
  return server
}

const sessionOf = ({ url }: Pick<TestServer, 'url'>, token: string | null, options = {}): HttpSession =>
  new HttpSession(`${url}/sync-http/acme/plan/main`, token, options)
const vector = message([0, 0], Uint8Array.of(0))
const update = (bytes: Uint8Array): Uint8Array => message([0, 2], bytes)

async function streamOf(session: HttpSession, position = 0): Promise<EventStream> {
  const stream = await session.stream({ position })
  stops.push(() => stream.cut())
  return stream
}

const lastId = (stream: EventStream): number => stream.messages().at(-1)?.id ?? 0
const hasText = (stream: EventStream, text: string): boolean =>
  stream.messages().some(({ bytes }) => bytes.includes(text))

it('[TRANS-12] rejects a client with one event that has the close code and the reason of a websocket', async () => {
  const server = await start({ createOnConnect: false })
  const token = await server.token('ada')
  const reasonOf = async (path: string, by: string | null): Promise<unknown> => {
    const session = new HttpSession(`${server.url}/sync-http/${path}`, by)
    const stream = await session.stream()
    await stream.ended
    expect(stream.response.status).toBe(200)
    return stream.closed()
  }
  for (const [path, by] of [
    ['acme/plan', token],
    ['acme/plan/main', 'wrong'],
    ['acme/plan/main', null],
    ['acme/absent/main', token],
  ] as const) {
    const socket = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${by ?? ''}`)
    const { code, reason } = await socket.closed
    expect(code).toBeGreaterThan(4000)
    expect(await reasonOf(path, by)).toEqual({ code, reason })
  }
  // The token may also be in the URL, as for websockets.
  const inUrl = new HttpSession(`${server.url}/sync-http/acme/plan/main`, null, { query: { token } })
  expect((await inUrl.poll(0, 0)).closed()).toMatchObject({ code: 4404 })
  const recent = dataOf(await server.post('/v2/requests/get', {})) as {
    kind: string
    outcome: string
  }[]
  expect(recent.filter(({ kind }) => kind === 'websocket').map(({ outcome }) => outcome)).toContain('4404')
})

it('[TRANS-13] rejects the requests of other users and other API keys, and shows them nothing of the session', async () => {
  const server = await start()
  const token = await server.token('ada')
  const own = sessionOf(server, token)
  const stream = await streamOf(own)
  await own.post([update(typed('confidential', 1)), vector])
  await eventually(() => hasText(stream, 'confidential'))
  const key = await otherKey(server)
  for (const other of [await server.token('bob'), key.token, 'wrong', null]) {
    const thief = sessionOf(server, other, { id: own.id })
    const found = await thief.poll(0, 0)
    expect(found.events).toMatchObject([{ event: 'close' }])
    expect(found.closed()).toMatchObject({ code: 4403 })
    const answer = await thief.post([update(typed('forged', 2))], { number: 3 })
    expect(answer).toMatchObject({
      status: 403,
      body: { error: { details: { code: 'transport/other-user' } } },
    })
    expect((await thief.postBody('', { close: 1000, position: 999 })).status).toBe(403)
  }
  // A newer token of the same user is accepted.
  const again = sessionOf(server, await server.token('ada', { name: 'Ada L.' }), { id: own.id })
  expect((await again.post([update(typed('more', 3))], { number: 3 })).body).toEqual({ received: 3 })
  expect(stream.closed()).toBeUndefined()
  expect(hasText(stream, 'forged')).toBe(false)
})

it('[TRANS-14] answers requests of an unknown session: 1013 for a GET that resumes, 404 for a POST', async () => {
  const server = await start()
  const session = sessionOf(server, await server.token('ada'))
  const unknown = { code: 1013, reason: 'unknown session; connect again' }
  expect((await session.poll(4)).closed()).toEqual(unknown)
  const withoutMessages = await session.stream({ position: 0, resume: 1 })
  await withoutMessages.ended
  expect(withoutMessages.closed()).toEqual(unknown)
  expect(await session.post([vector])).toMatchObject({
    status: 404,
    body: { error: { details: { code: 'transport/unknown-session' } } },
  })
  const stream = await streamOf(session)
  await eventually(() => stream.messages().length > 0)
  // A delayed request with a position that the session does not have leaves the session alone.
  expect((await session.poll(99)).closed()).toMatchObject({ code: 1013 })
  await session.post([vector])
  await eventually(() => stream.messages().length > 1)
})

it('[TRANS-15] closes a session when its token expires or its access ends, and sends the reason also in the next response', async () => {
  let aheadMs = 0
  const clock: Clock = { now: () => Date.now() + aheadMs, after: (ms, fn) => systemClock.after(ms, fn) }
  const server = await start({}, { clock })
  const expiring = await server.token('ada', { expiresInSeconds: 60 })
  const [first, second] = [sessionOf(server, expiring), sessionOf(server, expiring, { query: { renew: 1 } })]
  const polling = sessionOf(server, expiring)
  const position = lastId(await polling.poll(0))
  for (const stepMs of [19_000, 19_000, 19_000]) {
    aheadMs += stepMs
    expect((await polling.poll(position, 0)).closed()).toBeUndefined()
  }
  const [streaming, renewing] = [await streamOf(first), await streamOf(second)]
  aheadMs += 4_000
  await streaming.ended
  await renewing.ended
  expect(streaming.closed()).toEqual({ code: 4401, reason: 'the token has expired' })
  expect(renewing.closed()).toEqual({ code: 1012, reason: 'token expired; reconnect with a new token' })
  expect((await polling.poll(position)).closed()).toEqual({ code: 4401, reason: 'the token has expired' })
  expect((await polling.poll(position)).closed()).toMatchObject({ code: 1013 })
  const resources = [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'editor' }] as const
  dataOf(
    await server.post('/v2/crdt/add', {
      organizationId: 'acme',
      documentId: 'plan',
      editorId: 'x',
      type: 'text',
      data: 'a',
    }),
  )
  const stream = await streamOf(sessionOf(server, await server.token('bob', { resources })))
  await eventually(() => stream.messages().length > 0)
  dataOf(
    await server.post('/v2/organizations/documents/delete', {
      organizationId: 'acme',
      documentIds: ['plan'],
    }),
  )
  await stream.ended
  expect(stream.closed()).toMatchObject({ code: 4404 })
  await eventually(
    async () => (await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')) === 0,
  )
})

it('[TRANS-16] rejects malformed requests and bodies, and closes only the session that sent a malformed body', async () => {
  const server = await start({ maxMessageBytes: 1024 })
  const token = await server.token('ada')
  const neighbor = await streamOf(sessionOf(server, token))
  const invalidIds = ['', 'x'.repeat(32), 'A'.repeat(32), '0'.repeat(31)]
  for (const id of invalidIds) expect((await sessionOf(server, token, { id }).post([])).status).toBe(400)
  for (const query of [{ position: -1 }, { position: '1e3' }, { wait: 99 }]) {
    expect((await sessionOf(server, token, { query }).stream()).response.status).toBe(400)
  }
  for (const query of [{ number: 0 }, { number: 'x' }, { close: 5 }])
    expect((await sessionOf(server, token).postBody('', query)).status).toBe(400)
  for (const [body, status, code] of [
    [Uint8Array.of(5, 0), 400, 4400],
    [Uint8Array.of(255, 255, 255, 255, 255, 255), 400, 4400],
    [Uint8Array.of(0, 0), 200, 4400],
    [message([], Uint8Array.of(99, 1)), 200, 4400],
    [message([], new Uint8Array(1025)), 413, 4413],
    [new Uint8Array(262_145), 413, 4413],
  ] as const) {
    const session = sessionOf(server, token)
    const stream = await streamOf(session)
    expect((await session.postBody(Buffer.from(body), { number: 1 })).status).toBe(status)
    await stream.ended
    expect(stream.closed()).toMatchObject({ code })
  }
  for (const [path, method, status] of [
    ['/sync-http', 'DELETE', 405],
    ['/sync-http/acme/plan/main', 'PUT', 405],
    ['/sync-http/acme/plan/main', 'OPTIONS', 405],
    ['/sync-https', 'GET', 404],
  ] as const)
    expect((await fetch(server.url + path, { method })).status).toBe(status)
  expect(await metric(server, 'weft_limit_hits_total{limit="maxMessageBytes"}')).toBe(2)
  expect(neighbor.closed()).toBeUndefined()
})

it('[TRANS-17] begins sessions only for pages of allowed origins, and ends them with this right', async () => {
  const server = await start()
  const origin = 'https://cors.test'
  const token = await server.token('ada')
  const url = `${server.url}/sync-http/acme/plan/main`
  const preflight = (): Promise<Response> =>
    fetch(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } })
  expect((await preflight()).status).toBe(204)
  dataOf(await server.post('/v2/workspace/domains/add', { domains: ['cors.test', 'other.test'] }))
  const stranger = await streamOf(sessionOf(server, token, { headers: { origin: 'https://bad.test' } }))
  await stranger.ended
  expect(stranger.closed()).toMatchObject({ code: 4401 })
  const { status, headers } = await preflight()
  expect(status).toBe(204)
  expect(headers.get('access-control-allow-methods')).toBe('GET, POST')
  expect(headers.get('access-control-allow-headers')).toContain('authorization')
  const page = sessionOf(server, token, { headers: { origin } })
  const stream = await streamOf(page)
  expect(stream.response.headers.get('access-control-allow-origin')).toBe(origin)
  expect((await page.post([vector])).status).toBe(200)
  // The session also ends with the right of its page.
  dataOf(await server.post('/v2/workspace/domains/delete', { domains: ['cors.test'] }))
  await stream.ended
  expect(stream.closed()).toMatchObject({ code: 4401 })
})

it('[TRANS-18] closes sessions with 1012 when the server stops, also those that poll', async () => {
  const server = await startTestServer({ shutdownSeconds: 600 })
  const token = await server.token('ada')
  const streams = await Promise.all(Array.from({ length: 20 }, () => streamOf(sessionOf(server, token))))
  const poller = sessionOf(server, token)
  const position = lastId(await poller.poll(0))
  const waiting = poller.poll(position)
  await eventually(
    async () => (await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')) === 21,
  )
  // A shutdown that waited for the sessions would take longer than a test may.
  await server.stop()
  for (const stream of [...streams, await waiting]) {
    await stream.ended
    expect(stream.closed()).toEqual({ code: 1012, reason: 'the server is restarting' })
  }
})

it('[TRANS-19] loses nothing of a client whose server is killed: the session is unknown then, and a new one sends what is missing', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-http-'))
  let server: ServerProcess = await startProcess(data)
  stops.push(
    () => rm(data, { recursive: true, force: true, maxRetries: 20 }),
    () => server.end('SIGKILL'),
  )
  const token = await server.token()
  const session = sessionOf(server, token, { query: { saved: 1 } })
  const stream = await streamOf(session)
  await session.post([update(typed('saved', 1))])
  await eventually(() => stream.messages().some(({ bytes }) => bytes[0] === 111))
  const position = lastId(stream)
  const port = Number(new URL(server.url).port)
  await server.end('SIGKILL')
  await stream.ended
  expect(stream.closed()).toBeUndefined()
  server = await startProcess(data, {}, port)
  expect((await session.poll(position)).closed()).toMatchObject({ code: 1013 })
  expect((await session.post([update(typed('lost', 2))])).status).toBe(404)
  const next = sessionOf(server, token)
  const resumed = await streamOf(next)
  await next.post([message([0, 1], typed('lost', 2)), vector])
  await eventually(() => hasText(resumed, 'saved') && hasText(resumed, 'lost'))
  const offers = resumed.messages().filter(({ bytes }) => bytes[0] === 0 && bytes[1] === 1)
  expect(contentOf(offers.map(({ bytes }) => bytes.subarray(bytes.length > 130 ? 4 : 3)))).toHaveLength(9)
})
