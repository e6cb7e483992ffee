import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenedDump } from '../engine.ts'
import { dumpSnapshot } from './dump.ts'
import { formatVersion } from './format.ts'
import { writeInventory } from './inventory.ts'
import { openChecked, storePath } from './open.ts'
import { openLevelStore } from './store.ts'
import type { UpgradeProgress } from './upgrade-step.ts'

/** What can be done to the store of a server that is stopped. */
export { checkStore } from './check.ts'
export { fillStore, syncDirectory } from './fill.ts'
export { formatVersion, isUpgradable } from './format.ts'
export { checkInventory } from './inventory.ts'
export { importMarkPath, readWarnings, storePath, unfinishedProblem } from './open.ts'
export { storedEntry } from './stored-entry.ts'

/** Rewrites all tables without what has been deleted or replaced. @throws EngineOpenError, also where it is damaged */
export async function compactFiles(directory: string): Promise<void> {
  const { store, path } = await openChecked(directory, openLevelStore, {
    older: { do: 'refuse' },
    depth: 'verify',
    damaged: 'refuse',
  })
  try {
    await store.compactTables()
  } finally {
    await store.close()
  }
  await writeInventory(path)
}

/** Brings a store of an older format to this one. Returns the format that it had. @throws EngineOpenError */
export async function upgradeStore(directory: string, onProgress: UpgradeProgress): Promise<number> {
  let had = formatVersion
  const note: UpgradeProgress = (formats, share) => {
    had = Math.min(had, formats.from)
    onProgress(formats, share)
  }
  const { store, path } = await openChecked(directory, openLevelStore, {
    older: { do: 'upgrade', onProgress: note },
    depth: 'verify',
    damaged: 'open',
  })
  await store.close()
  await writeInventory(path)
  return had
}

/** What is stored, whatever its format; nothing is changed. To be closed. @throws EngineOpenError */
export async function openDump(directory: string): Promise<OpenedDump> {
  const { store, path, format } = await openChecked(directory, openLevelStore, {
    older: { do: 'accept' },
    depth: 'verify',
    damaged: 'open',
  })
  const close = async () => {
    await store.close()
    await writeInventory(path)
  }
  return { format, pages: dumpSnapshot(store.snapshot()), close }
}

/** Bytes of all files of the store that hold data. */
export async function storedBytes(directory: string): Promise<number> {
  const path = storePath(directory)
  const names = (await readdir(path)).filter((name) => /\.(ldb|log)$/.test(name))
  const sizes = names.map((name) =>
    // LevelDB may have removed it meanwhile.
    stat(join(path, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
