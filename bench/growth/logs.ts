import type { Key } from '../../src/engine/engine.ts'
import { openLevelEngine } from '../../src/engine/level/engine.ts'
import { loadRoom } from '../../src/rooms/loading.ts'
import { compactAll } from '../../src/storage/compact.ts'
import { keystroke } from '../load/dialects.ts'
import { median, round, thousands } from '../support/report.ts'
import { temporaryDirectory } from '../support/server.ts'

const document: Key = ['bench', 'bench-key', 'bench', 'log', 'main']
/** Updates of one commit, as of somebody who types fast. */
const perAppend = 64
const appendsAtOnce = 100
const client = 7

export const logsHeader = ['updates in the log', 'opens in ms', 'compacted: ms']

/** A log of so many keystrokes, none of which is in a snapshot. */
async function fill(directory: string, entries: number): Promise<void> {
  const engine = await openLevelEngine({ directory })
  let to: 'create' | number = 'create'
  for (let from = 0; from < entries; ) {
    const appends: Promise<{ epoch: number }>[] = []
    for (; from < entries && appends.length < appendsAtOnce; from += perAppend) {
      const count = Math.min(perAppend, entries - from)
      const updates = Array.from({ length: count }, (_, index) => ({
        bytes: keystroke(client, from + index),
        by: 'bench',
      }))
      appends.push(engine.log.append(document, to, updates))
      if (to === 'create') to = (await (appends[0] as Promise<{ epoch: number }>)).epoch
    }
    await Promise.all(appends)
  }
  await engine.close()
}

/** Median of the time from the store to a document in memory. */
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

/** Opening a log of so many updates, and what it has become by compaction. */
export async function logRow(entries: number): Promise<readonly string[]> {
  const directory = temporaryDirectory()
  await fill(directory, entries)
  const times = entries > 50_000 ? 3 : 15
  const before = await openingMs(directory, times)
  await compactAll(directory, () => undefined)
  return [thousands(entries), round(before), round(await openingMs(directory, times))]
}
