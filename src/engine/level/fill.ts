import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { StoredPage } from '../engine.ts'
import { writeInventory } from './inventory.ts'
import { storePath } from './open.ts'
import { openLevelStore } from './store.ts'

/**
 * Makes the store of a data directory from pairs of another one. Under its own name it is there only when all of them
 * are on the disk: an end in between leaves a directory without a store. Returns how many pairs there are.
 */
export async function fillStore(directory: string, pages: AsyncIterable<StoredPage>): Promise<number> {
  const path = storePath(directory)
  const unfinished = `${path}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  try {
    const count = await writePairs(unfinished, pages)
    await writeInventory(unfinished)
    await syncDirectory(unfinished)
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

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
