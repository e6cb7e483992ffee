import { createDecoder, hasContent, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { afterEach, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { HookReceiver } from '../../support/clients/webhook-receiver.ts'
import { metric, startTestServer } from '../../support/servers/server.ts'
import { type ReceivedSpan, TraceCollector } from '../../support/servers/trace-collector.ts'
import { callsOf } from '../../support/servers/webhook-servers.ts'

let ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`

async function start(overrides: Partial<Config> = {}) {
  const collector = await TraceCollector.start()
  ends.push(() => collector.stop())
  const server = await startTestServer({
    otlpEndpoint: collector.url,
    otlpProtocol: 'http/json',
    webhookAllowlist: ['127.0.0.1'],
    updateEventWindowSeconds: 1,
    ...overrides,
  })
  ends.push(() => server.stop())
  return { collector, server, ...callsOf(server) }
}

const change = { organizationId: 'acme', documentId: 'notes', editorId: 'main', type: 'text' }
const server = 2
const client = 3

it('[OTEL-6] a call is one trace: request, computation, commit, broadcast and delivery', async () => {
  const { collector, server: weft, begin, endpoint } = await start({ tracesServiceName: 'docs' })
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop())
  await begin()
  await endpoint(receiver.url, { filterTypes: ['crdt.update_data'] })
  await weft.post('/v2/crdt/add', { ...change, data: 'hello' }, { traceparent, tracestate: 'a=b' })
  await eventually(() => 'deliver crdt.update_data' in collector.of(traceId), undefined, 10_000)
  const spans = collector.of(traceId)
  expect(Object.keys(spans).toSorted()).toEqual([
    'POST /v2/crdt/add',
    'deliver crdt.update_data',
    'weft.broadcast',
    'weft.commit',
    'weft.compute',
  ])
  const call = spans['POST /v2/crdt/add'] as ReceivedSpan
  expect(call).toMatchObject({
    parentSpanId: spanId,
    kind: server,
    traceState: 'a=b',
    isError: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v2/crdt/add',
      'http.response.status_code': 200,
      'weft.workspace_id': weft.credentials.workspaceId,
    },
  })
  const { 'deliver crdt.update_data': delivery, ...steps } = spans
  for (const [name, step] of Object.entries(steps)) {
    if (name === call.name) continue
    expect(step.parentSpanId).toBe(call.spanId)
    expect(step.startMs).toBeGreaterThanOrEqual(call.startMs - 2)
    expect(step.endMs).toBeLessThanOrEqual(call.endMs + 2)
  }
  expect(steps['weft.commit']?.attributes).toMatchObject({
    'weft.organization_id': 'acme',
    'weft.document_id': 'notes',
    'weft.editor_id': 'main',
    'weft.updates': 1,
  })
  expect(delivery).toMatchObject({
    parentSpanId: call.spanId,
    kind: client,
    attributes: { 'http.request.method': 'POST', 'http.response.status_code': 200 },
  })
  // The receiver continues the trace below the delivery.
  expect(receiver.hooks[0]?.headers.traceparent).toBe(`00-${traceId}-${delivery?.spanId}-01`)
  expect(collector.resources[0]).toMatchObject({ 'service.name': 'docs', 'service.version': '0.1.0' })
})

it('[OTEL-7] an update of a client is a trace: receipt, commit and broadcast', async () => {
  const { collector, server: weft } = await start()
  const [ada, bob] = [
    await syncedEditor(weft.wsUrl, 'acme/notes/main', await weft.token('ada')),
    await syncedEditor(weft.wsUrl, 'acme/notes/main', await weft.token('bob')),
  ]
  ends.push(() => ada.close())
  ends.push(() => bob.close())
  ada.text.insert(0, 'hello')
  await eventually(() => collector.spans.some(({ name }) => name === 'weft.update'))
  const update = collector.spans.find(({ name }) => name === 'weft.update') as ReceivedSpan
  const spans = collector.of(update.traceId)
  expect(Object.keys(spans).toSorted()).toEqual(['weft.broadcast', 'weft.commit', 'weft.update'])
  expect(update).toMatchObject({ parentSpanId: '', kind: server })
  expect(update.attributes).toMatchObject({ 'weft.document_id': 'notes', 'weft.updates': 1 })
  const [commit, broadcast] = [spans['weft.commit'], spans['weft.broadcast']] as [ReceivedSpan, ReceivedSpan]
  expect([commit.parentSpanId, broadcast.parentSpanId]).toEqual([update.spanId, update.spanId])
  expect(commit.endMs).toBeLessThanOrEqual(broadcast.startMs + 2)
  expect(broadcast.attributes).toEqual({ 'weft.members': 2 })
})

it('[OTEL-8] the sampler decides about calls without a parent, and the caller about the others', async () => {
  const { collector, server: weft } = await start({ tracesSamplerArg: 0 })
  const notSampled = `00-${'b'.repeat(32)}-${spanId}-00`
  await weft.post('/v2/crdt/add', { ...change, data: 'one' })
  await weft.post('/v2/crdt/add', { ...change, documentId: 'two', data: 'two' }, { traceparent: notSampled })
  await weft.post('/v2/crdt/add', { ...change, documentId: 'three', data: 'three' }, { traceparent })
  const ada = await syncedEditor(weft.wsUrl, 'acme/other/main', await weft.token('ada'))
  ends.push(() => ada.close())
  ada.text.insert(0, 'hello')
  await eventually(() => 'POST /v2/crdt/add' in collector.of(traceId))
  await weft.stop()
  ends.splice(1, 1)
  expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
})

it('[OTEL-8] a call that the caller does not record passes this decision on', async () => {
  const { server: weft, begin, endpoint } = await start()
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop())
  await begin()
  await endpoint(receiver.url, { filterTypes: ['document.create'] })
  const documents = { organizationId: 'acme', documents: [{ documentId: 'd' }] }
  const notSampled = { traceparent: `00-${traceId}-${spanId}-00` }
  await weft.post('/v2/organizations/documents/add', documents, notSampled)
  await eventually(() => receiver.hooks.length === 1)
  expect(receiver.hooks[0]?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
})

it('[OTEL-9] spans have no content, tokens or keys', async () => {
  const { collector, server: weft, begin, endpoint } = await start({ otlpHeaders: 'x-collector=a%20b' })
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop())
  await begin()
  await endpoint(receiver.url, { filterTypes: ['crdt.update_data'] })
  await weft.post('/v2/crdt/add', { ...change, data: 'a secret sentence' }, { traceparent })
  const token = await weft.token('ada', { name: 'Ada Lovelace', email: 'ada@example.com' })
  const ada = await syncedEditor(weft.wsUrl, 'acme/typed/main', token)
  ends.push(() => ada.close())
  ada.text.insert(0, 'another secret sentence')
  await eventually(() => 'deliver crdt.update_data' in collector.of(traceId), undefined, 10_000)
  await eventually(() => collector.spans.some(({ name }) => name === 'weft.update'))
  const sent = collector.bodies.join('\n')
  const { apiKey, authToken } = weft.credentials
  for (const secret of ['secret', apiKey, authToken, token, 'Lovelace', 'example.com', receiver.url])
    expect(sent).not.toContain(secret)
  expect(collector.headers[0]).toMatchObject({ 'x-collector': 'a b', path: '/v1/traces' })
})

/** Milliseconds for which an export waits for the collector. */
const exportMs = 10_000

it('[OTEL-10] calls and the shutdown do not wait for a collector that does not answer', async () => {
  const { collector, server: weft } = await start({ shutdownSeconds: 2 })
  collector.status = null
  await Promise.all(
    Array.from({ length: 100 }, () => weft.post('/v2/organizations/get', { organizationIds: ['acme'] })),
  )
  const slowest = Math.max(
    ...(await Promise.all(
      Array.from({ length: 10 }, async () => {
        const startedAt = performance.now()
        await weft.post('/v2/organizations/get', { organizationIds: ['acme'] })
        return performance.now() - startedAt
      }),
    )),
  )
  expect(slowest).toBeLessThan(exportMs)
  const startedAt = performance.now()
  await weft.stop()
  ends.splice(1, 1)
  expect(performance.now() - startedAt).toBeLessThan(exportMs)
})

it('[OTEL-10] spans that the collector does not accept are dropped and counted', async () => {
  const { collector, server: weft } = await start()
  collector.status = 400
  await weft.post('/v2/crdt/add', { ...change, data: 'one' }, { traceparent })
  const dropped = 'weft_trace_spans_dropped_total{reason="failed"}'
  await eventually(async () => (await metric(weft, dropped)) >= 4)
  collector.status = 200
  await weft.post('/v2/crdt/add', { ...change, documentId: 'two', data: 'two' }, { traceparent })
  await eventually(async () => (await metric(weft, 'weft_trace_spans_exported_total')) >= 4)
})

it('[OTEL-10] the shutdown sends the spans that wait', async () => {
  const { collector, server: weft } = await start()
  await weft.post('/v2/crdt/add', { ...change, data: 'last' }, { traceparent })
  await weft.stop()
  ends.splice(1, 1)
  expect(collector.of(traceId)).toHaveProperty(['POST /v2/crdt/add'])
})

it('[OTEL-6] sends Protocol Buffers unless JSON is configured', async () => {
  const { collector, server: weft } = await start({ otlpProtocol: 'http/protobuf' })
  await weft.post('/v2/crdt/add', { ...change, data: 'hello' }, { traceparent })
  await weft.stop()
  ends.splice(1, 1)
  expect(collector.headers[0]).toMatchObject({ 'content-type': 'application/x-protobuf' })
  // Field numbers of the definitions of OTLP: request → resource spans → scope spans → spans.
  const spans = collector.bytes.flatMap((request) =>
    fieldsOf(request, 1).flatMap((resource) =>
      fieldsOf(resource, 2).flatMap((scope) =>
        fieldsOf(scope, 2).map((span) => ({
          traceId: fieldsOf(span, 1)[0]?.toString('hex'),
          parentSpanId: fieldsOf(span, 4)[0]?.toString('hex'),
          name: fieldsOf(span, 5)[0]?.toString(),
        })),
      ),
    ),
  )
  expect(spans).toContainEqual({ traceId, parentSpanId: spanId, name: 'POST /v2/crdt/add' })
  expect(spans.map(({ name }) => name)).toContain('weft.commit')
})

/** Returns the fields of a message of Protocol Buffers that have a number and a length. */
function fieldsOf(message: Buffer, field: number): readonly Buffer[] {
  const found: Buffer[] = []
  const decoder = createDecoder(message)
  while (hasContent(decoder)) {
    const tag = readVarUint(decoder)
    const wire = tag & 7
    if (wire === 2) {
      const bytes = Buffer.from(readVarUint8Array(decoder))
      if (tag >>> 3 === field) found.push(bytes)
    } else if (wire === 0) readVarUint(decoder)
    else decoder.pos += wire === 1 ? 8 : 4
  }
  return found
}
