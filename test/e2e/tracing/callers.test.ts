import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createLog } from '../../../src/core/base/log.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { TraceCollector } from '../../support/servers/trace-collector.ts'

type Line = Readonly<Record<string, unknown>>

let ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

const spanId = 'b7ad6b7169203331'
const traceIdOf = (index: number): string => String(index).padStart(32, 'a')
const sampled = (index: number) => ({ traceparent: `00-${traceIdOf(index)}-${spanId}-01` })

/** Starts a server that records no trace of its own, so that only the callers decide. */
async function start(overrides: Partial<Config> = {}) {
  const collector = await TraceCollector.start()
  ends.push(() => collector.stop())
  const lines: Line[] = []
  const log = createLog('debug', { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
  const options = {
    otlpEndpoint: collector.url,
    otlpProtocol: 'http/json',
    tracesSamplerArg: 0,
    ...overrides,
  } as const
  const server = await startTestServer(options, { log })
  let stopping: Promise<void> | null = null
  /** Stops the server, which sends the spans that wait. */
  const stop = (): Promise<void> => (stopping ??= server.stop())
  ends.push(stop)
  return { collector, server, lines, stop }
}

const content = { organizationId: 'acme', documentId: 'notes', editorId: 'main', type: 'text', data: 'hello' }

it('[OTEL-16] 1,000 calls without valid credentials export no span, although their traceparent asks for it', async () => {
  const { collector, server, lines, stop } = await start()
  const count = 1000
  const rejected: number[] = []
  for (let at = 0; at < count; at += 50)
    rejected.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const headers = { ...sampled(at + index), 'x-service-auth-token': 'wrong' }
          return (await server.post('/v2/crdt/add', content, headers)).status
        }),
      )),
    )
  expect(new Set(rejected)).toEqual(new Set([401]))
  // The same trace ids in calls of an authenticated caller are recorded.
  expect((await server.post('/v2/crdt/add', content, sampled(count))).status).toBe(200)
  await stop()
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(count)]))
  expect(Object.keys(collector.of(traceIdOf(count)))).toContain('POST /v2/crdt/add')
  // The log still names the trace of each rejected call.
  const requests = lines.filter(({ msg }) => msg === 'request')
  const traced = new Set(requests.filter(({ status }) => status === 401).map(({ traceId }) => traceId))
  expect(traced.size).toBe(count)
  expect(traced).toContain(traceIdOf(7))
})

it('[OTEL-16] the span of an authenticated call starts at its arrival, and its log lines name the span', async () => {
  const { collector, server, lines, stop } = await start()
  const before = Date.now()
  await server.post('/v2/crdt/add', content, sampled(1))
  await stop()
  const spans = collector.of(traceIdOf(1))
  const call = spans['POST /v2/crdt/add']
  expect(call).toMatchObject({ parentSpanId: spanId, attributes: { 'http.response.status_code': 200 } })
  expect(call?.startMs).toBeGreaterThanOrEqual(before - 2)
  expect(spans['weft.commit']?.parentSpanId).toBe(call?.spanId)
  const line = lines.find(({ msg }) => msg === 'request')
  expect(line).toMatchObject({ traceId: traceIdOf(1), spanId: call?.spanId })
})

it('[OTEL-16] other paths record the trace of an authenticated caller only', async () => {
  const { collector, server, stop } = await start()
  const { apiKey, authToken } = server.credentials
  const feed = async (token: string, index: number): Promise<number> => {
    const stopReading = new AbortController()
    const { status } = await fetch(`${server.url}/v2/feed/stream`, {
      headers: { 'x-service-api-key': apiKey, 'x-service-auth-token': token, ...sampled(index) },
      signal: stopReading.signal,
    })
    stopReading.abort()
    return status
  }
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  expect(await feed('wrong', 1)).toBe(401)
  expect(await feed(authToken, 2)).toBe(200)
  const mcp = await fetch(`${server.url}/mcp`, { method: 'POST', headers: sampled(3), body: '{}' })
  expect(mcp.status).toBe(401)
  const stream = async (token: string, index: number): Promise<number> => {
    const { status } = await fetch(`${server.url}/v2/crdt/stream`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-ndjson',
        'x-service-api-key': apiKey,
        'x-service-auth-token': token,
        ...sampled(index),
      },
      body: '{}\n',
    })
    return status
  }
  expect(await stream('wrong', 4)).toBe(401)
  expect(await stream(authToken, 5)).toBe(400)
  await stop()
  expect(collector.spans.map(({ traceId, name }) => [traceId, name])).toEqual([
    [traceIdOf(2), 'GET /v2/feed/stream'],
    [traceIdOf(5), 'POST /v2/crdt/stream'],
  ])
})

it('[OTEL-16] a websocket or a session over HTTP with a wrong token exports no span', async () => {
  const { collector, server, stop } = await start()
  const sockets = Array.from({ length: 20 }, (_, index) => {
    const url = `${server.wsUrl}/sync/acme/notes/main?token=wrong`
    return new WebSocket(url, { headers: sampled(index) })
  })
  ends.push(() => {
    for (const socket of sockets) socket.terminate()
  })
  await eventually(() => sockets.every(({ readyState }) => readyState === WebSocket.CLOSED))
  const session = '0123456789abcdef'.repeat(2)
  const url = `${server.url}/sync-http/acme/notes/main?session=${session}`
  const headers = { authorization: 'Bearer wrong', ...sampled(50) }
  for (const method of ['GET', 'POST']) await (await fetch(url, { method, headers })).text()
  await stop()
  expect(collector.spans).toEqual([])
})
