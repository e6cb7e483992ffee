/**
 * Types a recorded session into a document as fast as the server accepts it. Then compares the time of an opening and
 * of a join, and the stored size: after an immediate stop, after an idle time in which older versions expire, of the
 * compacted form, and after a prune.
 *
 *   node --import tsx bench/storage.ts [--smoke]
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { compactAll } from '../src/capabilities/backups/storage/compact.ts'
import { yWebsocketMessages } from '../src/cli/bench/client-protocol.ts'
import { updatesOf } from '../src/cli/bench/edit-session.ts'
import { loadRoom } from '../src/core/rooms/log/load-room.ts'
import type { Key } from '../src/core/store/engine.ts'
import { openLevelEngine } from '../src/core/store/level/engine.ts'
import { storedBytes, storePath } from '../src/core/store/level/maintenance.ts'
import { recordedTrace, updateMessage } from './support/recorded-trace.ts'
import { median, progress, round, table, thousands } from './support/report.ts'
import { type BenchServer, startWeft, temporaryDirectory } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const keystrokes = smoke ? 3_000 : 259_778
const opens = smoke ? 3 : 15
/** Number of openings that are not measured. After them, frequently used code is compiled. */
const warmUps = smoke ? 1 : 60
/**
 * Maximum number of messages and bytes that the reader has not received yet. A reader that is further behind
 * would get merged updates.
 */
const windowMax = { messages: 1_024, bytes: 262_144 }
const doc: Key = ['bench', 'bench-key', 'bench', 'storage', 'main']
const frames = updatesOf(recordedTrace(keystrokes).patches).map(updateMessage)

async function connect(server: BenchServer, document: string): Promise<WebSocket> {
  const url = `${server.syncUrl}bench/${document}/main?token=${await server.token()}`
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  return socket
}

/** Returns the number of bytes that a websocket has received. The types of `ws` do not have this member. */
const receivedBytes = (socket: WebSocket): number =>
  (socket as unknown as { readonly _socket: Socket })._socket.bytesRead

const isUpdate = (message: Uint8Array): boolean => message[0] === 0 && message[1] === 2

/**
 * Sends updates from one client to another. Resolves when the reader has received all of them, with the
 * number of bytes that the server has sent to both clients.
 */
async function send(server: BenchServer, document: string, messages: readonly Uint8Array[]): Promise<number> {
  const [writer, reader] = [await connect(server, document), await connect(server, document)]
  await new Promise((resolve) => setTimeout(resolve, 300))
  const longest = messages.reduce((longest, { length }) => Math.max(longest, length), 1)
  const windowSize = Math.max(1, Math.min(windowMax.messages, Math.floor(windowMax.bytes / longest)))
  const bar = progress(`storage: ${document}`)
  let [sent, seen] = [0, 0]
  const next = (): void => {
    while (sent < messages.length && sent - seen < windowSize) writer.send(messages[sent++] as Uint8Array)
  }
  await new Promise<void>((resolve) => {
    reader.on('message', (message: Buffer) => {
      if (!isUpdate(message)) return
      seen += 1
      next()
      if (seen % 1_000 === 0) bar.at(seen / messages.length)
      if (seen === messages.length) resolve()
    })
    next()
  })
  bar.end()
  const sentBytes = [writer, reader].reduce((sum, socket) => sum + receivedBytes(socket), 0)
  writer.terminate()
  reader.terminate()
  return sentBytes
}

/**
 * Measures how long it takes to load the document from the store into memory. Returns the median of the
 * openings after the warm-up.
 */
async function opening(directory: string): Promise<{ ms: number; encoded: number; tail: number }> {
  const engine = await openLevelEngine({ directory })
  const times: number[] = []
  let [encoded, tail] = [0, 0]
  for (let count = -warmUps; count < opens; count++) {
    const start = performance.now()
    const loaded = await loadRoom(engine.log, doc)
    void loaded.state.doc
    if (count >= 0) times.push(performance.now() - start)
    encoded = loaded.state.encode().length
    tail = loaded.tail.entries
  }
  await engine.close()
  return { ms: median(times), encoded, tail }
}

/** LoadSize of the pieces from which a large document is built, in bytes. */
const pieceBytes = 8_192

/**
 * Measures how many bytes the server writes for edits of 1 KB in a document of 10 MB, including compactions.
 * The result has three parts: the bytes that the store gets and writes to LevelDB's log, the tables that
 * LevelDB writes in the background for each level, and the bytes sent to clients.
 */
async function smallEdits(): Promise<void> {
  const directory = temporaryDirectory()
  const [largeBytes, editBytes, edits] = smoke ? [2 ** 20, 1024, 200] : [10 * 2 ** 20, 1024, 8_000]
  const letters = (count: number) =>
    randomBytes(count)
      .toString('latin1')
      .replaceAll(/[^!-~]/g, 'x')
      .slice(0, count)
  const server = await startWeft(directory)
  const typist = new Y.Doc()
  const messages: Uint8Array[] = []
  typist.on('update', (update: Uint8Array) => messages.push(updateMessage(update)))
  const text = typist.getText('content')
  for (let bytes = 0; bytes < largeBytes; bytes += pieceBytes) text.insert(0, letters(pieceBytes))
  await send(server, 'large', messages.splice(0))
  const before = await settledBytes(server)
  const tablesBefore = tableBytes(directory)
  for (let edit = 0; edit < edits; edit++) text.insert((edit * 7_919) % text.length, letters(editBytes))
  const sentBytes = await send(server, 'large', messages)
  const all = (await settledBytes(server)) - before
  const tables = tableBytes(directory) - tablesBefore
  const [given, made, sent] = [all - tables - sentBytes, tables, sentBytes].map((bytes) =>
    thousands(bytes / edits),
  )
  console.log(
    `  ${thousands(edits)} edits of ${editBytes} bytes in ${thousands(largeBytes)} bytes: each gives ${given} bytes to the store, of which LevelDB makes ${made} of tables, and ${sent} to clients`,
  )
  await stop(server)
}

/**
 * Waits until the server writes nothing more for two seconds, so that LevelDB is idle. Returns the number of
 * bytes written so far.
 */
async function settledBytes(server: BenchServer): Promise<number> {
  for (let before = -1; ; ) {
    const now = writtenBytes(server)
    if (now - before < pieceBytes) return now
    before = now
    await new Promise((resolve) => setTimeout(resolve, 2_000))
  }
}

/**
 * Returns the total size of all tables that LevelDB has written since it was opened, according to its log.
 */
function tableBytes(directory: string): number {
  const text = readFileSync(join(storePath(directory), 'LOG'), 'utf8')
  return [...text.matchAll(/Level-0 table #\d+: (\d+) bytes OK|Compacted .* => (\d+) bytes/g)].reduce(
    (sum, [, fresh, again]) => sum + Number(fresh ?? again),
    0,
  )
}

/**
 * Returns the number of bytes that a process has written to files and sockets. Linux counts both together.
 */
function writtenBytes({ process: child }: BenchServer): number {
  const counted = readFileSync(`/proc/${child.pid}/io`, 'utf8')
  return Number(/^wchar: (\d+)/m.exec(counted)?.[1])
}

async function stop({ process: child }: BenchServer): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Time in ms in which all background work ends. Versions expire within this time. */
const aloneMs = 30_000
const briefly = { WEFT_BASE_VERSION_SECONDS: '5', WEFT_IDLE_UNLOAD_SECONDS: '1' }

/** Returns the median time in ms in which a new client gets and reads the whole document. */
async function joining(server: BenchServer): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < opens; count++) {
    const socket = await connect(server, 'storage')
    const start = performance.now()
    await new Promise<void>((resolve) => {
      socket.on('message', (message: Buffer) => {
        const read = yWebsocketMessages.read(message)
        if (read?.kind !== 'offer') return
        Y.applyUpdate(new Y.Doc(), read.bytes)
        resolve()
      })
      socket.send(yWebsocketMessages.ask(''))
    })
    times.push(performance.now() - start)
    socket.terminate()
  }
  return median(times)
}

interface Measured {
  readonly name: string
  readonly tail: number
  readonly ms: number
  readonly joinMs: number
  readonly bytes: number
  readonly encoded: number
}

async function measure(name: string, directory: string): Promise<Measured> {
  const bytes = await storedBytes(directory)
  const opened = await opening(directory)
  const server = await startWeft(directory)
  const joinMs = await joining(server)
  await stop(server)
  return { name, bytes, joinMs, ...opened }
}

async function prune(directory: string): Promise<void> {
  const server = await startWeft(directory)
  const ids = { organizationId: 'bench', documentId: 'storage', editorId: 'main' }
  const { status, body } = await server.post('/v2/crdt/prune', ids)
  if (status !== 200) throw new Error(`not pruned: ${JSON.stringify(body)}`)
  await stop(server)
}

async function openingAndSize(): Promise<void> {
  const directory = temporaryDirectory()
  const server = await startWeft(directory)
  await send(server, 'storage', frames)
  await stop(server)
  const stopped = await measure('stopped at once', directory)
  const again = await startWeft(directory, briefly)
  await new Promise((resolve) => setTimeout(resolve, aloneMs))
  await stop(again)
  const alone = await measure('left alone', directory)
  await compactAll(directory, () => undefined)
  const compacted = await measure('after weft compact', directory)
  await prune(directory)
  const pruned = await measure('after crdt/prune', directory)
  table(
    [
      `${thousands(frames.length)} updates`,
      'updates in the log',
      'opens in ms',
      'as slow',
      'joins in ms',
      'on disk',
      'state',
    ],
    [stopped, alone, compacted, pruned].map(({ name, tail, ms, joinMs, bytes, encoded }) => [
      name,
      thousands(tail),
      round(ms),
      `${round(ms / compacted.ms)} x`,
      round(joinMs),
      thousands(bytes),
      thousands(encoded),
    ]),
  )
}

await openingAndSize()
await smallEdits()
