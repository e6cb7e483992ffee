import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { StoredPage } from '../../engine.ts'
import { writeManifest } from '../files/file-manifest.ts'
import { storePath, unfinishedPath } from './open.ts'
import { openLevelStore } from './store.ts'

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
