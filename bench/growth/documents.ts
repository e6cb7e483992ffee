import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as Y from 'yjs'
import { type Running, weft } from '../load/contenders.ts'
import type { LoadSocket } from '../load/load-socket.ts'
import { enter, sleep } from '../load/typing.ts'
import { median, quantile, round, thousands } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'

const document = 'large'
const pieceBytes = 65_536
const editBytes = 1_024
/** Between edits: nobody waits for the one before. */
const editEveryMs = 20
/** For LevelDB, which makes tables in its own time. */
const settleMs = 3_000

export const documentsHeader = [
  'MB',
  'join ms, after a start',
  'and again',
  'edit of 1 KB: p50 ms',
  'p99 ms',
  'bytes written an edit',
]

const letters = (count: number): string =>
  randomBytes(count)
    .toString('latin1')
    .replaceAll(/[^!-~]/g, 'x')

/** Made where there is nobody, and sent piece by piece. */
async function fill(server: Running, doc: Y.Doc, bytes: number): Promise<void> {
  const socket = await enter(server, document)
  const pieces: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => pieces.push(update))
  for (let made = 0; made < bytes; made += pieceBytes) doc.getText('content').insert(0, letters(pieceBytes))
  for (const piece of pieces) {
    socket.send(server.dialect.update(document, piece))
    while (socket.unsentBytes > 0) await sleep(1)
  }
  await sleep(settleMs)
  socket.end()
}

/** Milliseconds until a newcomer has been sent everything. */
async function joined(server: Running): Promise<{ socket: LoadSocket; ms: number }> {
  const start = performance.now()
  const socket = await enter(server, document)
  await new Promise<void>((resolve) => {
    socket.onMessage = (payload) => server.dialect.read(payload)?.kind === 'offer' && resolve()
    socket.send(server.dialect.ask(document))
  })
  return { socket, ms: performance.now() - start }
}

/** Milliseconds from each edit to its coming to another. */
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

/** Of all files and sockets of a process, as the system counts them (Linux). */
const writtenBytes = (pid: number): number =>
  Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

/** Opening a document of that size, and small edits in it. */
export async function documentRow(megabytes: number, edits: number): Promise<readonly string[]> {
  const [data, doc] = [temporaryDirectory(), new Y.Doc()]
  const first = await weft().start(data)
  await fill(first, doc, megabytes * 2 ** 20)
  await first.stop()
  const server = await weft().start(data)
  const cold = await joined(server)
  const warm = await joined(server)
  await sleep(settleMs)
  const before = writtenBytes(server.pid)
  const latencies = await edited(server, doc, cold.socket, warm.socket, edits)
  await sleep(settleMs)
  const written = writtenBytes(server.pid) - before
  await server.kill()
  return [
    String(megabytes),
    round(cold.ms, 0),
    round(warm.ms, 0),
    round(median(latencies)),
    round(quantile(latencies, 0.99)),
    thousands(written / edits),
  ]
}
