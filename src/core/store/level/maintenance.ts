import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredPage } from '../engine.ts'
import { writeManifest } from './files/file-manifest.ts'
import { openChecked, storePath, unfinishedPath } from './store/open.ts'
import { openLevelStore } from './store/store.ts'

export { formatVersion } from '../pairs/record-codec.ts'
/** Functions for the maintenance of a store while the server is stopped. */
export { checkStore } from './check/check-store.ts'
export { partOfPair, selectedRanges, storedEntry } from './check/stored-pairs.ts'
export { checkManifest, readRecordedFormat } from './files/file-manifest.ts'
export { lockPath, readWarnings, startProblem, storePath } from './store/open.ts'

/**
 * Rewrites all tables, which removes deleted and replaced records from the files.
 * @throws EngineOpenError, also if the store is damaged
 */
export async function compactFiles(directory: string): Promise<void> {
  const { store, path } = await openChecked(directory, openLevelStore, {
    depth: 'verify',
    damaged: 'refuse',
  })
  try {
    await store.compactTables()
  } finally {
    await store.close()
  }
  await writeManifest(path)
}

/** Returns the total size of the data files of the store, in bytes. */
export async function storedBytes(directory: string): Promise<number> {
  const path = storePath(directory)
  const names = (await readdir(path)).filter((name) => /\.(ldb|log)$/.test(name))
  const sizes = names.map((name) =>
    // Ignores a missing file, because LevelDB may have removed it since the directory was read.
    stat(join(path, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/**
 * Creates the store of a data directory from the stored pairs of another store. The new store gets its final
 * name only when all pairs are durable and `beforeNamed` has resolved. If the process crashes before that, it
 * leaves a directory that no server opens. Returns the number of pairs.
 */
export async function bulkLoad(
  directory: string,
  pages: AsyncIterable<StoredPage>,
  beforeNamed: () => Promise<void>,
): Promise<number> {
  const path = storePath(directory)
  const unfinished = unfinishedPath(directory)
  // This call fails if another process is creating the same store.
  await mkdir(unfinished, { mode: 0o700 })
  try {
    const count = await writePairs(unfinished, pages)
    await writeManifest(unfinished)
    await syncDirectory(unfinished)
    await beforeNamed()
    await rename(unfinished, path)
    await syncDirectory(directory)
    return count
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

async function writePairs(path: string, pages: AsyncIterable<StoredPage>): Promise<number> {
  const store = await openLevelStore(path)
  let count = 0
  try {
    for await (const page of pages) {
      count += page.length
      const operations = page.map(([key, value]) => ({ key, value }))
      await store.write(operations, true)
    }
    return count
  } finally {
    await store.close()
  }
}

/** Syncs a directory, so that the names of new files in the directory survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
