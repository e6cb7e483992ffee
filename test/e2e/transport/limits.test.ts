import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { contentOf, eventually, message, RawClient, typed } from '../../support/clients/clients.ts'
import { type EventStream, HttpSession, randomSessionId } from '../../support/clients/http-session.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'
import { turnsDuring } from '../../support/time/clock.ts'
import { times } from '../../support/time/full-run.ts'

const MiB = 2 ** 20

let server: TestServer
let token: string
const stops: (() => void)[] = []

async function start(...[overrides, given]: Parameters<typeof startTestServer>): Promise<void> {
  server = await startTestServer({ adminToken, ...overrides }, given)
  token = await server.token('ada')
}

afterEach(async () => {
  for (const stop of stops.splice(0)) stop()
  await server.stop()
})

const sessionOf = (by = token, documentId = 'plan', options = {}): HttpSession =>
  new HttpSession(`${server.url}/sync-http/acme/${documentId}/main`, by, options)
const vector = message([0, 0], Uint8Array.of(0))
const update = (bytes: Uint8Array): Uint8Array => message([0, 2], bytes)
const held = (holder: string): Promise<number> => metric(server, `weft_memory_held_bytes{holder="${holder}"}`)
const hits = async (limit: string): Promise<number> =>
  (await metric(server, `weft_limit_hits_total{limit="${limit}"}`)) || 0
const sessions = (): Promise<number> =>
  metric(server, 'weft_connections{protocol="y-websocket",transport="http"').then((found) => found || 0)

async function streamOf(session: HttpSession, position = 0): Promise<EventStream> {
  const stream = await session.stream({ position })
  stops.push(() => stream.cut())
  return stream
}

/** A stream of which the client reads nothing. */
async function unreadStream(session: HttpSession, position = 0): Promise<IncomingMessage> {
  const url = `${server.url}/sync-http/acme/plan/main?session=${session.id}&position=${position}`
  const request = httpRequest(url, { headers: { authorization: `Bearer ${token}` } }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.pause()
  stops.push(() => request.destroy())
  return response
}

async function writerOf(documentId = 'plan', by = token): Promise<RawClient> {
  const writer = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${by}`)
  stops.push(() => writer.end())
  await writer.roundTrip()
  return writer
}

const bodiesOf = (stream: EventStream): Buffer[] =>
  stream.messages().flatMap(({ bytes }) => {
    if (bytes[0] !== 0 || bytes[1] === 0) return []
    let at = 2
    while ((bytes[at] ?? 0) > 127) at += 1
    return [bytes.subarray(at + 1)]
  })

/**
 * Returns a check whether the client has a text of this length. It reads the messages again only after new ones, because
 * they are large.
 */
function holding(stream: EventStream, textLength: number): () => boolean {
  let seen = 0
  return () => {
    const count = stream.messages().length
    if (count === seen) return false
    seen = count
    return contentOf(bodiesOf(stream)).length === textLength
  }
}

it('[TRANS-20] counts a session as a connection from its first request until its end, also between its requests', async () => {
  await start({ maxConnectionsPerWorkspace: 3, maxConnectionsPerAddress: 5 })
  const other = await otherWorkspace(server)
  const kept = [sessionOf(), sessionOf(), sessionOf()]
  for (const session of kept) expect((await session.poll(0)).closed()).toBeUndefined()
  expect((await sessionOf().poll(0)).closed()).toMatchObject({
    code: 1013,
    reason: expect.stringContaining('maxConnectionsPerWorkspace is 3') as string,
  })
  for (let more = 0; more < 2; more += 1)
    expect((await sessionOf(other.token).poll(0)).closed()).toBeUndefined()
  expect((await sessionOf(other.token).poll(0)).closed()).toMatchObject({
    code: 1013,
    reason: expect.stringContaining('maxConnectionsPerAddress is 5') as string,
  })
  await kept[0]?.post([], { close: 1000 })
  expect((await sessionOf().poll(0)).closed()).toBeUndefined()
  expect(await hits('maxConnectionsPerWorkspace')).toBe(1)
})

it('[TRANS-21] limits the new sessions and the requests of one address', async () => {
  await start({
    connectsPerAddress: { perSecond: 0.001, burst: 3 },
    callsPerAddress: { perSecond: 0.001, burst: 40 },
    trustProxy: 1,
  })
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const closes: unknown[] = []
  for (let count = 0; count < 4; count += 1)
    closes.push((await sessionOf(token, 'plan', from('192.0.2.1')).poll(0)).closed())
  expect(closes.slice(0, 3)).toEqual([undefined, undefined, undefined])
  expect(closes[3]).toMatchObject({ code: 1013 })
  // A flood of requests is stopped before the token of one is checked.
  const flood = sessionOf('wrong', 'plan', from('192.0.2.2'))
  const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await flood.post([])).status))
  expect(statuses.filter((status) => status === 404).length).toBe(40)
  expect(statuses.filter((status) => status === 429).length).toBe(20)
  expect((await sessionOf(token, 'plan', from('192.0.2.3')).poll(0)).closed()).toBeUndefined()
})

it('[TRANS-22] keeps at most the send buffer for a client that acknowledges nothing, and then sends everything that it has missed in one update', async () => {
  await start({ sendBufferBytes: 65_536 })
  const writer = await writerOf()
  const session = sessionOf()
  const stream = await streamOf(session)
  await eventually(() => stream.messages().length > 0)
  const text = 'x'.repeat(10_000)
  for (let client = 1; client <= 50; client += 1) {
    writer.sendUpdate(typed(text, client))
    await writer.roundTrip()
  }
  expect(await metric(server, 'weft_slow_clients')).toBe(1)
  expect(await hits('sendBufferBytes')).toBe(1)
  expect(await held('unread_sockets')).toBeLessThan(100_000)
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = stream.messages().length
  expect(before).toBeLessThan(15)
  await session.post([], { position: stream.messages().at(-1)?.id ?? 0 })
  await eventually(holding(stream, 500_000))
  const missed = stream
    .messages()
    .slice(before)
    .filter(({ bytes }) => bytes[0] === 0)
  expect(missed).toHaveLength(1)
  expect(await metric(server, 'weft_slow_clients')).toBe(0)
  await session.post([], { position: stream.messages().at(-1)?.id ?? 0 })
  expect(await held('unread_sockets')).toBe(0)
})

it('[TRANS-23] sends a large document in parts, completely, also if the client is cut in between or reads slowly', async () => {
  await start()
  const writer = await writerOf()
  for (let client = 1; client <= 6; client += 1) writer.sendUpdate(typed('y'.repeat(MiB), client))
  await writer.roundTrip()
  const session = sessionOf()
  const slow = await unreadStream(session)
  expect((await session.post([vector])).status).toBe(200)
  await eventually(async () => (await held('unread_sockets')) > 6 * MiB)
  // The operating system has accepted a part of the answer.
  await new Promise((resolve) => setTimeout(resolve, 300))
  slow.destroy()
  const stream = await streamOf(session)
  await eventually(holding(stream, 6 * MiB))
  await session.post([], { position: stream.messages().at(-1)?.id ?? 0 })
  expect(await held('unread_sockets')).toBe(0)
})

it('[TRANS-24] counts a large message once for all its clients, and keeps no copy for a flood of responses without readers', async () => {
  await start({ memoryBudgetBytes: 256 * MiB })
  const writer = await writerOf()
  for (let client = 1; client <= 8; client += 1) writer.sendUpdate(typed('z'.repeat(MiB), client))
  await writer.roundTrip()
  writer.end()
  const readers = Array.from({ length: 5 }, () => sessionOf())
  for (const session of readers) {
    await unreadStream(session)
    await session.post([vector])
  }
  await eventually(async () => (await held('unread_sockets')) > 8 * MiB)
  const before = process.memoryUsage()
  for (let round = 0; round < times(12, 20); round += 1)
    await Promise.all(readers.map(async (session) => void (await unreadStream(session))))
  const after = process.memoryUsage()
  // 60 copies of the document would be 480 MiB.
  expect(after.rss - before.rss).toBeLessThan(300 * MiB)
  expect(await sessions()).toBe(5)
  expect(await held('unread_sockets')).toBeLessThan(5 * 9 * MiB)
})

it('[TRANS-25] ends the session of a client that acknowledges nothing in time', async () => {
  let aheadMs = 0
  const clock: Clock = { now: () => Date.now() + aheadMs, after: (ms, fn) => systemClock.after(ms, fn) }
  await start({}, { clock, transferTimeoutMs: 60_000 })
  const session = sessionOf()
  const stream = await streamOf(session)
  await eventually(() => stream.messages().length > 0)
  for (let step = 0; step < 4; step += 1) {
    aheadMs += 14_000
    expect((await session.post([])).status).toBe(200)
  }
  aheadMs += 10_000
  await stream.ended
  expect((await session.post([])).status).toBe(404)
  expect(await hits('transferTimeoutSeconds')).toBe(1)
})

it('[TRANS-26] does not read the body of a client that sends faster than its workspace may, and loses none of its messages', async () => {
  await start({ receiveBytesPerWorkspace: { perSecond: 200_000, burst: 200_000 } })
  const reader = await writerOf('plan')
  const session = sessionOf()
  await streamOf(session)
  const startedAt = performance.now()
  const parts = Array.from({ length: 8 }, (_, at) => update(typed('w'.repeat(60_000), at + 1)))
  for (const part of parts) expect((await session.post([part])).status).toBe(200)
  expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  await eventually(() => contentOf(reader.updates()).length === 480_000)
  expect(await hits('receiveBytesPerWorkspace')).toBeGreaterThan(0)
})

it('[TRANS-27] spreads a body with very many messages over many ticks', async () => {
  await start()
  const session = sessionOf()
  await streamOf(session)
  // 100,000 requests for awareness, each of one byte.
  const body = Buffer.alloc(200_000, Uint8Array.of(1, 3))
  const ticks = await turnsDuring(async () => {
    expect((await session.postBody(body, { number: 1 })).body).toEqual({ received: 100_000 })
  })
  expect(ticks).toBeGreaterThan(500)
})

it('[TRANS-28] drops an incomplete POST when a newer one of the session arrives, and uses each message once', async () => {
  await start()
  const reader = await writerOf()
  const session = sessionOf()
  await streamOf(session)
  const body = Buffer.from(message([], update(typed('twice', 1))))
  const url = `${server.url}/sync-http/acme/plan/main?session=${session.id}&number=1`
  const headers = { authorization: `Bearer ${token}`, 'content-length': body.length }
  const incomplete = httpRequest(url, { method: 'POST', headers })
  const failed = once(incomplete, 'error')
  incomplete.write(body.subarray(0, 5))
  await eventually(async () => (await held('incomplete_messages')) > 0)
  expect((await session.postBody(body, { number: 1 })).body).toEqual({ received: 1 })
  await failed
  expect(await held('incomplete_messages')).toBe(0)
  await reader.roundTrip()
  expect(contentOf(reader.updates())).toBe('twice')
})

it('[TRANS-29] survives many sessions that begin and end at the same time, and keeps nothing of them', async () => {
  await start({ connectsPerAddress: { perSecond: 0, burst: 0 } })
  // No multiple of 3 or 7, so that the sessions of an id differ.
  const ids = Array.from({ length: 16 }, randomSessionId)
  await Promise.all(
    Array.from({ length: times(80, 200) }, async (_, at) => {
      const session = sessionOf(token, `doc-${at % 7}`, { id: ids[at % ids.length] })
      const poll = session.poll(0, 0)
      if (at % 3 === 0) await session.post([vector])
      await poll
      await session.post([], { close: 1000 })
    }),
  )
  await eventually(async () => (await sessions()) === 0)
  expect(await held('unread_sockets')).toBe(0)
  expect(await held('incomplete_messages')).toBe(0)
  expect((await sessionOf().poll(0)).closed()).toBeUndefined()
})
