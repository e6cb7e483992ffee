import { compactAll } from '../../src/capabilities/backups/storage/compact.ts'
import { encodeKeystroke } from '../../src/cli/bench/client-protocol.ts'
import { loadRoom } from '../../src/core/rooms/log/load-room.ts'
import { openLevelEngine } from '../../src/core/store/level/engine.ts'
import { median } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'
import { keyOf, storeLog } from '../support/stored.ts'
import type { Curve } from './curve.ts'

const document = keyOf('bench', 'log')
/** Number of updates in one commit, like those of a fast typist. */
const perCommit = 64
const client = 7

function* keystrokes(entries: number): Iterable<readonly Uint8Array[]> {
  for (let from = 0; from < entries; from += perCommit)
    yield Array.from({ length: Math.min(perCommit, entries - from) }, (_, index) =>
      encodeKeystroke(client, from + index),
    )
}

/** Returns the median time in ms to load a document from the store into memory. */
async function openingMs(directory: string, times: number): Promise<number> {
  const engine = await openLevelEngine({ directory })
  const all: number[] = []
  for (let time = 0; time < times; time++) {
    const start = performance.now()
    void (await loadRoom(engine.log, document)).state.doc
    all.push(performance.now() - start)
  }
  await engine.close()
  return median(all)
}

/**
 * Measures how long it takes to open a log with the given number of updates, before and after its compaction.
 */
async function measure(entries: number): Promise<readonly number[]> {
  const directory = temporaryDirectory()
  await storeLog(directory, document, keystrokes(entries))
  const times = entries > 50_000 ? 3 : 15
  const opening = await openingMs(directory, times)
  const start = performance.now()
  await compactAll(directory, () => undefined)
  const compacting = performance.now() - start
  return [opening * 1000, compacting, await openingMs(directory, times)]
}

export const logs = (sizes: readonly number[]): Curve => ({
  title: 'logs of keystrokes, none of which is in a snapshot, opened; compacted; and opened again',
  unit: 'updates',
  figures: [
    { label: 'opens in µs an update', digits: 2, of: 'unit' },
    { label: 'compacted in ms', digits: 0, of: 'all' },
    { label: 'then opens in ms', digits: 2, of: 'all' },
  ],
  sizes,
  measure,
})
