import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeManifest } from './files/file-manifest.ts'
import { openChecked, storePath } from './store/open.ts'
import { openLevelStore } from './store/store.ts'

export { formatVersion } from '../pairs/record-codec.ts'
/** Functions for the maintenance of a store while the server is stopped. */
export { checkStore } from './check/check-store.ts'
export { partOfPair, selectedRanges, storedEntry } from './check/stored-entry.ts'
export { checkManifest, readRecordedFormat } from './files/file-manifest.ts'
export { bulkLoad, syncDirectory } from './store/bulk-load.ts'
export { importMarkPath, lockPath, readWarnings, startProblem, storePath } from './store/open.ts'

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
