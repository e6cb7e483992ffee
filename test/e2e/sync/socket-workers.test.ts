import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  contentOf,
  type Editor,
  eventually,
  openEditor,
  RawClient,
  syncedEditor,
  typed,
} from '../../support/clients/clients.ts'
import { connectionOf } from '../../support/clients/hocuspocus-frames.ts'
import { dialects, hocuspocusProvider } from '../../support/clients/protocol-clients.ts'
import { sendRaw } from '../../support/clients/raw-websocket.ts'
import { beginMessage } from '../../support/faults/incomplete-messages.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { isRunning, metricOf, workersOf, workersRun } from '../../support/servers/workers.ts'
import { itLong } from '../../support/time/full-run.ts'

let data: string
let server: ServerProcess
let token: string
const editors: Editor[] = []

async function start(options: Record<string, string> = {}): Promise<void> {
  server = await startProcess(data, { WEFT_SOCKET_WORKERS: '2', ...options })
  token = await server.token()
}

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-workers-'))
})
afterEach(async () => {
  for (const editor of editors.splice(0)) editor.close()
  await server?.end('SIGKILL')
  await rm(data, { recursive: true, force: true, maxRetries: 5 })
})

const path = 'acme/notes/main'

async function edit(version: 1 | 2 | 3 = 3): Promise<Editor> {
  const editor = await syncedEditor(server.wsUrl, path, token, { version })
  editors.push(editor)
  return editor
}

const connect = (document = 'notes', parameters = ''): Promise<RawClient> =>
  RawClient.connect(`${server.wsUrl}/sync/acme/${document}/main?token=${token}${parameters}`)

/** What a process has in memory, where the kernel tells (Linux). */
const residentMB = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) / 256

const same = (some: readonly Editor[]): boolean =>
  some.every((editor) => editor.text.toString() === some[0]?.text.toString())

it('[WORK-2] clients of all dialects on different workers edit one document, and know what is saved', async () => {
  await start()
  const people = await Promise.all(dialects.map((dialect) => dialect.open(server, 'notes', token)))
  for (const [index, { text }] of people.entries()) text.insert(0, `${index}`.repeat(100))
  const texts = (): string[] => people.map(({ text }) => text.toString())
  await eventually(() => texts().every((text) => text.length === people.length * 100 && text === texts()[0]))
  await eventually(() => people.every(({ isUnsaved }) => !isUnsaved()))
  for (const person of people) person.close()
})

it('[WORK-2] stock clients of every version on different workers edit one document', async () => {
  await start()
  const all = [await edit(1), await edit(2), await edit(3), await edit(3)]
  for (const [index, editor] of all.entries()) editor.text.insert(0, `${index}`.repeat(500))
  await eventually(() => all[0]?.text.length === 2_000 && same(all))
  all[0]?.provider.awareness.setLocalStateField('cursor', 7)
  await eventually(() =>
    all.every((editor) =>
      [...editor.provider.awareness.getStates().values()].some(({ cursor }) => cursor === 7),
    ),
  )
})

it('[WORK-2] new connections go to the worker with the fewest', async () => {
  await start()
  const clients = await Promise.all(Array.from({ length: 20 }, () => connect()))
  const [first] = workersOf(server)
  let gone = 0
  for (const client of clients) void client.closed.then(() => (gone += 1))
  process.kill(first as number, 'SIGKILL')
  await eventually(async () => (await metricOf(server, 'weft_connections{')) === 10 && gone === 10)
  for (const client of clients) client.end()
})

it('[WORK-3] connections end as without workers, and the metrics tell', async () => {
  await start({ WEFT_MAX_MESSAGE_BYTES: '65536', WEFT_MAX_DOCUMENT_BYTES: '1048576' })
  const [large, text, revoked, leaving] = [await connect(), await connect(), await connect(), await connect()]
  await Promise.all([large, text, revoked, leaving].map((client) => client.roundTrip()))
  large.send(new Uint8Array(70_000))
  text.socket.send('text')
  expect(await large.closed).toEqual({ code: 4413, reason: 'the message is larger than this server takes' })
  expect((await text.closed).code).toBe(4400)
  leaving.socket.close(1000)
  await leaving.closed
  await server.post('/v2/auth/revoke_tokens', { userId: 'ada' })
  expect((await revoked.closed).code).toBe(4401)
  // Nothing more is read of who has sent too much, also no answer to its close.
  for (const code of [1006, 4400, 4401, 1000])
    await eventually(
      async () => (await metricOf(server, `weft_connections_closed_total{code="${code}"}`)) === 1,
    )
  await eventually(
    async () => (await metricOf(server, 'weft_limit_hits_total{limit="maxMessageBytes"}')) === 1,
  )
  await eventually(async () => (await metricOf(server, 'weft_connections{')) === 0)
})

it('[WORK-3] a handshake that is none is answered, and leaves nothing', async () => {
  await start()
  const { status, body } = await sendRaw(
    Number(new URL(server.url).port),
    `GET /sync/${path}?token=${token} HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
  )
  expect([status, body]).toEqual([400, expect.stringContaining('no websocket handshake')])
  const client = await connect()
  await client.roundTrip()
  client.end()
})

itLong('[WORK-4] a reader that stops costs its send buffer, and gets one difference', async () => {
  await start()
  const [reader, writer] = [await connect(), await connect()]
  await Promise.all([reader.roundTrip(), writer.roundTrip()])
  const workers = workersOf(server)
  const before = workers.map(residentMB)
  reader.socket.pause()
  const writes = 150
  for (let index = 0; index < writes; index++) {
    writer.sendUpdate(typed('x'.repeat(100_000), index + 1))
    if (index % 20 === 0) await writer.roundTrip()
  }
  await writer.roundTrip()
  expect(await metricOf(server, 'weft_slow_clients ')).toBe(1)
  // Through one of the workers 40 MB came in; the other one has them not.
  const grown = workers.map((pid, index) => residentMB(pid) - (before[index] as number))
  expect(Math.min(...grown)).toBeLessThan(20)
  reader.socket.resume()
  await eventually(() => contentOf(reader.updates()).length === writes * 100_000)
  expect(reader.updates().length).toBeLessThan(writes / 2)
  expect(await metricOf(server, 'weft_slow_clients ')).toBe(0)
  for (const client of [reader, writer]) client.end()
})

it('[WORK-5] a worker that is killed ends its own connections only; its clients come back, and nothing is lost', async () => {
  await start()
  const all = [await edit(), await edit()]
  const watcher = all.map((editor) => {
    let drops = 0
    editor.provider.on(
      'status',
      ({ status }: { status: string }) => (drops += status === 'disconnected' ? 1 : 0),
    )
    return () => drops
  })
  const [killed] = workersOf(server)
  let typing = 0
  const typist = setInterval(() => all[typing++ % 2]?.text.insert(0, 'x'), 2)
  await eventually(() => typing > 50)
  process.kill(killed as number, 'SIGKILL')
  await eventually(() => watcher.reduce((sum, drops) => sum + drops(), 0) === 1)
  await eventually(() => all.every(({ provider }) => provider.wsconnected))
  clearInterval(typist)
  await eventually(() => all[0]?.text.length === typing && same(all))
  expect(watcher.map((drops) => drops()).sort()).toEqual([0, 1])
  await workersRun(server, 2)
  expect(await metricOf(server, 'weft_socket_worker_restarts_total')).toBe(1)
  expect(workersOf(server)).not.toContain(killed)
})

it('[WORK-5] whoever was on it is gone from the document', async () => {
  await start()
  const [watching, killed] = [await connect(), await connect()]
  await Promise.all([watching.roundTrip(), killed.roundTrip()])
  killed.sendAwareness(77, 1, { cursor: 1 })
  await eventually(() =>
    watching.awareness().some(({ clientId, state }) => clientId === 77 && state !== null),
  )
  const before = workersOf(server)
  // The one that the watcher is not on: the watcher was first.
  process.kill(Math.max(...before), 'SIGKILL')
  const gone = await Promise.race([watching.closed.then(() => watching), killed.closed.then(() => killed)])
  if (gone === killed)
    await eventually(() =>
      watching.awareness().some(({ clientId, state }) => clientId === 77 && state === null),
    )
  await eventually(async () => (await metricOf(server, 'weft_connections{')) === 1)
  for (const client of [watching, killed]) client.end()
})

it('[WORK-5] whoever is on the way to it is cut off, and all come back when all workers are killed', async () => {
  await start()
  const workers = workersOf(server)
  const there = [await edit(), await edit()]
  process.kill(workers[0] as number, 'SIGSTOP')
  const coming = Array.from({ length: 6 }, () => openEditor(server.wsUrl, path, token))
  editors.push(...coming)
  let cutOff = 0
  for (const { provider } of coming) provider.on('connection-close', () => (cutOff += 1))
  await eventually(() => coming.filter(({ provider }) => provider.synced).length >= 3)
  expect(cutOff).toBe(0)
  for (const pid of workers) process.kill(pid, 'SIGKILL')
  await eventually(() => cutOff >= 6)
  const all = [...there, ...coming]
  for (const editor of all) editor.text.insert(0, 'x')
  await eventually(() => there[0]?.text.length === all.length && same(all))
  await workersRun(server, 2)
})

it.skipIf(process.env.WEFT_TEST_ALL !== '1')(
  '[WORK-6] a worker that answers no more is ended, and its clients come back',
  async () => {
    await start()
    const all = [await edit(), await edit()]
    const [stopped] = workersOf(server)
    process.kill(stopped as number, 'SIGSTOP')
    all[0]?.text.insert(0, 'one ')
    all[1]?.text.insert(0, 'two ')
    await eventually(
      () => !isRunning(stopped as number),
      () => 'still running',
      20_000,
    )
    await eventually(() => all[0]?.text.length === 8 && same(all))
    await workersRun(server, 2)
  },
)

it('[WORK-7] at SIGTERM clients of all workers are told 1012, and all processes end', async () => {
  await start()
  const clients = await Promise.all(Array.from({ length: 6 }, () => connect()))
  await Promise.all(clients.map((client) => client.roundTrip()))
  const workers = workersOf(server)
  expect(workers).toHaveLength(2)
  for (const worker of workers)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(worker, signal)
  await clients[0]?.roundTrip()
  expect(await server.end('SIGTERM')).toBe(0)
  for (const client of clients) expect((await client.closed).code).toBe(1012)
  expect(workers.filter(isRunning)).toEqual([])
})

it('[WORK-7] when the main process is killed, its workers end', async () => {
  await start()
  const client = await connect()
  const workers = workersOf(server)
  await server.end('SIGKILL')
  await client.closed
  await eventually(() => workers.every((pid) => !isRunning(pid)))
})

it('[WORK-8] workers know nothing of the environment, and with 1 there are none', async () => {
  await start()
  const environments = workersOf(server).map((pid) => readFileSync(`/proc/${pid}/environ`, 'latin1'))
  expect(environments).toHaveLength(2)
  expect(environments.filter((text) => text.includes('WEFT'))).toEqual([])
  await server.end('SIGKILL')
  await start({ WEFT_SOCKET_WORKERS: '1' })
  expect(workersOf(server)).toEqual([])
  const client = await connect()
  await client.roundTrip()
  client.end()
})

itLong('[WORK-9] a client that sends more than is taken of it is held up, and nothing is lost', async () => {
  await start({
    WEFT_RECEIVE_BYTES_PER_WORKSPACE_PER_SECOND: '2097152',
    WEFT_RECEIVE_BYTES_PER_WORKSPACE_BURST: '65536',
  })
  const [flooder, reader] = [await connect('flood'), await connect('flood')]
  await Promise.all([flooder.roundTrip(), reader.roundTrip()])
  const editor = openEditor(server.wsUrl, 'acme/flood/main', token)
  editors.push(editor)
  const updates: Uint8Array[] = []
  for (let client = 1; client <= 3_000; client++) updates.push(typed('abc'.repeat(100), client))
  for (const update of updates) flooder.sendUpdate(update)
  await eventually(
    () => editor.text.length === 900_000 && reader.updates().length >= 3_000,
    () => editor.text.length,
    120_000,
  )
  for (const client of [flooder, reader]) client.end()
})

it('[DIA-10] a worker serves sockets of many documents, too', async () => {
  await start()
  const provider = hocuspocusProvider(server, path, token)
  await eventually(() => provider.isSynced)
  const editor = await edit()
  provider.document.getText('content').insert(0, 'by a worker')
  await eventually(() => editor.text.toString() === 'by a worker' && !provider.hasUnsyncedChanges)
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
})

it('[DIA-16] [LIM-11] a worker cuts off who sends a message without end before a token, and it is counted', async () => {
  await start()
  const client = await RawClient.connect(`${server.wsUrl}/hocuspocus`)
  const connection = connectionOf(client)
  // Header of a masked binary message of 15 MB, and a part of it.
  connection.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0xe4, 0xe1, 0xc0, 0, 0, 0, 0]))
  for (let sent = 0; sent < 3_000_000; sent += 65_536) connection.write(Buffer.alloc(65_536))
  expect((await client.closed).code).toBe(1006)
  await eventually(
    async () => (await metricOf(server, 'weft_limit_hits_total{limit="incompleteMessageBytes"}')) === 1,
  )
})

it('[LIM-19] a worker reports incomplete messages, and the main process closes the sockets of the heaviest address', async () => {
  await start({ WEFT_MEMORY_BUDGET_BYTES: '1' })
  const holder = 'weft_memory_held_bytes{holder="unauthenticated_messages"}'
  const connectShared = (): Promise<RawClient> => RawClient.connect(`${server.wsUrl}/hocuspocus`)
  const hostile = await Promise.all(Array.from({ length: 20 }, connectShared))
  for (const client of hostile) beginMessage(client, 15_000_000, 60_000)
  const isOpen = ({ socket }: RawClient): boolean => socket.readyState === socket.OPEN
  await eventually(() => hostile.filter(isOpen).length < 5)
  expect(await metricOf(server, holder)).toBeLessThanOrEqual(262_144)
  for (const client of hostile) client.socket.terminate()
  await eventually(async () => (await metricOf(server, holder)) === 0)
})

it('[LIM-21] a worker closes a socket whose message is not complete in time', async () => {
  await start({ WEFT_TRANSFER_TIMEOUT_SECONDS: '1' })
  const client = await connect()
  await client.roundTrip()
  beginMessage(client, 1_000_000, 100)
  expect((await client.closed).code).toBe(1006)
  await eventually(
    async () => (await metricOf(server, 'weft_limit_hits_total{limit="transferTimeoutSeconds"}')) === 1,
  )
})

it('[DIA-16] on a worker, too, who has opened a document may send messages as large as others may', async () => {
  await start()
  const provider = hocuspocusProvider(server, path, token)
  await eventually(() => provider.isSynced)
  provider.document.getText('content').insert(0, 'x'.repeat(3_000_000))
  await eventually(() => !provider.hasUnsyncedChanges)
  provider.destroy()
  provider.configuration.websocketProvider.destroy()
})
