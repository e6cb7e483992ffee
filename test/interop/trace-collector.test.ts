import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { HookReceiver } from '../support/clients/webhook-receiver.ts'
import { freePort, type ServerProcess, startProcess } from '../support/servers/process.ts'
import { hookCalls } from '../support/servers/webhook-servers.ts'

const folder = join(import.meta.dirname, 'collector')
const studio = join(folder, 'node_modules/@fiberplane/studio/dist')

/** A span as the collector stores it. */
interface StoredSpan {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly name: string
  readonly kind: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly scope_name: string
  readonly resource_attributes: Readonly<Record<string, unknown>>
}

interface Database {
  execute(sql: string): Promise<{ readonly rows: readonly { readonly inner: string }[] }>
  close(): void
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

describe('a collector of another project', () => {
  let spans: readonly StoredSpan[] = []
  let receiver: HookReceiver
  let ends: (() => unknown)[] = []

  const named = (id: string | undefined): Readonly<Record<string, StoredSpan>> =>
    Object.fromEntries(spans.filter(({ trace_id }) => trace_id === id).map((span) => [span.name, span]))

  beforeAll(async () => {
    const data = await mkdtemp(join(tmpdir(), 'weft-collector-'))
    ends.push(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))
    const url = `file:${join(data, 'traces.db')}`
    const collector = await startCollector(data, url)
    ends.push(() => killed(collector.process))
    receiver = await HookReceiver.start()
    ends.push(() => receiver.stop())
    const weft = await startProcess(join(data, 'store'), {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_SERVICE_NAME: 'documents',
      WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
      WEFT_UPDATE_EVENT_WINDOW_SECONDS: '1',
    })
    ends.push(() => weft.end('SIGKILL'))
    await useServer(weft, receiver)
    // The shutdown sends the spans that wait. The collector locks its database, so it must end before a read.
    expect(await weft.end('SIGTERM')).toBe(0)
    await killed(collector.process)
    spans = await storedIn(url)
  })

  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
    ends = []
  })

  it('[OTEL-14] receives the trace of a call, from the request to the delivery', () => {
    const ofCall = named(traceId)
    const call = ofCall['POST /v2/crdt/add']
    expect(call).toMatchObject({
      parent_span_id: 'b7ad6b7169203331',
      kind: 'Server',
      scope_name: 'weft',
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v2/crdt/add',
        'http.response.status_code': 200,
      },
      resource_attributes: { 'service.name': 'documents' },
    })
    for (const name of ['weft.compute', 'weft.commit', 'weft.broadcast'])
      expect(ofCall[name]).toMatchObject({ parent_span_id: call?.span_id, kind: 'Internal' })
    expect(ofCall['weft.commit']?.attributes).toMatchObject({
      'weft.document_id': 'notes',
      'weft.updates': 1,
    })
    const delivery = ofCall['deliver crdt.update_data']
    expect(delivery).toMatchObject({ parent_span_id: call?.span_id, kind: 'Client' })
    expect(receiver.hooks[0]?.headers.traceparent).toBe(`00-${traceId}-${delivery?.span_id}-01`)
  })

  it('[OTEL-14] receives the trace of an update of a client', () => {
    const update = spans.find(({ name }) => name === 'weft.update')
    expect(update).toMatchObject({
      parent_span_id: null,
      kind: 'Server',
      attributes: { 'weft.document_id': 'typed' },
    })
    const ofUpdate = named(update?.trace_id)
    for (const name of ['weft.commit', 'weft.broadcast'])
      expect(ofUpdate[name]).toMatchObject({ parent_span_id: update?.span_id })
  })
})

/** Makes a traced call that causes a delivery, and types as a client. */
async function useServer(weft: ServerProcess, receiver: HookReceiver): Promise<void> {
  const { begin, endpoint } = hookCalls(async (path, data) => (await weft.post(path, data)).data)
  await begin()
  await endpoint(receiver.url, { filterTypes: ['crdt.update_data'] })
  const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
  await weft.post('/v2/crdt/add', { ...editor, type: 'text', data: 'hello' }, { traceparent })
  await eventually(() => receiver.hooks.length > 0, undefined, 30_000)
  const token = await weft.token()
  const [writer, reader] = [
    await syncedEditor(weft.wsUrl, 'acme/typed/main', token),
    await syncedEditor(weft.wsUrl, 'acme/typed/main', token),
  ]
  writer.text.insert(0, 'hello')
  await eventually(() => reader.text.toString() === 'hello', undefined, 30_000)
  writer.close()
  reader.close()
}

async function startCollector(cwd: string, database: string) {
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
    FPX_DATABASE_URL: database,
    FPX_PORT: String(port),
    FPX_WATCH_DIR: cwd,
  }
  const options = { cwd, env, stdio: 'ignore' } as const
  expect(spawnSync(process.execPath, [join(studio, 'migrate.js')], options).status).toBe(0)
  const child = spawn(process.execPath, [join(studio, 'src/index.node.js')], options)
  const url = `http://127.0.0.1:${port}`
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/v1/traces`).then(
      ({ ok }) => ok,
      () => false,
    )
  await eventually(isReady, undefined, 30_000)
  return { process: child, url }
}

async function storedIn(url: string): Promise<readonly StoredSpan[]> {
  const { createClient } = createRequire(join(folder, 'package.json'))('@libsql/client') as {
    createClient: (options: { readonly url: string }) => Database
  }
  const database = createClient({ url })
  const { rows } = await database.execute('select inner from otel_spans')
  database.close()
  return rows.map(({ inner }) => JSON.parse(inner) as StoredSpan)
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
