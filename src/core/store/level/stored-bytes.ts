import type { StoredUnder } from '../engine.ts'
import { type ByteRange, keyRange } from '../key-encoding.ts'
import { keyspaces, logSpaces } from '../pairs/keyspaces.ts'
import type { Store } from './store/store.ts'

/**
 * A key that sorts before all other keys and that no table contains. Compacting the range of this key has
 * only one effect: LevelDB writes the data in memory to a table.
 */
const noKey = Buffer.of(0)
/** A key that sorts after all others. */
const afterAll = Buffer.of(0xff)

/**
 * Implements `Engine.storedBytes` for LevelDB. LevelDB estimates the size of a range from the indexes of its
 * tables. Therefore this function first makes LevelDB write the data in memory to a table.
 */
export async function measureLevelBytes(store: Store, { logs, blobs, parts }: StoredUnder): Promise<number> {
  await store.compactTables({ gte: noKey, lt: noKey })
  const ranges = [
    ...logs.flatMap((prefix) => logSpaces.map((space) => keyRange(space, { prefix }))),
    ...blobs.map((prefix) => keyRange(keyspaces.blobs, { prefix })),
    ...parts.map((prefix) => keyRange(keyspaces.kv, { prefix })),
  ]
  const sizes = await Promise.all(ranges.map((range) => tableBytes(store, range)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/**
 * Estimates the size of a range in bytes. First moves both ends of the range to stored keys. The index of a
 * table has one key for each block, and this key may lie between two stored keys, so the position of a key is
 * exact only if the key is stored.
 */
async function tableBytes(store: Store, { gte, lt }: ByteRange): Promise<number> {
  const first = await firstKey(store, gte)
  if (Buffer.compare(first, lt) >= 0) return 0
  return store.tableBytes({ gte: first, lt: await firstKey(store, lt) })
}

async function firstKey(store: Store, gte: Buffer): Promise<Buffer> {
  const [first] = await store.firstPage({ gte, lt: afterAll }, { limit: 1, values: false })
  return first === undefined ? afterAll : first[0]
}
