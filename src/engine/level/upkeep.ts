import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeInventory } from './inventory.ts'
import { openChecked, storePath } from './open.ts'
import { openLevelStore } from './store.ts'

/** What can be done to the store of a server that is stopped. */
export { checkStore } from './check.ts'
export { fillStore } from './fill.ts'
export { checkInventory } from './inventory.ts'
export { formatVersion, readWarnings, storePath } from './open.ts'

/** Rewrites all tables without what has been deleted or replaced. @throws EngineOpenError */
export async function compactFiles(directory: string): Promise<void> {
  const { store, path } = await openChecked(directory, openLevelStore)
  try {
    await store.compactTables()
  } finally {
    await store.close()
  }
  await writeInventory(path)
}

/** Bytes of all files of the store that hold data. */
export async function storedBytes(directory: string): Promise<number> {
  const path = storePath(directory)
  const names = (await readdir(path)).filter((name) => /\.(ldb|log)$/.test(name))
  const sizes = names.map(async (name) => (await stat(join(path, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
