import { afterEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { contentOf, eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { frame, isAbout, tokenFrame } from '../../support/clients/hocuspocus-frames.ts'
import { type EventStream, HttpSession, randomSessionId } from '../../support/clients/http-session.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string
const streams: EventStream[] = []

async function start(...[overrides, given]: Parameters<typeof startTestServer>): Promise<void> {
  server = await startTestServer(overrides, given)
  token = await server.token('ada')
}

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.cut()
  await server.stop()
})

const sessionOf = (by = token, query = {}): HttpSession =>
  new HttpSession(`${server.url}/sync-http/acme/plan/main`, by, { query })
const vector = message([0, 0], Uint8Array.of(0))
const update = (bytes: Uint8Array): Uint8Array => message([0, 2], bytes)

async function streamOf(session: HttpSession, position = 0): Promise<EventStream> {
  const stream = await session.stream({ position })
  streams.push(stream)
  return stream
}

/** Returns the bodies of the messages that start with two types. */
const bodies = (stream: EventStream, ...[first, second]: readonly [number, number]): Buffer[] =>
  stream.messages().flatMap(({ bytes }) => {
    if (bytes[0] !== first || bytes[1] !== second) return []
    let at = 2
    while ((bytes[at] ?? 0) > 127) at += 1
    return [bytes.subarray(at + 1)]
  })
const textOf = (stream: EventStream): string => contentOf([...bodies(stream, 0, 1), ...bodies(stream, 0, 2)])
const lastId = (stream: EventStream): number => stream.messages().at(-1)?.id ?? 0
const numbers = (stream: EventStream): number[] => stream.messages().map(({ id }) => id)

async function websocket(): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/acme/plan/main?token=${token}`)
  await client.roundTrip()
  return client
}

it('[TRANS-1] carries the messages of a session: a stream for the client, posts from the client', async () => {
  await start()
  const [http, other] = [sessionOf(), await websocket()]
  const stream = await streamOf(http)
  await eventually(() => stream.messages().length > 0)
  expect(stream.events[0]).toEqual({ event: 'open', id: null, data: '{}' })
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  expect(stream.response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(stream.response.headers.get('x-accel-buffering')).toBe('no')
  expect(await http.post([update(typed('from http ', 1)), vector])).toEqual({
    status: 200,
    body: { received: 2 },
  })
  await eventually(() => other.updates().length > 0)
  expect(contentOf(other.updates())).toBe('from http ')
  other.sendUpdate(typed('from a websocket ', 2))
  await eventually(() => bodies(stream, 0, 2).length > 0 && bodies(stream, 0, 1).length > 0)
  expect(textOf(stream)).toContain('from http ')
  expect(textOf(stream)).toContain('from a websocket ')
  expect(numbers(stream)).toEqual(numbers(stream).map((_, at) => at + 1))
  other.end()
})

it('[TRANS-2] sends the messages after the position of a GET, and no others', async () => {
  await start()
  const [http, other] = [sessionOf(), await websocket()]
  const first = await streamOf(http)
  await eventually(() => bodies(first, 0, 0).length > 0)
  first.cut()
  await first.ended
  const position = lastId(first)
  other.sendUpdate(typed('while there is no stream', 2))
  await other.roundTrip()
  const second = await streamOf(http, position)
  await eventually(() => bodies(second, 0, 2).length > 0)
  expect(textOf(second)).toBe('while there is no stream')
  expect(numbers(second)[0]).toBe(position + 1)
  // Messages that the client has not acknowledged are sent again.
  const third = await streamOf(http, position)
  await eventually(() => numbers(third).length >= numbers(second).length)
  expect(third.messages().slice(0, numbers(second).length)).toEqual(second.messages())
  expect(await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')).toBe(1)
  other.end()
})

it('[TRANS-3] uses each message once when a POST is repeated, and answers the repeated POST with the same number', async () => {
  await start()
  const [http, other] = [sessionOf(), await websocket()]
  const stream = await streamOf(http)
  // The document does not show a repeated update, but each use of a state vector has an answer.
  const messages = [update(typed('a', 1)), vector]
  const answers = (): number => bodies(stream, 0, 1).length
  expect((await http.post(messages)).body).toEqual({ received: 2 })
  expect((await http.post(messages, { number: 1 })).body).toEqual({ received: 2 })
  // A part of the messages is new.
  const more = [vector, update(typed('b', 2)), update(typed('c', 3)), vector]
  expect((await http.post(more, { number: 2 })).body).toEqual({ received: 5 })
  await eventually(() => answers() >= 2)
  await eventually(() => other.updates().length === 3)
  await other.roundTrip()
  expect(other.updates()).toHaveLength(3)
  expect(await metric(server, 'weft_updates_total{source="socket"}')).toBe(3)
  expect(answers()).toBe(2)
  other.end()
})

it('[TRANS-4] rejects a POST that leaves a gap with 409 and the last received number, and uses no message of it', async () => {
  await start()
  const [http, other] = [sessionOf(), await websocket()]
  await streamOf(http)
  await http.post([update(typed('a', 1))])
  const answer = await http.post([update(typed('c', 3))], { number: 3 })
  expect(answer).toMatchObject({
    status: 409,
    body: { received: 1, error: { details: { code: 'transport/message-gap', received: 1 } } },
  })
  expect((await http.post([update(typed('b', 2)), update(typed('c', 3))], { number: 2 })).status).toBe(200)
  await other.roundTrip()
  expect(contentOf(other.updates())).toHaveLength(3)
  other.end()
})

it('[TRANS-5] ends a long poll soon after its first message, or after its time', async () => {
  await start()
  const [http, other] = [sessionOf(), await websocket()]
  let position = 0
  const first = await http.poll(0)
  expect(first.events[0]?.event).toBe('open')
  expect(bodies(first, 0, 0)).toHaveLength(1)
  position = lastId(first)
  const waiting = http.poll(position)
  other.sendUpdate(typed('news', 2))
  const news = await waiting
  expect(textOf(news)).toBe('news')
  position = lastId(news)
  const startedAt = performance.now()
  const silent = await http.poll(position, 1)
  expect(performance.now() - startedAt).toBeGreaterThan(900)
  expect(silent.events).toEqual([{ event: 'open', id: null, data: '{}' }])
  expect((await http.poll(position, 0)).events).toHaveLength(1)
  other.end()
})

it('[TRANS-6] ends the response to an earlier GET of the session', async () => {
  await start()
  const http = sessionOf()
  const first = await streamOf(http)
  const second = await streamOf(http)
  await first.ended
  await http.post([vector])
  await eventually(() => bodies(second, 0, 1).length > 0)
  expect(first.closed()).toBeUndefined()
  expect(await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')).toBe(1)
})

it('[TRANS-7] ends a stream when its client has sent nothing for 20 s, and the session 35 s after the last request', async () => {
  let aheadMs = 0
  const clock: Clock = { now: () => Date.now() + aheadMs, after: (ms, fn) => systemClock.after(ms, fn) }
  await start({}, { clock })
  const [http, other] = [sessionOf(), await websocket()]
  const shows = (clientId: number): boolean => {
    const states = other.awareness().filter((entry) => entry.clientId === clientId)
    return states.length > 0 && states.at(-1)?.state !== null
  }
  const stream = await streamOf(http)
  const state = Buffer.from([1, 7, 1, 2, 0x7b, 0x7d])
  expect((await http.post([message([1], state)])).status).toBe(200)
  await eventually(() => shows(7))
  aheadMs += 15_000
  await http.post([])
  aheadMs += 15_000
  // The client has posted, so its stream stays. It gets a comment.
  await eventually(() => stream.comments > 0)
  aheadMs += 10_000
  await stream.ended
  expect(shows(7)).toBe(true)
  const next = await streamOf(http, lastId(stream))
  expect(next.closed()).toBeUndefined()
  aheadMs += 30_000
  await next.ended
  expect(shows(7)).toBe(true)
  aheadMs += 6_000
  await eventually(() => !shows(7))
  expect((await http.post([])).status).toBe(404)
  other.end()
})

it('[TRANS-8] ends the session with the close code of the client after the messages of the POST', async () => {
  await start()
  const [http, other] = [sessionOf(), await websocket()]
  const stream = await streamOf(http)
  expect((await http.post([update(typed('last words', 1))], { close: 1001 })).body).toEqual({ received: 1 })
  await stream.ended
  await eventually(() => other.updates().length > 0)
  expect(contentOf(other.updates())).toBe('last words')
  expect(await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')).toBe(0)
  expect(await metric(server, 'weft_connections_closed_total{code="1001"}')).toBe(1)
  expect((await http.post([])).status).toBe(404)
  other.end()
})

it('[TRANS-9] acknowledges durable updates, and sends live messages, for sessions that request them', async () => {
  await start()
  const http = sessionOf(token, { saved: 1, live: 1 })
  const stream = await streamOf(http)
  await http.post([update(typed('saved', 1))])
  await eventually(() => stream.messages().some(({ bytes }) => bytes[0] === 111))
  const live = { organizationId: 'acme', documentId: 'plan', event: 'build.finished' }
  dataOf(await server.post('/v2/livestate/broadcast', live))
  await eventually(() => stream.messages().some(({ bytes }) => bytes[0] === 110))
})

it('[TRANS-10] lists the sessions of an API key as connections, and closes them', async () => {
  await start()
  const http = sessionOf()
  const stream = await streamOf(http)
  await eventually(() => stream.messages().length > 0)
  const listed = dataOf(await server.post('/v2/connections/get', {})) as { connectionId: string }[]
  expect(listed).toMatchObject([
    { userId: 'ada', documentId: 'plan', transport: 'http', protocol: 'y-websocket' },
  ])
  const connectionIds = listed.map(({ connectionId }) => connectionId)
  await server.post('/v2/connections/close', { connectionIds })
  await stream.ended
  expect(stream.closed()).toEqual({ code: 4403, reason: 'an administrator closed the connection' })
})

it('[TRANS-11] carries several documents of HocuspocusProvider in one session, each with its token', async () => {
  await start()
  const http = new HttpSession(`${server.url}/sync-http`, randomSessionId(), {
    query: { dialect: 'hocuspocus' },
  })
  const stream = await streamOf(http)
  const names = ['acme/one/main', 'acme/two/main'] as const
  await http.post(names.map((name) => tokenFrame(name, token)))
  const about = (name: string, ...types: readonly number[]): boolean =>
    stream.messages().some(({ bytes }) => isAbout(bytes, name, ...types))
  // The server accepts each token with a message of the types 2 and 2.
  await eventually(() => names.every((name) => about(name, 2, 2)))
  const offered = typed('hello', 1)
  const bytes = Buffer.concat([frame(names[0], 0, 2), message([], offered)])
  expect((await http.post([bytes])).body).toEqual({ received: 3 })
  await eventually(async () => {
    const read = await server.post('/v2/crdt/get', {
      organizationId: 'acme',
      documentId: 'one',
      editorId: 'main',
      type: 'text',
    })
    return read.status === 200 && JSON.stringify(read.body).includes('hello')
  })
  expect(await metric(server, 'weft_connections{protocol="hocuspocus",transport="http"')).toBe(2)
  // Without the secret of the first request, no other client may use the session.
  const thief = new HttpSession(`${server.url}/sync-http`, token, {
    query: { dialect: 'hocuspocus' },
    id: http.id,
  })
  expect((await thief.post([], { number: 4 })).status).toBe(403)
  expect((await thief.poll(0)).events).toMatchObject([{ event: 'close' }])
})
