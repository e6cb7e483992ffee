import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '../data/random-doc.ts'

/**
 * What a cut of power leaves of the logs of a store: what was not synced is gone, in part or wholly, or is something
 * else, for a disk keeps no order without a sync. Returns the bytes that are gone.
 * @param synced bytes of each log, by name, that are on the disk whatever happens
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
