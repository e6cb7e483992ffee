import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openChecked, storePath } from './open.ts'
import { openLevelStore } from './store.ts'

/** What can be done to the store of a server that is stopped. */
export { checkStore } from './check.ts'
export { fillStore } from './fill.ts'
export { checkInventory, writeInventory } from './inventory.ts'
export { formatVersion, readWarnings, storePath } from './open.ts'

/** Rewrites all tables without what has been deleted or replaced. @throws EngineOpenError */
export async function compactFiles(directory: string): Promise<void> {
  const { store } = await openChecked(directory, openLevelStore)
  try {
    await store.compactTables()
  } finally {
    await store.close()
  }
}

/** Bytes of all files of the store. */
export async function storedBytes(directory: string): Promise<number> {
  const path = storePath(directory)
  const sizes = (await readdir(path)).map(async (name) => (await stat(join(path, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
