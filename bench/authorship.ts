/**
 * Measures what the authors of a recorded session cost: the stored bytes of each keystroke, the time of reading
 * them, and the disk use. The disk use is compared with a second copy of the document that is never
 * garbage-collected, with a map from its content to the authors. Each keystroke takes 200 ms.
 *
 *   node --import tsx bench/authorship.ts [--smoke]
 */
import * as Y from 'yjs'
import { updatesOf } from '../src/cli/bench/edit-session.ts'
import { systemClock } from '../src/core/base/clock.ts'
import { compactWhole } from '../src/core/rooms/log/compaction-policy.ts'
import { readAttribution } from '../src/core/rooms/log/read-attribution.ts'
import type { Key, LogUpdate } from '../src/core/store/engine.ts'
import { openLevelEngine } from '../src/core/store/level/engine.ts'
import { compactFiles, storedBytes } from '../src/core/store/level/maintenance.ts'
import { AttributionBuilder } from '../src/core/update/attribution/attribution-builder.ts'
import { decodeAttribution, encodeAttribution } from '../src/core/update/attribution/attribution-codec.ts'
import { recordedTrace } from './support/recorded-trace.ts'
import { median, round, table, thousands } from './support/report.ts'
import { temporaryDirectory } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const keystrokes = smoke ? 3_000 : 300_000
const reads = smoke ? 3 : 15
const keystrokeMs = 200
/** Number of keystrokes after the last compaction. */
const tail = smoke ? 100 : 700
/** Number of keystrokes until the next author types. */
const turn = 500
/** Number of keystrokes in one append. */
const batch = 10
const startAt = 1_700_000_000_000
const doc: Key = ['bench', 'bench-key', 'bench', 'authorship', 'main']

const { patches, source } = recordedTrace(keystrokes)
const updates = updatesOf(patches)
console.log(`  ${source}, ${thousands(updates.length)} keystrokes`)

const authorOf = (index: number, authors: number): string =>
  `user-${Math.floor(index / turn) % authors}@example.com`

async function measureBytes(): Promise<void> {
  const rows = [1, 3, 20].map((authors) => {
    const builder = new AttributionBuilder()
    const start = performance.now()
    for (const [index, bytes] of updates.entries())
      builder.add({ bytes, by: authorOf(index, authors), at: startAt + index * keystrokeMs })
    const foldMs = performance.now() - start
    const stored = encodeAttribution(builder.build())
    const times = Array.from({ length: reads }, () => {
      const begun = performance.now()
      decodeAttribution(stored)
      return performance.now() - begun
    })
    return [
      String(authors),
      thousands(stored.length),
      round(stored.length / updates.length),
      round((foldMs / updates.length) * 1_000),
      round(median(times)),
    ]
  })
  table(['authors', 'bytes', 'bytes per keystroke', 'µs to add a keystroke', 'ms to decode'], rows)
}

/** Appends the session to a log, with a compaction before the last keystrokes, and reads its authors. */
async function measureReads(): Promise<void> {
  const directory = temporaryDirectory()
  let at = startAt
  const engine = await openLevelEngine({ directory, clock: { ...systemClock, now: () => at } })
  const append = async (from: number, to: number): Promise<void> => {
    for (let start = from; start < to; start += batch) {
      at = startAt + start * keystrokeMs
      const by = authorOf(start, 3)
      const some: LogUpdate[] = updates
        .slice(start, Math.min(to, start + batch))
        .map((bytes) => ({ bytes, by }))
      await engine.log.append(doc, start === 0 ? 'create' : 1, some)
    }
  }
  const read = async (): Promise<string> => {
    const times: number[] = []
    for (let count = 0; count < reads; count++) {
      const begun = performance.now()
      await readAttribution(engine.log, doc)
      times.push(performance.now() - begun)
    }
    return round(median(times))
  }
  const compacted = updates.length - tail
  await append(0, compacted)
  const whole = await read()
  await compactWhole(engine.log, doc, async () => true)
  const rows = [
    ['never compacted', whole],
    ['compacted', await read()],
  ]
  await append(compacted, updates.length)
  rows.push([`with ${tail} keystrokes after the compaction`, await read()])
  await engine.close()
  table(['log', 'ms to read the authors'], rows)
}

/** Compares the bytes on disk of the document alone and with its authors in both forms. */
async function measureDisk(): Promise<void> {
  const [collected, complete] = [true, false].map((gc) => {
    const copy = new Y.Doc({ gc })
    copy.transact(() => {
      for (const bytes of updates) Y.applyUpdate(copy, bytes)
    })
    return Y.encodeStateAsUpdate(copy)
  }) as [Uint8Array, Uint8Array]
  const builder = new AttributionBuilder()
  for (const [index, bytes] of updates.entries())
    builder.add({ bytes, by: authorOf(index, 3), at: startAt + index * keystrokeMs })
  const authors = encodeAttribution(builder.build())
  const onDisk = async (attribution: Uint8Array | null, copy: Uint8Array | null): Promise<number> => {
    const directory = temporaryDirectory()
    const engine = await openLevelEngine({ directory })
    await engine.log.append(doc, 'create', [{ bytes: collected, by: '' }])
    await engine.log.compact(doc, 1, 0, 1, collected, Number.POSITIVE_INFINITY, attribution)
    if (copy !== null) await engine.blobs.put(['copy'], copy)
    await engine.close()
    await compactFiles(directory)
    return storedBytes(directory)
  }
  const alone = await onDisk(null, null)
  const forms: readonly (readonly [string, number])[] = [
    ['without authors', alone],
    ['with authors', await onDisk(authors, null)],
    ['with authors and a copy that is never collected', await onDisk(authors, complete)],
  ]
  const rows = forms.map(([form, bytes]) => [
    form,
    thousands(bytes),
    thousands(bytes - alone),
    round((bytes - alone) / updates.length),
  ])
  table(['stored', 'bytes on disk', 'more than without authors', 'more per keystroke'], rows)
}

await measureBytes()
await measureReads()
await measureDisk()
