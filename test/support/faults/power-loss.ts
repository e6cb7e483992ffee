import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../data/random-doc.ts'

/**
 * Changes the logs of a store as a power loss could. Bytes that were not synced are lost in part or
 * completely, or are replaced, because a disk guarantees no order without a sync. Returns the number of lost
 * bytes.
 * @param synced number of bytes of each log that are certainly on disk, by the name of the log
 */
export async function cutPower(
  store: string,
  synced: ReadonlyMap<string, number>,
  random: Random,
): Promise<number> {
  let lost = 0
  for (const name of await readdir(store)) {
    if (!name.endsWith('.log')) continue
    const path = join(store, name)
    const { size } = await stat(path)
    const sure = synced.get(name) ?? 0
    const kept = sure + random.below(size - sure + 1)
    const file = await open(path, 'r+')
    await file.truncate(kept)
    const garbled = random.below(2) === 0 ? Math.min(kept - sure, 1 + random.below(64)) : 0
    await file.write(Buffer.alloc(garbled, 0xa5), 0, garbled, kept - garbled)
    await file.close()
    lost += size - kept
  }
  return lost
}
