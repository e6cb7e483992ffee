import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage } from '../../../core/base/errors.ts'
import type { CheckOptions, StoreCheck } from '../../../core/store/damage.ts'
import {
  CorruptRecordError,
  type Engine,
  type Key,
  type Kv,
  type StoredPage,
} from '../../../core/store/engine.ts'
import type { StoredEntry, StoredSelection } from '../../../core/store/stored-entry.ts'
import { StorageError } from './storage-error.ts'

/**
 * These functions load the engines on demand. This file is the only place that opens the stores of stopped
 * servers.
 */
const loadEngine = () => import('../../../core/store/level/engine.ts')
const loadUpkeep = () => import('../../../core/store/level/maintenance.ts')
const loadDatabase = () => import('../../../cluster/postgres/offline/offline-schema.ts')

/** Location of a database in which servers store their documents. */
export interface DatabaseLocation {
  readonly url: string
  readonly schema: string
  /** Data directory of one of these servers. It contains the credentials. */
  readonly directory: string
}

/** Location of a store: the path of a data directory, or a database. */
export type StoreLocation = string | DatabaseLocation

export const directoryOf = (place: StoreLocation): string =>
  typeof place === 'string' ? place : place.directory

/** Returns a text that describes a location in messages. The text never contains a password. */
export const locationName = (place: StoreLocation): string =>
  typeof place === 'string' ? place : `the schema ${place.schema} of the database`

/** An open store. No server can open the store at the same time. The caller must close it. */
export interface OfflineStore {
  readonly engine: Engine
  /**
   * Yields all stored data except for the content of documents.
   * @throws CorruptRecordError, StoreUnavailableError
   */
  readonly entries: () => AsyncGenerator<StoredEntry>
  readonly close: () => Promise<void>
}

/**
 * Checks that the directory contains a store.
 * @throws StorageError if no server has ever stored anything in the directory
 */
async function expectStore(directory: string): Promise<void> {
  const { storePath } = await loadUpkeep()
  const found = await stat(storePath(directory)).catch(() => null)
  if (found === null)
    throw new StorageError(`${directory} holds no store`, {
      hint: 'give the path of the data directory of a server; weft config print shows the configured one',
    })
}

/**
 * Returns the path of the lock file in a data directory, in the form that /proc shows. A server that uses the
 * store has this file open.
 */
export async function lockPathIn(directory: string): Promise<string> {
  const { lockPath, storePath } = await loadUpkeep()
  return lockPath(storePath(directory))
}

/**
 * Returns whether this folder is the store of a data directory. Other programs that use LevelDB might also be
 * able to open such a folder.
 */
export async function isStore(directory: string): Promise<boolean> {
  const { manifestName } = await import('../../../core/store/level/files/file-manifest.ts')
  return (await stat(join(directory, manifestName)).catch(() => null)) !== null
}

/**
 * Opens the store of a stopped server. The caller must close the store.
 * @param damaged `open`: open a store even if it is damaged; `refuse`: reject a damaged store
 * @throws StorageError, EngineOpenError
 */
export async function openOfflineStore(directory: string, damaged: 'open' | 'refuse'): Promise<Engine> {
  await expectStore(directory)
  const { openLevelEngine } = await loadEngine()
  return openLevelEngine({ directory, depth: 'verify', damaged })
}

/** Opens the store of a stopped server, or creates it if it is missing. @throws EngineOpenError, also if it is damaged */
export async function openOrCreateStore(directory: string): Promise<Engine> {
  const { openLevelEngine } = await loadEngine()
  return openLevelEngine({ directory, depth: 'verify', damaged: 'refuse' })
}

/**
 * Opens a store in order to read all its data.
 * @throws StorageError if there is no store; EngineOpenError, also if a server uses the store, or if a
 * restore into the store is not complete
 */
export async function openForReading(place: StoreLocation): Promise<OfflineStore> {
  if (typeof place === 'string') return storeIn(place, await openOfflineStore(place, 'open'))
  if (!(await hasStore(place))) throw new StorageError(`${locationName(place)} holds no store`)
  return (await loadDatabase()).openOfflineSchema(place)
}

/**
 * Opens a store like `openForReading`, but in order to add data.
 * @throws EngineOpenError also if files are damaged
 */
export async function openForWriting(place: StoreLocation): Promise<OfflineStore> {
  return typeof place === 'string'
    ? storeIn(place, await openOfflineStore(place, 'refuse'))
    : openForReading(place)
}

const storeIn = (directory: string, engine: Engine): OfflineStore => ({
  engine,
  entries: () => storedEntries(engine),
  close: () => engine.close(),
})

/**
 * Returns whether a server has ever stored anything at this location.
 * @throws EngineOpenError if the location is a database that cannot be read
 */
export async function hasStore(place: StoreLocation): Promise<boolean> {
  if (typeof place !== 'string') return (await loadDatabase()).schemaExists(place)
  return expectStore(place).then(
    () => true,
    () => false,
  )
}

async function* storedEntries(engine: Engine): AsyncGenerator<StoredEntry> {
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
    throw new CorruptRecordError(`the record ${JSON.stringify(name)} is damaged: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

/**
 * Checks all data in the store of a stopped server.
 * @throws StorageError; EngineOpenError if the store cannot be opened for a reason other than damage
 */
export async function checkOfflineStore(directory: string, options: CheckOptions): Promise<StoreCheck> {
  await expectStore(directory)
  return (await loadUpkeep()).checkStore(directory, options)
}

/**
 * Rewrites the files of a store without the deleted data.
 * @throws StorageError; EngineOpenError, also if the store is damaged
 */
export async function compactStoreFiles(directory: string): Promise<void> {
  await expectStore(directory)
  await (await loadUpkeep()).compactFiles(directory)
}

/** Returns the total size of the files of the store, in bytes. */
export async function storeSizeBytes(directory: string): Promise<number> {
  return (await loadUpkeep()).storedBytes(directory)
}

/**
 * Creates a store from the pages of another store. Calls `beforeNamed` before the new store gets its final
 * name; until then, no server opens it. Returns the number of records.
 */
export async function fillOfflineStore(
  directory: string,
  pages: AsyncIterable<StoredPage>,
  beforeNamed: () => Promise<void>,
): Promise<number> {
  return (await loadUpkeep()).bulkLoad(directory, pages, beforeNamed)
}

/**
 * Fills the schema of a database from the pages of another store, or creates it. Calls `beforeUsable` with its values
 * when all pages are durable; until then, no server starts on the schema.
 * @throws EngineOpenError if the schema has data, or if servers use it; StoreUnavailableError
 */
export async function fillOfflineDatabase(
  place: DatabaseLocation,
  pages: AsyncIterable<StoredPage>,
  beforeUsable: (kv: Kv) => Promise<void>,
) {
  return (await import('../../../cluster/postgres/offline/restore-schema.ts')).restoreSchema(
    place,
    pages,
    beforeUsable,
  )
}

/** Returns a function that returns the partition of a stored pair; null if the pair is not a value of a partition. */
export const pairPartition = async (): Promise<(key: Uint8Array) => Key | null> =>
  (await loadUpkeep()).partOfPair

/** Returns the ranges of the keys of stored pairs that a selection has. */
export const storedRanges = async (selection: StoredSelection) =>
  (await loadUpkeep()).selectedRanges(selection)

/** Returns a function that decodes a stored pair; it returns null for a part of another record. */
export const pairEntry = async () => (await loadUpkeep()).storedEntry

/**
 * Compares the format of the store in a data directory with the format of this version. Does not open the store:
 * changes nothing, also while a server uses the store.
 * @throws StorageError if the format of the store is not recorded
 */
export async function compareStoreFormats(directory: string) {
  const { formatVersion, readRecordedFormat, storePath } = await loadUpkeep()
  const path = storePath(directory)
  const isStored = await hasStore(directory)
  const stored = isStored ? await readRecordedFormat(path) : null
  if (isStored && stored === null)
    throw new StorageError(
      `the format of ${path} is not recorded: stop its server, and run weft verify ${directory}`,
    )
  return {
    stored: stored === null ? null : String(stored),
    current: String(formatVersion),
    missing: [],
    isSupported: stored === null || stored === formatVersion,
  }
}

/**
 * Compares the format of a schema with the format of this version. Changes nothing.
 * @throws EngineOpenError
 */
export const compareSchemaFormats = async (place: DatabaseLocation) =>
  (await loadDatabase()).readSchemaFormats(place)

/** Reads one value of a database, also while servers use it. Returns null if it does not exist. @throws EngineOpenError */
export const readDatabaseValue = async (place: DatabaseLocation, part: Key, key: Key) =>
  (await loadDatabase()).readSchemaValue(place, part, key)

/** Returns the format number of the stores that this version of Weft writes. */
export async function storeFormat(): Promise<number> {
  return (await loadUpkeep()).formatVersion
}

/** Syncs a directory, so that the names of new files in the directory survive a power failure. */
export const fsyncDirectory = async (path: string): Promise<void> => (await loadUpkeep()).syncDirectory(path)

/**
 * Returns the reason why a server could not start with this directory; null if the files show no such reason.
 */
export async function offlineStartProblem(directory: string): Promise<string | null> {
  return (await loadUpkeep()).startProblem(directory)
}

/** Measures a database before a server uses the database. @throws EngineOpenError */
export async function probeConfiguredDatabase(url: string) {
  return (await import('../../../cluster/postgres/connection/probe.ts')).probeDatabase(url)
}

/** Measures the bus between servers. @throws Error if the bus cannot be used */
export async function probeConfiguredBus(urls: readonly string[], credentialsFile: string | null) {
  return (await import('../../../cluster/nats/probe.ts')).probeNats({ urls, credentialsFile })
}

/**
 * Returns messages about damage that does not prevent the opening of the store. The messages come from the
 * log of LevelDB, and from the comparison of the files with Weft's own list of files.
 */
export async function fileDamage(directory: string): Promise<readonly string[]> {
  const { checkManifest, readWarnings, storePath } = await loadUpkeep()
  const path = storePath(directory)
  if ((await stat(join(path, 'CURRENT')).catch(() => null)) === null) return []
  return [...(await checkManifest(path, 'start')).problems, ...(await readWarnings(path))]
}
