/**
 * Types a recorded session into a document as fast as the server takes it, then compares opening and size of what is
 * stored with its compacted form: when the server is stopped at once, and when it was left alone until older versions
 * are needed no more.
 *
 *   node --import tsx bench/storage.ts [--smoke]
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import type { Key } from '../src/engine/engine.ts'
import { openLevelEngine } from '../src/engine/level/engine.ts'
import { storedBytes } from '../src/engine/level/upkeep.ts'
import { loadRoom } from '../src/rooms/loading.ts'
import { compactAll } from '../src/storage/compact.ts'
import { median, progress, round, table, thousands } from './support/report.ts'
import { type BenchServer, startWeft, temporaryDirectory } from './support/server.ts'
import { readTrace, updateMessage, updatesOf } from './support/trace.ts'

const smoke = process.argv.includes('--smoke')
const keystrokes = smoke ? 3_000 : 100_000
const opens = smoke ? 3 : 15
/** Messages, and bytes, on their way: fewer than for which a reader is sent differences. */
const windowMax = { messages: 1_024, bytes: 262_144 }
const doc: Key = ['bench', 'bench-key', 'bench', 'storage', 'main']
const frames = updatesOf(readTrace(keystrokes).patches).map(updateMessage)

async function connect(server: BenchServer, document: string): Promise<WebSocket> {
  const url = `${server.syncUrl}bench/${document}/main?token=${await server.token()}`
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  return socket
}

const isUpdate = (message: Uint8Array): boolean => message[0] === 0 && message[1] === 2

/** Resolves when a reader has seen as many updates as there are messages. */
async function send(server: BenchServer, document: string, messages: readonly Uint8Array[]): Promise<void> {
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
  writer.terminate()
  reader.terminate()
}

/** Median of the time from the store to a document in memory. */
async function opening(directory: string): Promise<{ ms: number; encoded: number; tail: number }> {
  const engine = await openLevelEngine({ directory })
  const times: number[] = []
  let [encoded, tail] = [0, 0]
  for (let count = 0; count < opens; count++) {
    const start = performance.now()
    const loaded = await loadRoom(engine.log, doc)
    void loaded.state.doc
    times.push(performance.now() - start)
    encoded = loaded.state.encode().length
    tail = loaded.tail.entries
  }
  await engine.close()
  return { ms: median(times), encoded, tail }
}

/** Of what a large document is made of. */
const pieceBytes = 8_192

/** What edits of 1 KB in a document of 10 MB have written, compactions included: bytes that the store was given. */
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
  const before = writtenBytes(server)
  for (let edit = 0; edit < edits; edit++) text.insert((edit * 7_919) % text.length, letters(editBytes))
  await send(server, 'large', messages)
  const written = writtenBytes(server) - before
  console.log(
    `  ${thousands(edits)} edits of ${editBytes} bytes in ${thousands(largeBytes)} bytes write ${thousands(written / edits)} bytes each to files`,
  )
  await stop(server)
}

/** Of all files of a process, as the system counts them (Linux). */
function writtenBytes({ process: child }: BenchServer): number {
  const counted = readFileSync(`/proc/${child.pid}/io`, 'utf8')
  return Number(/^wchar: (\d+)/m.exec(counted)?.[1])
}

async function stop({ process: child }: BenchServer): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** So long that the work in the background has come to its end: versions are kept for a part of it. */
const aloneMs = 30_000
const briefly = { WEFT_KEEP_VERSIONS_SECONDS: '5', WEFT_IDLE_UNLOAD_SECONDS: '1' }

interface Measured {
  readonly name: string
  readonly tail: number
  readonly ms: number
  readonly bytes: number
}

async function measure(name: string, directory: string): Promise<Measured & { encoded: number }> {
  const bytes = await storedBytes(directory)
  return { name, bytes, ...(await opening(directory)) }
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
  table(
    [
      `${thousands(frames.length)} updates`,
      'updates in the log',
      'opens in ms',
      'as slow',
      'on disk',
      'of the state',
    ],
    [stopped, alone, compacted].map(({ name, tail, ms, bytes }) => [
      name,
      thousands(tail),
      round(ms),
      `${round(ms / compacted.ms)} x`,
      thousands(bytes),
      `${round(bytes / compacted.encoded)} x`,
    ]),
  )
  console.log(`  state ${thousands(compacted.encoded)} bytes`)
}

await openingAndSize()
await smallEdits()
