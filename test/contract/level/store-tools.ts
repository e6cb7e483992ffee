import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'

export interface TemporaryDirectory {
  /** The data directory. */
  readonly path: string
  /** The LevelDB in it. */
  readonly store: string
  remove(): Promise<void>
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'weft-engine-'))
  return {
    path,
    store: join(path, 'store'),
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 20 }),
  }
}

type Pair = readonly [key: Buffer, value: Buffer]

/** Works on the store of a closed engine without the engine. */
async function withDatabase<T>(
  store: string,
  work: (database: Level<Buffer, Buffer>) => Promise<T>,
): Promise<T> {
  const database = new Level<Buffer, Buffer>(store, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await database.open()
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** The only stored pair whose key or value contains `marker`. */
export async function storedPair(store: string, marker: string): Promise<Pair> {
  const pairs = await withDatabase(store, (database) => database.iterator().all())
  const found = pairs.filter(([key, value]) => key.includes(marker) || value.includes(marker))
  if (found.length !== 1) throw new Error(`${found.length} pairs contain ${marker}`)
  return found[0] as Pair
}

/** The keys that contain `marker`. */
export const storedKeys = (store: string, marker: string): Promise<Buffer[]> =>
  withDatabase(store, async (database) =>
    (await database.keys().all()).filter((key) => Buffer.from(key).includes(marker)),
  )

/** Null deletes the key. Creates a missing store. */
export const overwrite = (store: string, key: Buffer, value: Buffer | null): Promise<void> =>
  withDatabase(store, (database) => (value === null ? database.del(key) : database.put(key, value)))

/** A copy with one bit changed. */
export function flipped(value: Buffer, at: number): Buffer {
  const copy = Buffer.from(value)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}
