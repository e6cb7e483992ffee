import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import * as Y from 'yjs'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { Receiver } from '../../support/clients/delivery-receiver.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { itLong } from '../../support/time/full-run.ts'

const writersCount = 50
const documents = ['one', 'two', 'three', 'four', 'five']
const webhook = '/v2/workspace/advancedwebhook'

let data: string
let server: ServerProcess
let token: string
/** A receiver that accepts every request and never answers. */
let hanging: Receiver
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-drain-'))
  hanging = await new Receiver(() => {}).start()
  server = await startProcess(data, options())
  token = await server.token()
})
afterEach(async () => {
  hanging?.stop()
  await server?.end('SIGKILL')
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

const options = (): Record<string, string> => ({
  // Long enough for the calls of the test, also on a busy machine.
  WEFT_SHUTDOWN_SECONDS: '12',
  WEFT_CALLS_PER_KEY: '0',
  WEFT_WEBHOOK_ALLOWLIST: '127.0.0.1',
})

const urlOf = (document: string): string => `${server.wsUrl}/sync/acme/${document}/main?token=${token}`

async function callHangingReceiver(): Promise<void> {
  await server.post(`${webhook}config/update`, { isEnabled: true })
  const made = await server.post(`${webhook}/endpoints/create`, {
    url: `http://127.0.0.1:${hanging.port}/`,
    uid: 'hangs',
  })
  expect(made.status).toBe(200)
  await server.post(`${webhook}/endpoints/test`, { endpointId: 'hangs', waitSeconds: 0 })
  await eventually(() => hanging.connections > 0)
}

/** A client that reads nothing of the edits of others. */
async function slowReader(): Promise<RawClient> {
  const client = await RawClient.connect(urlOf('one'))
  await client.roundTrip()
  client.socket.pause()
  return client
}

/** A call whose body stops half-way until `finish` is called. */
function halfCall(): {
  readonly finish: () => void
  readonly ended: Promise<string>
  readonly begun: () => boolean
} {
  const body = JSON.stringify({
    data: { organizationId: 'acme', documentId: 'late', editorId: 'main', type: 'text', data: 'in time' },
  })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (chunk: string) => {
    answer += chunk
  })
  socket.on('error', () => {})
  socket.write(
    'POST /v2/crdt/add HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n' +
      'x-service-api-key: test-key\r\nx-service-auth-token: test-auth-token-1234\r\n' +
      `content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  const ended = once(socket, 'close').then(() => answer)
  return { finish: () => socket.write(body), ended, begun: () => answer.includes('100 Continue') }
}

/** Writes until the connection ends. Returns the close code. */
async function write(client: RawClient, from: number): Promise<number> {
  for (let count = 0; client.socket.readyState === client.socket.OPEN; count++) {
    client.sendUpdate(typed(`${from + count};`, from + count))
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  return (await client.closed).code
}

/** Clients with an update in the document: each update has a client of its own. */
const clientsIn = (updates: readonly Uint8Array[]): readonly number[] => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return [...Y.decodeStateVector(Y.encodeStateVector(doc)).keys()]
}

itLong(
  '[OPS-40] on SIGTERM under load, answers calls in progress, rejects new calls, closes sockets with 1012, and keeps every sent edit',
  async () => {
    await callHangingReceiver()
    const readers = await Promise.all(documents.map((name) => RawClient.connect(urlOf(name))))
    await Promise.all(readers.map((reader) => reader.roundTrip()))
    const slow = await slowReader()
    const writers = await Promise.all(
      Array.from({ length: writersCount }, (_, at) =>
        RawClient.connect(urlOf(documents[at % documents.length] as string)),
      ),
    )
    const codes = writers.map((client, at) => write(client, 1_000_000 * (at + 1)))
    const half = halfCall()
    await eventually(() => half.begun() && readers.every((reader) => reader.updates().length > 50))
    const exited = once(server.child, 'exit') as Promise<[number | null, string | null]>
    server.child.kill('SIGTERM')
    await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 503)
    // A second signal, and another one, change nothing.
    server.child.kill('SIGTERM')
    server.child.kill('SIGINT')
    expect(
      (await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'one', editorId: 'main' }))
        .status,
    ).toBe(503)
    expect(await (await RawClient.connect(urlOf('one'))).closed).toMatchObject({ code: 1012 })
    half.finish()
    expect(await half.ended).toContain('HTTP/1.1 200 OK')
    expect([...new Set(await Promise.all(codes))]).toEqual([1012])
    for (const reader of readers) expect(await reader.closed).toMatchObject({ code: 1012 })
    expect(await exited).toEqual([0, null])
    slow.socket.terminate()
    const shown = readers.map((reader) => clientsIn([...reader.offers(), ...reader.updates()]))
    await expectKept(shown)
  },
  60_000,
)

/** Checks that every update sent to a reader, and the answered call, exist after a restart. */
async function expectKept(shown: readonly (readonly number[])[]): Promise<void> {
  server = await startProcess(data, options())
  for (const [at, name] of documents.entries()) {
    const client = await RawClient.connect(urlOf(name))
    await client.roundTrip()
    const kept = new Set(clientsIn(client.offers()))
    client.end()
    const seen = shown[at] as readonly number[]
    expect(seen.length).toBeGreaterThan(50)
    expect(seen.filter((each) => !kept.has(each))).toEqual([])
  }
  const late = await server.post('/v2/crdt/get', {
    organizationId: 'acme',
    documentId: 'late',
    editorId: 'main',
  })
  expect(late.data).toMatchObject([{ data: 'in time' }])
}

itLong(
  '[OPS-41] when clients never answer the close and a call never ends, exits with code 0 within the configured time',
  async () => {
    await callHangingReceiver()
    const deaf = await Promise.all(Array.from({ length: 5 }, () => slowReader()))
    const half = halfCall()
    await eventually(() => half.begun())
    server.child.kill('SIGINT')
    // The server exits, although each of these would last indefinitely.
    expect(await (once(server.child, 'exit') as Promise<[number | null]>)).toEqual([0, null])
    expect(await half.ended).not.toContain('200 OK')
    for (const client of deaf) client.socket.terminate()
  },
  60_000,
)
