import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { httpTimeouts } from '../../../src/rest/http/http-server.ts'
import { contentOf, eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { type EventStream, HttpSession } from '../../support/clients/http-session.ts'
import { newKey, TestProvider } from '../../support/servers/identity-provider.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { turnsDuring } from '../../support/time/clock.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function start(...[overrides, given]: Parameters<typeof startTestServer>): Promise<TestServer> {
  const server = await startTestServer(overrides, given)
  stops.push(() => server.stop())
  return server
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const sessionOf = ({ url }: TestServer, token: string, options = {}): HttpSession =>
  new HttpSession(`${url}/sync-http/acme/plan/main`, token, options)
const update = (bytes: Uint8Array): Uint8Array => message([0, 2], bytes)

async function streamOf(session: HttpSession): Promise<EventStream> {
  const stream = await session.stream({ position: 0 })
  stops.push(() => stream.cut())
  return stream
}

async function writerOf({ wsUrl }: TestServer, token: string): Promise<RawClient> {
  const writer = await RawClient.connect(`${wsUrl}/sync/acme/plan/main?token=${token}`)
  stops.push(() => writer.end())
  await writer.roundTrip()
  return writer
}

/** Begins a POST with one message of which nothing is sent yet. */
function beginPost({ url }: TestServer, session: HttpSession, token: string, bytes: number) {
  const request = httpRequest(`${url}/sync-http/acme/plan/main?session=${session.id}&number=1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-length': bytes },
  })
  stops.push(() => request.destroy())
  return request
}

it('[TRANS-40] spreads a POST that repeats very many messages over many ticks', async () => {
  const server = await start()
  const session = sessionOf(server, await server.token('ada'))
  await streamOf(session)
  const body = Buffer.alloc(200_000, Uint8Array.of(1, 3))
  expect((await session.postBody(body, { number: 1 })).body).toEqual({ received: 100_000 })
  const ticks = await turnsDuring(async () => {
    expect((await session.postBody(body, { number: 1 })).body).toEqual({ received: 100_000 })
  })
  expect(ticks).toBeGreaterThan(80)
})

it('[TRANS-40] counts the bytes of repeated messages in the receive rate', async () => {
  const server = await start({ receiveBytesPerWorkspace: { perSecond: 200_000, burst: 200_000 } })
  const session = sessionOf(server, await server.token('ada'))
  await streamOf(session)
  const part = update(typed('w'.repeat(60_000), 1))
  const startedAt = performance.now()
  for (let count = 0; count < 8; count += 1)
    expect((await session.post([part], { number: 1 })).body).toEqual({ received: 1 })
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
})

it('[TRANS-41] answers a GET with 1013 if the session ends while its token is checked', async () => {
  const provider = new TestProvider()
  const keysUrl = await provider.start()
  stops.push(() => provider.stop())
  let requested = 0
  const keysAddress = await listen((_request, response) => {
    requested += 1
    setTimeout(() => void fetch(keysUrl).then(async (keys) => response.end(await keys.text())), 500)
  })
  const jwtJwksUrl = `${keysAddress}/jwks.json`
  const key = await newKey('one', 'ES256')
  provider.keys = [key]
  const { issuer: jwtIssuer, audience: jwtAudience } = provider
  const server = await start({ jwtJwksUrl, jwtIssuer, jwtAudience })
  const session = sessionOf(server, await server.token('idp|ann'))
  const stream = await streamOf(session)
  await eventually(() => stream.messages().length > 0)
  // With an older position, the server would reject the GET in any case.
  const position = stream.messages().at(-1)?.id ?? 0
  const later = sessionOf(server, await provider.sign(key), { id: session.id }).poll(position, 20)
  await eventually(() => requested > 0)
  expect((await session.post([], { close: 1000 })).status).toBe(200)
  await stream.ended
  expect((await later).closed()).toEqual({ code: 1013, reason: 'unknown session; connect again' })
})

it('[TRANS-41] begins a session once if the token checks of two GETs with its id end together', async () => {
  const engine = await openMemoryEngine()
  const server = await start({}, { engine })
  const token = await server.token('ann')
  const { kv } = engine
  const get = kv.get.bind(kv)
  let waiting = 0
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  kv.get = async (...given) => {
    waiting += 1
    await gate
    return get(...given)
  }
  const first = sessionOf(server, token)
  const both = [first, sessionOf(server, token, { id: first.id })].map((session) => session.poll(0, 5))
  await eventually(() => waiting >= 2)
  open()
  const closes = (await Promise.all(both)).map((poll) => poll.closed())
  const reason = 'the session begins with another request; connect again'
  expect(closes.filter((closed) => closed !== undefined)).toEqual([{ code: 1013, reason }])
  expect((await first.post([], { close: 1000 })).status).toBe(200)
  await eventually(async () => (await metric(server, 'weft_connections{')) === 0)
})

it('[TRANS-42] accepts a message whose upload takes longer than another request may take', async () => {
  const timeouts = { ...httpTimeouts }
  stops.push(() => Object.assign(httpTimeouts, timeouts))
  // A server takes the timeouts when it starts.
  Object.assign(httpTimeouts, {
    headersTimeout: 2_000,
    requestTimeout: 2_000,
    connectionsCheckingInterval: 100,
  })
  const server = await start()
  const token = await server.token('ada')
  const reader = await writerOf(server, token)
  const session = sessionOf(server, token)
  await streamOf(session)
  const body = Buffer.from(message([], update(typed('v'.repeat(460_000), 1))))
  const post = beginPost(server, session, token, body.length)
  const answered = once(post, 'response')
  answered.catch(() => {})
  const slow = httpRequest(`${server.url}/v2/crdt/apply`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': 1_000,
      'x-service-api-key': server.credentials.apiKey,
      'x-service-auth-token': server.credentials.authToken,
    },
  })
  stops.push(() => slow.destroy())
  const rejected = once(slow, 'response')
  // The server closes the connection after its response.
  slow.on('error', () => {})
  const parts = 46
  const size = Math.ceil(body.length / parts)
  for (let part = 0; part < parts; part += 1) {
    post.write(body.subarray(part * size, (part + 1) * size))
    slow.write(' ')
    await sleep(100)
  }
  post.end()
  const [{ statusCode }] = (await answered) as [{ statusCode: number }]
  expect(statusCode).toBe(200)
  await eventually(() => contentOf(reader.updates()).length === 460_000)
  expect(await rejected).toMatchObject([{ statusCode: 408 }])
})

it('[TRANS-43] drops a POST whose body makes no progress, and keeps the session', async () => {
  const server = await start({}, { transferTimeoutMs: 1_000 })
  const token = await server.token('ada')
  const session = sessionOf(server, token)
  const stream = await streamOf(session)
  await eventually(() => stream.messages().length > 0)
  await session.post([], { position: stream.messages().at(-1)?.id ?? 0 })
  const post = beginPost(server, session, token, 10_000)
  const failed = once(post, 'error')
  post.write(Buffer.alloc(100))
  await failed
  expect(await metric(server, 'weft_memory_held_bytes{holder="incomplete_messages"}')).toBe(0)
  expect(stream.closed()).toBeUndefined()
  expect((await session.post([update(typed('later', 1))])).body).toEqual({ received: 1 })
})

/** Starts an HTTP server that ends with the test. Returns its URL. */
async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
