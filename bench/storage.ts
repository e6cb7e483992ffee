/**
 * Types a recorded session into a document as fast as the server takes it, then compares opening and size of what is
 * stored with its compacted form.
 *
 *   node --import tsx bench/storage.ts [--smoke]
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'
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
const windowSize = 1_024
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

async function stop({ process: child }: BenchServer): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function openingAndSize(): Promise<void> {
  const directory = temporaryDirectory()
  const server = await startWeft(directory)
  await send(server, 'storage', frames)
  await stop(server)
  const bytes = await storedBytes(directory)
  const before = await opening(directory)
  const compacted = await compactAll(directory, () => undefined)
  const after = await opening(directory)
  table(
    [`${thousands(frames.length)} updates`, 'updates in the log', 'opens in ms', 'on disk', 'of the state'],
    [
      [
        'as the server left it',
        thousands(before.tail),
        round(before.ms),
        thousands(bytes),
        round(bytes / after.encoded),
      ],
      [
        'after weft compact',
        thousands(after.tail),
        round(after.ms),
        thousands(compacted.bytesAfter),
        round(compacted.bytesAfter / after.encoded),
      ],
    ],
  )
  console.log(
    `  opens ${round(before.ms / after.ms)} times as slow as compacted; state ${thousands(after.encoded)} bytes`,
  )
}

await openingAndSize()
