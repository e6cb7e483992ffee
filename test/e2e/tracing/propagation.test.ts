import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createLog } from '../../../src/core/base/log.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually } from '../../support/clients/clients.ts'
import { answering, HookReceiver } from '../../support/clients/webhook-receiver.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { callsOf } from '../../support/servers/webhook-servers.ts'

type Line = Readonly<Record<string, unknown>>

let ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`
const tracestate = 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7'

const traceOf = (index: number): string => `00-${String(index).padStart(32, 'a')}-${spanId}-01`

async function start(overrides: Partial<Config> = {}) {
  const lines: Line[] = []
  const log = createLog('debug', { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
  const server = await startTestServer({ webhookAllowlist: ['127.0.0.1'], ...overrides }, { log })
  ends.push(() => server.stop())
  return { server, lines, ...callsOf(server) }
}

async function receiving(behavior = answering(200)): Promise<HookReceiver> {
  const receiver = await HookReceiver.start(behavior)
  ends.push(() => receiver.stop())
  return receiver
}

const documentAdded = (documentId: string) => ({ organizationId: 'acme', documents: [{ documentId }] })

it('[OTEL-1] log lines of a call with traceparent name its trace, without an exporter', async () => {
  const { server, lines } = await start()
  await server.post('/v2/organizations/get', { organizationIds: ['acme'] }, { traceparent })
  await server.post('/v2/organizations/get', { organizationIds: ['acme'] })
  await eventually(() => lines.filter(({ msg }) => msg === 'request').length >= 2)
  const requests = lines.filter(({ msg }) => msg === 'request')
  expect(requests[0]).toMatchObject({ traceId, spanId, route: '/v2/organizations/get' })
  expect(requests[1]).not.toHaveProperty('traceId')
})

it('[OTEL-1] a call on a connection that had a traced call before is not traced', async () => {
  const { server, lines } = await start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  ends.push(() => agent.destroy())
  const call = (headers: Record<string, string>): Promise<void> =>
    new Promise((resolve, reject) => {
      const { apiKey, authToken } = server.credentials
      const own = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
      const sent = request(`${server.url}/v2/organizations/get`, {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...own, ...headers },
      })
      sent.on('error', reject)
      sent.on('response', (response) => response.resume().on('end', resolve))
      sent.end(JSON.stringify({ data: {} }))
    })
  await call({ traceparent })
  await call({})
  await call({ traceparent: traceOf(7) })
  await eventually(() => lines.filter(({ msg }) => msg === 'request').length >= 3)
  const traces = lines.filter(({ msg }) => msg === 'request').map((line) => line.traceId)
  expect(traces).toEqual([traceId, undefined, traceOf(7).slice(3, 35)])
})

it('[OTEL-2] a call with a malformed traceparent is answered as if it had none', async () => {
  const { server, lines } = await start()
  for (const malformed of ['x', `${traceparent}-more`, traceparent.toUpperCase(), 'a'.repeat(5000)]) {
    const answer = await server.post('/v2/organizations/get', {}, { traceparent: malformed })
    expect(answer.status).toBe(200)
  }
  await eventually(() => lines.filter(({ msg }) => msg === 'request').length >= 4)
  expect(lines.filter((line) => 'traceId' in line)).toEqual([])
})

it('[OTEL-3] the delivery of an event carries the trace of the call that caused it', async () => {
  const { server, begin, endpoint } = await start()
  const receiver = await receiving()
  await begin()
  await endpoint(receiver.url, { filterTypes: ['document.create'] })
  const add = (documentId: string, headers: Record<string, string>) =>
    server.post('/v2/organizations/documents/add', documentAdded(documentId), headers)
  expect(dataOf(await add('traced', { traceparent, tracestate }))).toBeDefined()
  await add('untraced', {})
  await eventually(() => receiver.hooks.length === 2)
  const [traced, untraced] = receiver.hooks
  expect(traced?.headers).toMatchObject({ traceparent, tracestate })
  expect(untraced?.headers).not.toHaveProperty('traceparent')
  // The trace is not part of the payload.
  expect(traced?.body).not.toContain(traceId)
})

it('[OTEL-3] calls that run at the same time keep their own traces', async () => {
  const { server, begin, endpoint } = await start()
  const receiver = await receiving()
  await begin()
  await endpoint(receiver.url, { filterTypes: ['document.create'] })
  const count = 30
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      server.post('/v2/organizations/documents/add', documentAdded(`d${index}`), {
        ...(index % 3 !== 0 && { traceparent: traceOf(index) }),
      }),
    ),
  )
  await eventually(() => receiver.hooks.length === count)
  const found = receiver.documentIds.map((id, index) => [id, receiver.hooks[index]?.headers.traceparent])
  const expected = Array.from({ length: count }, (_, index) => [
    `d${index}`,
    index % 3 === 0 ? undefined : traceOf(index),
  ])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
})

it('[OTEL-3] the event of a changed document carries the trace of the change that began its window', async () => {
  const { server, begin, endpoint } = await start({ updateEventWindowSeconds: 1 })
  const receiver = await receiving()
  await begin()
  await endpoint(receiver.url, { filterTypes: ['crdt.update_data'] })
  const change = { organizationId: 'acme', documentId: 'notes', editorId: 'main', type: 'text' }
  await server.post('/v2/crdt/add', { ...change, data: 'hello' }, { traceparent })
  await eventually(() => receiver.hooks.length === 1)
  expect(receiver.hooks[0]?.headers).toMatchObject({ traceparent })
})

it('[OTEL-4] a repeated attempt after a restart carries the same trace', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weft-traces-'))
  ends.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 }))
  const first = await startTestServer({ engine: 'level', dataDir, webhookAllowlist: ['127.0.0.1'] })
  const { begin, endpoint } = callsOf(first)
  const receiver = await receiving(answering(500))
  await begin()
  await endpoint(receiver.url, { filterTypes: ['document.create'] })
  await first.post('/v2/organizations/documents/add', documentAdded('later'), { traceparent, tracestate })
  await eventually(() => receiver.hooks.length === 1)
  await first.stop()
  receiver.behavior = answering(200)
  const second = await startTestServer({ engine: 'level', dataDir, webhookAllowlist: ['127.0.0.1'] })
  ends.push(() => second.stop())
  await eventually(() => receiver.hooks.length >= 2, undefined, 20_000)
  for (const { headers } of receiver.hooks) expect(headers).toMatchObject({ traceparent, tracestate })
})

it('[OTEL-4] another node delivers an event with the trace of the call', async () => {
  const cluster = await startCluster(2, { webhookAllowlist: ['127.0.0.1'] })
  ends.push(() => cluster.stop())
  const [one, two] = cluster.servers as [TestServer, TestServer]
  const { begin, endpoint } = callsOf(one)
  const receiver = await receiving()
  await begin()
  await endpoint(receiver.url, { filterTypes: ['document.create'] })
  for (const [index, server] of [one, two, one, two].entries())
    await server.post('/v2/organizations/documents/add', documentAdded(`d${index}`), {
      traceparent: traceOf(index),
    })
  await eventually(() => receiver.hooks.length === 4, undefined, 20_000)
  const found = receiver.documentIds.map((id, index) => [id, receiver.hooks[index]?.headers.traceparent])
  expect(Object.fromEntries(found)).toEqual({
    d0: traceOf(0),
    d1: traceOf(1),
    d2: traceOf(2),
    d3: traceOf(3),
  })
})

it('[OTEL-5] callbacks carry the trace of the call or the websocket that causes them', async () => {
  const { server } = await start({ defaultAccess: 'restricted' })
  const receiver = await receiving((response, { body }) => {
    const { callback } = JSON.parse(body) as { callback: string }
    const answer =
      callback === 'authorize' ? { role: 'editor', seconds: 0 } : { type: 'text', data: 'loaded' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await server.post('/v2/workspace/callbacks/update', {
    authorize: { url: receiver.url },
    load: { url: receiver.url },
  })
  const read = { organizationId: 'acme', documentId: 'byrest', editorId: 'main' }
  await server.post('/v2/crdt/get', read, { traceparent, tracestate })
  const token = await server.token('ada')
  const socket = new WebSocket(`${server.wsUrl}/sync/acme/bysocket/main?token=${token}`, {
    headers: { traceparent: traceOf(9) },
  })
  ends.push(() => socket.terminate())
  await eventually(() => receiver.hooks.length >= 2)
  const found = receiver.hooks.map(({ body, headers }) => {
    const { callback, documentId } = JSON.parse(body) as { callback: string; documentId: string }
    return { callback, documentId, traceparent: headers.traceparent }
  })
  expect(found).toContainEqual({ callback: 'load', documentId: 'byrest', traceparent })
  expect(found).toContainEqual({ callback: 'authorize', documentId: 'bysocket', traceparent: traceOf(9) })
})
