/**
 * Measures the memory of an open room, of a further connection, of a closed room and of a stored document, by
 * the kind of object. The figures are differences between heap snapshots of one server.
 *
 *   node --import tsx bench/room-memory.ts [--smoke]
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from '../src/cli/bench/contender.ts'
import { answer, characters, enter, enterAll } from '../src/cli/bench/entering.ts'
import type { LoadSocket } from '../src/cli/bench/load-socket.ts'
import { weft } from './load/contenders.ts'
import { type HeapSizes, heapSizes } from './support/heap-sizes.ts'
import { progress, round, table } from './support/report.ts'
import { temporaryDirectory, unlimitedCalls } from './support/server.ts'

const root = join(import.meta.dirname, '..')
const smoke = process.argv.includes('--smoke')
const rooms = smoke ? 20 : 1_000
/** Rooms that are opened and closed first, so that the code is compiled and all caches are filled. */
const firstRooms = smoke ? 20 : 2_000
/** Number of kinds of objects that are listed separately. */
const kindsMax = 12
/** Time in ms in which background work ends. */
const settleMs = smoke ? 500 : 6_000
const lookEveryMs = 50
const text = 'lorem ipsum '.repeat(characters).slice(0, characters)

interface Moment {
  readonly heap: HeapSizes
}

const data = temporaryDirectory()
const snapshots = temporaryDirectory()
const server = weft('weft', {
  ...unlimitedCalls,
  WEFT_IDLE_UNLOAD_SECONDS: '0',
  NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${snapshots}`,
})

/** Collects garbage and reads the sizes of all objects of the server. */
async function look(running: Running): Promise<Moment> {
  await sleep(settleMs)
  const before = new Set(readdirSync(snapshots))
  process.kill(running.pid as number, 'SIGUSR2')
  for (;;) {
    await sleep(lookEveryMs)
    const file = readdirSync(snapshots).find((name) => !before.has(name))
    if (file === undefined) continue
    const heap = heapSizes(readFileSync(join(snapshots, file), 'utf8'))
    // The file is incomplete while the server is still writing it.
    if (heap !== null) return { heap }
  }
}

const bytesUnder = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0)

/** Opens one connection in each room. @param writes whether each client writes a text */
const joinRooms = (running: Running, from: number, count: number, writes: boolean): Promise<LoadSocket[]> =>
  enterAll(count, async (index) => {
    const document = `room-${from + index}`
    const socket = await enter(running, document)
    await answer(running, socket, document)
    if (!writes) return socket
    const doc = new Y.Doc()
    doc.getText('content').insert(0, text)
    socket.send(running.dialect.update(document, Y.encodeStateAsUpdate(doc)))
    return socket
  })

async function close(running: Running, sockets: readonly LoadSocket[]): Promise<void> {
  for (const socket of sockets) socket.end()
  const metrics = new URL('/metrics', running.url('').replace('ws:', 'http:'))
  while (!/^weft_rooms_open 0$/m.test(await (await fetch(metrics)).text())) await sleep(lookEveryMs)
}

const bar = progress('memory')
const running = await server.start(data)
await close(running, await joinRooms(running, 0, firstRooms, true))
const empty = await look(running)
bar.at(0.25)
const first = await joinRooms(running, firstRooms, rooms, true)
const open = await look(running)
bar.at(0.5)
const second = await joinRooms(running, firstRooms, rooms, false)
const joined = await look(running)
bar.at(0.75)
await close(running, [...first, ...second])
const closed = await look(running)
bar.end()
await running.kill()
const storedBytes = bytesUnder(data)
execFileSync(process.execPath, ['dist/main.js', 'compact', data], { cwd: root })
const compactBytes = bytesUnder(data)

const differences = [
  { label: 'room with one connection', from: empty, to: open },
  { label: 'further connection', from: open, to: joined },
  { label: 'closed room', from: empty, to: closed },
]
const bytes = (value: number): string => round(value / rooms, 0)
table(
  ['item', 'bytes'],
  differences.map(({ label, from, to }) => [label, bytes(to.heap.total - from.heap.total)]),
)
const perDocument = (value: number): string => round(value / (firstRooms + rooms), 0)
console.log(
  `  stored document of ${characters} characters: ${perDocument(storedBytes)} bytes of disk, ` +
    `${perDocument(compactBytes)} after \`compact\`\n`,
)
for (const { label, from, to } of differences.slice(0, 2)) {
  const kinds = [...to.heap.byKind]
    .map(([kind, size]) => ({ kind, size: size - (from.heap.byKind.get(kind) ?? 0) }))
    .sort((a, b) => b.size - a.size)
  const listed = kinds.slice(0, kindsMax)
  const rest = kinds.slice(kindsMax).reduce((sum, { size }) => sum + size, 0)
  table(
    [label, 'bytes'],
    [...listed, { kind: 'other', size: rest }].map(({ kind, size }) => [kind, bytes(size)]),
  )
  console.log()
}
process.exit()
