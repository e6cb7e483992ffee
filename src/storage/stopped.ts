import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckOptions, StoreCheck } from '../engine/damage.ts'
import { CorruptRecord, type Engine, type OpenedDump, type StoredPage } from '../engine/engine.ts'
import type { StoredEntry } from '../engine/stored-entry.ts'
import { messageOf } from '../errors.ts'
import { StorageError } from './problem.ts'

/** The one door to the stores of servers that are stopped: only the LevelDB engine keeps any. */
const loadEngine = () => import('../engine/level/engine.ts')
const loadUpkeep = () => import('../engine/level/upkeep.ts')

/** @throws StorageError when no server has ever kept anything there */
async function expectStore(directory: string): Promise<void> {
  const { storePath } = await loadUpkeep()
  const found = await stat(storePath(directory)).catch(() => null)
  if (found === null) throw new StorageError(`${directory} holds no store: name a data directory of Weft`)
}

/** Is this folder the store in a data directory, whatever else may open it? */
export async function isStore(directory: string): Promise<boolean> {
  const { inventoryName } = await import('../engine/level/inventory.ts')
  return (await stat(join(directory, inventoryName)).catch(() => null)) !== null
}

/**
 * Opens the store of a server that is stopped; to be closed.
 * @param damaged what becomes of it where it is damaged @throws StorageError, EngineOpenError
 */
export async function openStopped(directory: string, damaged: 'open' | 'refuse'): Promise<Engine> {
  await expectStore(directory)
  const { openLevelEngine } = await loadEngine()
  return openLevelEngine({ directory, older: { do: 'refuse' }, depth: 'verify', damaged })
}

/**
 * Opens the store of a server that is stopped, or makes one, for an import that may have been interrupted before; to be
 * closed. @throws EngineOpenError, also where it is damaged
 */
export async function openOrMakeStopped(directory: string): Promise<Engine> {
  const { openLevelEngine } = await loadEngine()
  const opening = { older: { do: 'refuse' }, depth: 'verify', damaged: 'refuse', importing: 'open' } as const
  return openLevelEngine({ directory, ...opening })
}

/** A store in which there is nothing, and of which nothing is kept. */
export const openEmpty = async (): Promise<Engine> =>
  (await import('../engine/memory/engine.ts')).openMemoryEngine()

/** Has a server ever kept anything there? */
export const hasStore = (directory: string): Promise<boolean> =>
  expectStore(directory).then(
    () => true,
    () => false,
  )

/** All that is stored but the contents of documents. @throws CorruptRecord, StoreUnavailable */
export async function* storedEntries(engine: Engine): AsyncGenerator<StoredEntry> {
  const { storedEntry } = await loadUpkeep()
  for await (const page of engine.dump()?.pages ?? [])
    for (const [key, value] of page) {
      const entry = readEntry(storedEntry, key, value)
      if (entry !== null) yield entry
    }
}

function readEntry(
  read: (key: Uint8Array, value: Uint8Array) => StoredEntry | null,
  key: Uint8Array,
  value: Uint8Array,
): StoredEntry | null {
  try {
    return read(key, value)
  } catch (error) {
    const name = Buffer.from(key)
      .toString()
      .replaceAll(/[\u0000-\u001f\ufffd]+/g, ' ')
    throw new CorruptRecord(`the record ${JSON.stringify(name)} is damaged: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** @throws StorageError, EngineOpenError where the store cannot be opened for another reason than damage */
export async function checkStopped(directory: string, options: CheckOptions): Promise<StoreCheck> {
  await expectStore(directory)
  return (await loadUpkeep()).checkStore(directory, options)
}

/** Rewrites the files of a store without what was deleted. @throws StorageError, EngineOpenError, also where it is damaged */
export async function compactFiles(directory: string): Promise<void> {
  await expectStore(directory)
  await (await loadUpkeep()).compactFiles(directory)
}

/** Bytes of the files of the store. */
export async function storedBytes(directory: string): Promise<number> {
  return (await loadUpkeep()).storedBytes(directory)
}

/** Makes a store of what another one held; `beforeNamed` before it can be used. Returns how many records there are. */
export async function fillStopped(
  directory: string,
  pages: AsyncIterable<StoredPage>,
  beforeNamed: () => Promise<void>,
): Promise<number> {
  return (await loadUpkeep()).fillStore(directory, pages, beforeNamed)
}

/** What is stored, whatever its format; to be closed. @throws StorageError, EngineOpenError */
export async function openStoppedDump(directory: string): Promise<OpenedDump> {
  await expectStore(directory)
  return (await loadUpkeep()).openDump(directory)
}

/** Returns the format that the store had, and that it has. @throws StorageError, EngineOpenError */
export async function upgradeStopped(
  directory: string,
  onProgress: (formats: { readonly from: number; readonly to: number }, share: number) => void,
): Promise<{ readonly from: number; readonly to: number }> {
  await expectStore(directory)
  const { formatVersion, upgradeStore } = await loadUpkeep()
  return { from: await upgradeStore(directory, onProgress), to: formatVersion }
}

/** Number of the layout that stores of this version have. */
export async function storeFormat(): Promise<number> {
  return (await loadUpkeep()).formatVersion
}

/** Can a store of this format be made one of this version? */
export async function isKnownFormat(format: number): Promise<boolean> {
  const { formatVersion, isUpgradable } = await loadUpkeep()
  return format === formatVersion || isUpgradable(format)
}

/** What was named in a directory is named there after a loss of power. */
export const syncDirectory = async (path: string): Promise<void> => (await loadUpkeep()).syncDirectory(path)

/** The file that is there while a store that was empty takes in an export: no server starts then. */
export const importMarkOf = async (directory: string): Promise<string> =>
  (await loadUpkeep()).importMarkPath(directory)

/** A sentence about a restore or an import that was interrupted; null when there was none. */
export async function interruptedFilling(directory: string): Promise<string | null> {
  return (await loadUpkeep()).unfinishedProblem(directory)
}

/** Sentences of LevelDB, and of our own list of files, about damage that opening would pass over. */
export async function fileProblems(directory: string): Promise<readonly string[]> {
  const { checkInventory, readWarnings, storePath } = await loadUpkeep()
  const path = storePath(directory)
  if ((await stat(join(path, 'CURRENT')).catch(() => null)) === null) return []
  return [...(await checkInventory(path, 'start')).problems, ...(await readWarnings(path))]
}
