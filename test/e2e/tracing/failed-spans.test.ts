import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/base/clock.ts'
import { type DocumentLog, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { TraceCollector } from '../../support/servers/trace-collector.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

let ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`
const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main', type: 'text' }

/** Starts a server with a collector, and a log with replaced methods. */
async function start(replaced: (log: DocumentLog) => Partial<DocumentLog> = () => ({})) {
  const collector = await TraceCollector.start()
  ends.push(() => collector.stop())
  const engine = withLog(await openMemoryEngine({ clock: systemClock }), replaced)
  const server = await startTestServer({ otlpEndpoint: collector.url, otlpProtocol: 'http/json' }, { engine })
  let stopping: Promise<void> | null = null
  /** Stops the server, which sends the spans that wait. */
  const stop = (): Promise<void> => (stopping ??= server.stop())
  ends.push(stop)
  return { collector, server, stop }
}

/** Starts a server whose store rejects appends after `fail` was called. */
async function startFailing() {
  const store = { isDown: false }
  const started = await start((log) => ({
    append: async (...parameters) => {
      if (store.isDown) throw new StoreUnavailableError('the store is away')
      return log.append(...parameters)
    },
  }))
  const fail = (): void => {
    store.isDown = true
  }
  return { ...started, fail }
}

const unavailable = { isError: true, attributes: { 'error.type': 'StoreUnavailableError' } }

it('[OTEL-17] the commit of a call has an error when the store rejects the append', async () => {
  const { collector, server, stop, fail } = await startFailing()
  fail()
  const { status } = await server.post('/v2/crdt/add', { ...editor, data: 'hello' }, { traceparent })
  expect(status).toBe(503)
  await stop()
  const spans = collector.of(traceId)
  expect(Object.keys(spans).toSorted()).toEqual(['POST /v2/crdt/add', 'weft.commit', 'weft.compute'])
  expect(spans['POST /v2/crdt/add']).toMatchObject({ isError: true, attributes: { 'error.type': '503' } })
  expect(spans['weft.commit']).toMatchObject(unavailable)
  expect(spans['weft.compute']?.isError).toBe(false)
})

it('[OTEL-17] the update of a client and its commit have an error when the store rejects the append', async () => {
  const { collector, server, stop, fail } = await startFailing()
  const url = `${server.wsUrl}/sync/acme/notes/main?token=${await server.token('ada')}`
  const client = await RawClient.connect(url)
  await client.roundTrip()
  fail()
  client.sendUpdate(typed('hello', 7))
  await client.closed
  await stop()
  const update = collector.spans.find(({ name }) => name === 'weft.update')
  const spans = collector.of(update?.traceId ?? '')
  expect(Object.keys(spans).toSorted()).toEqual(['weft.commit', 'weft.update'])
  for (const span of Object.values(spans)) expect(span).toMatchObject(unavailable)
})

it('[OTEL-17] a computation that fails has an error with its code', async () => {
  const { collector, server, stop } = await start()
  dataOf(await server.post('/v2/crdt/add', { ...editor, data: 'hello' }))
  const { organizationId, documentId, editorId } = editor
  const edits = [{ replace: { find: 'missing', with: 'x' } }]
  const { status, body } = await server.post(
    '/v2/crdt/edit',
    { organizationId, documentId, editorId, edits },
    { traceparent },
  )
  expect([status, body.error?.details?.code]).toEqual([400, 'crdt/target-not-found'])
  await stop()
  const spans = collector.of(traceId)
  expect(spans['weft.compute']).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'crdt/target-not-found' },
  })
  // The call itself is answered as its caller can expect, so its span has no error.
  expect(spans['POST /v2/crdt/edit']?.isError).toBe(false)
})

it('[OTEL-17] a commit that a slow store makes durable has no error', async () => {
  const { collector, server, stop } = await start((log) => ({
    append: async (...parameters) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return log.append(...parameters)
    },
  }))
  dataOf(await server.post('/v2/crdt/add', { ...editor, data: 'hello' }, { traceparent }))
  await eventually(() => 'weft.commit' in collector.of(traceId), undefined, 10_000)
  await stop()
  const commit = collector.of(traceId)['weft.commit']
  expect(commit?.isError).toBe(false)
  expect((commit?.endMs ?? 0) - (commit?.startMs ?? 0)).toBeGreaterThan(40)
})
