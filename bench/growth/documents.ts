import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import { compactAll } from '../../src/capabilities/backups/storage/compact.ts'
import type { Running } from '../../src/cli/bench/contender.ts'
import { answer, enter } from '../../src/cli/bench/entering.ts'
import type { LoadSocket } from '../../src/cli/bench/load-socket.ts'
import { type LoadSize, waitMs } from '../../src/cli/bench/scenario.ts'
import { weft } from '../load/contenders.ts'
import { median, quantile } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { keyOf, storeLog } from '../support/stored.ts'
import type { Curve } from './curve.ts'

const document = 'large'
const pieceBytes = 65_536
const editBytes = 1_024
/** Pause between two edits in ms, so that no edit waits for the previous one. */
const editEveryMs = 10
/** Time in ms in which LevelDB finishes writing tables in the background. */
const settleMs = 3_000

const letters = (count: number): string =>
  randomBytes(count)
    .toString('latin1')
    .replaceAll(/[^!-~]/g, 'x')

/** Yields the commits that build a document of the given size in bytes. */
function* pieces(doc: Y.Doc, bytes: number): Iterable<readonly Uint8Array[]> {
  const made: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => made.push(update))
  for (let size = 0; size < bytes; size += pieceBytes) {
    doc.getText('content').insert(0, letters(pieceBytes))
    yield made.splice(0)
  }
}

/** Returns how long it takes, in ms, until a new client has received the whole document. */
async function joined(server: Running): Promise<{ socket: LoadSocket; ms: number }> {
  const start = performance.now()
  const socket = await enter(server, document)
  await answer(server, socket, document)
  return { socket, ms: performance.now() - start }
}

/** Returns how long each edit takes, in ms, until it arrives at another client. */
async function edited(server: Running, doc: Y.Doc, writer: LoadSocket, reader: LoadSocket, edits: number) {
  const latencies: number[] = []
  const text = doc.getText('content')
  let update: Uint8Array = new Uint8Array()
  doc.on('update', (made: Uint8Array) => {
    update = made
  })
  for (let edit = 0; edit < edits; edit++) {
    text.insert((edit * 7_919) % text.length, letters(editBytes))
    const sentAt = performance.now()
    await new Promise<void>((resolve) => {
      reader.onMessage = (payload) => server.dialect.read(payload)?.kind === 'update' && resolve()
      writer.send(server.dialect.update(document, update))
    })
    latencies.push(performance.now() - sentAt)
    await sleep(editEveryMs)
  }
  return latencies
}

/**
 * Returns the number of bytes that a process has written to files and sockets. Linux counts both together.
 */
const writtenBytes = (pid: number): number =>
  Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

/** Measures how long it takes to open a document of the given size, and to make small edits in it. */
async function measure(megabytes: number, edits: number, scale: LoadSize): Promise<readonly number[]> {
  const [data, doc] = [temporaryDirectory(), new Y.Doc()]
  // The first start creates the data directory.
  await (await weft().start(data)).stop()
  await storeLog(data, keyOf('bench', document), pieces(doc, megabytes * 2 ** 20))
  // Compacts the logs, as the previous server would have done. Otherwise, a snapshot would be due during the
  // edits and would be measured with them.
  await compactAll(data, () => undefined)
  const server = await weft().start(data)
  const cold = await joined(server)
  const warm = await joined(server)
  await sleep(waitMs(scale, settleMs))
  const before = writtenBytes(server.pid)
  const latencies = await edited(server, doc, cold.socket, warm.socket, edits)
  await sleep(waitMs(scale, settleMs))
  const written = (writtenBytes(server.pid) - before) / edits
  await server.kill()
  return [cold.ms, warm.ms, median(latencies), quantile(latencies, 0.99), written]
}

export const documents = (sizes: readonly number[], edits: number, scale: LoadSize): Curve => ({
  title: `documents of so many MB, and ${edits} edits of 1 KB in each`,
  unit: 'MB',
  figures: [
    { label: 'join after a start: ms a MB', digits: 1, of: 'unit' },
    { label: 'the next: ms a MB', digits: 1, of: 'unit' },
    { label: 'an edit: p50 ms', digits: 2, of: 'all' },
    { label: 'p99 ms', digits: 1, of: 'all' },
    { label: 'bytes written', digits: 0, of: 'all' },
  ],
  sizes,
  measure: (size) => measure(size, edits, scale),
})
