import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckOptions, StoreCheck } from '../engine/damage.ts'
import { CorruptRecordError, type Engine, type OpenedDump, type StoredPage } from '../engine/engine.ts'
import type { StoredEntry } from '../engine/stored-entry.ts'
import { errorMessage } from '../errors.ts'
import { StorageError } from './storage-error.ts'

/** The one door to the stores of servers that are stopped. Most of what can be done is about files, which LevelDB has alone. */
const loadEngine = () => import('../engine/level/engine.ts')
const loadUpkeep = () => import('../engine/level/store/maintenance.ts')
const loadDatabase = () => import('../engine/postgres/schema/offline-schema.ts')

/** Of servers that keep their documents in PostgreSQL. */
export interface DatabaseLocation {
  readonly url: string
  readonly schema: string
  readonly statementTimeoutMs: number
  readonly connectTimeoutMs: number
  /** Data directory of one of these servers: of its credentials. */
  readonly directory: string
}

/** Where a store is: a data directory, or a database. */
export type StoreLocation = string | DatabaseLocation

export const directoryOf = (place: StoreLocation): string =>
  typeof place === 'string' ? place : place.directory

/** For people; never with a password. */
export const locationName = (place: StoreLocation): string =>
  typeof place === 'string' ? place : `the schema ${place.schema} of the database`

/** A store that no server has open, and none can. To be closed. */
export interface OfflineStore {
  readonly engine: Engine
  /** All that is stored but the contents of documents. @throws CorruptRecordError, StoreUnavailableError */
  readonly entries: () => AsyncGenerator<StoredEntry>
  readonly mark: ImportMarkerLocation
  readonly close: () => Promise<void>
}

/** Where it is told which export a store is taking in: a server that finds it there does not start. */
export interface ImportMarkerLocation {
  /** Null where there is none; '' where its making was interrupted: nothing was written then. */
  read(): Promise<string | null>
  write(name: string): Promise<void>
  remove(): Promise<void>
}

/** @throws StorageError when no server has ever kept anything there */
async function expectStore(directory: string): Promise<void> {
  const { storePath } = await loadUpkeep()
  const found = await stat(storePath(directory)).catch(() => null)
  if (found === null)
    throw new StorageError(`${directory} holds no store`, {
      hint: 'name the data directory of a server; weft config print shows the configured one',
    })
}

/** The file that a server with the store in this data directory has open, as /proc names it. */
export async function lockPathIn(directory: string): Promise<string> {
  const { lockPath, storePath } = await loadUpkeep()
  return lockPath(storePath(directory))
}

/** Is this folder the store in a data directory, whatever else may open it? */
export async function isStore(directory: string): Promise<boolean> {
  const { manifestName } = await import('../engine/level/check/file-manifest.ts')
  return (await stat(join(directory, manifestName)).catch(() => null)) !== null
}

/**
 * Opens the store of a server that is stopped; to be closed.
 * @param damaged what becomes of it where it is damaged @throws StorageError, EngineOpenError
 */
export async function openOfflineStore(directory: string, damaged: 'open' | 'refuse'): Promise<Engine> {
  await expectStore(directory)
  const { openLevelEngine } = await loadEngine()
  return openLevelEngine({ directory, depth: 'verify', damaged })
}

/**
 * Opens the store of a server that is stopped, or makes one, for an import that may have been interrupted before; to be
 * closed. @throws EngineOpenError, also where it is damaged
 */
async function openOrMakeStopped(directory: string): Promise<Engine> {
  const { openLevelEngine } = await loadEngine()
  const opening = { depth: 'verify', damaged: 'refuse', importing: 'open' } as const
  return openLevelEngine({ directory, ...opening })
}

/**
 * Opens a store to read all of it.
 * @throws StorageError where there is none; EngineOpenError, also where servers use it, or it is not whole
 */
export async function openForReading(place: StoreLocation): Promise<OfflineStore> {
  if (typeof place === 'string') return storeIn(place, await openOfflineStore(place, 'open'))
  if (!(await hasStore(place))) throw new StorageError(`${locationName(place)} holds no store`)
  return (await loadDatabase()).openOfflineSchema(place)
}

/** Like `openForReading`, to add to what is there. @throws EngineOpenError also where files are damaged */
export async function openForWriting(place: StoreLocation): Promise<OfflineStore> {
  return typeof place === 'string'
    ? storeIn(place, await openOfflineStore(place, 'refuse'))
    : openForReading(place)
}

/** Opens a store to fill it, or makes one, also where that was interrupted before. @throws EngineOpenError */
export async function openForImport(place: StoreLocation): Promise<OfflineStore> {
  if (typeof place === 'string') return storeIn(place, await openOrMakeStopped(place))
  return (await loadDatabase()).openOfflineSchema({ ...place, importing: 'open' })
}

const storeIn = (directory: string, engine: Engine): OfflineStore => ({
  engine,
  entries: () => storedEntries(engine),
  mark: markFile(directory),
  close: () => engine.close(),
})

/** A store in which there is nothing, and of which nothing is kept. */
export async function openEmpty(): Promise<OfflineStore> {
  const engine = await (await import('../engine/memory/engine.ts')).openMemoryEngine()
  return storeIn('', engine)
}

/** Has a server ever kept anything there? @throws EngineOpenError where a database cannot be asked */
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

/** @throws StorageError, EngineOpenError where the store cannot be opened for another reason than damage */
export async function checkOfflineStore(directory: string, options: CheckOptions): Promise<StoreCheck> {
  await expectStore(directory)
  return (await loadUpkeep()).checkStore(directory, options)
}

/** Rewrites the files of a store without what was deleted. @throws StorageError, EngineOpenError, also where it is damaged */
export async function compactStoreFiles(directory: string): Promise<void> {
  await expectStore(directory)
  await (await loadUpkeep()).compactFiles(directory)
}

/** Bytes of the files of the store. */
export async function storeSizeBytes(directory: string): Promise<number> {
  return (await loadUpkeep()).storedBytes(directory)
}

/** Makes a store of what another one held; `beforeNamed` before it can be used. Returns how many records there are. */
export async function fillOfflineStore(
  directory: string,
  pages: AsyncIterable<StoredPage>,
  beforeNamed: () => Promise<void>,
): Promise<number> {
  return (await loadUpkeep()).bulkLoad(directory, pages, beforeNamed)
}

/** Opens the stored data to read it. The caller must close it. @throws StorageError, EngineOpenError */
export async function openOfflineDump(directory: string): Promise<OpenedDump> {
  await expectStore(directory)
  return (await loadUpkeep()).openDump(directory)
}

/** Number of the layout that stores of this version have. */
export async function storeFormat(): Promise<number> {
  return (await loadUpkeep()).formatVersion
}

/** What was named in a directory is named there after a loss of power. */
export const fsyncDirectory = async (path: string): Promise<void> => (await loadUpkeep()).syncDirectory(path)

/** A file in the data directory. */
function markFile(directory: string): ImportMarkerLocation {
  const pathOf = async (): Promise<string> => (await loadUpkeep()).importMarkPath(directory)
  return {
    read: async () => readMark(await pathOf()),
    write: async (name) => {
      await writeFile(await pathOf(), `${name}\n`, { mode: 0o600, flush: true })
      await fsyncDirectory(directory)
    },
    remove: async () => {
      await rm(await pathOf())
      await fsyncDirectory(directory)
    },
  }
}

async function readMark(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new StorageError(`${path} cannot be read: ${errorMessage(error)}`)
  }
}

/** Why no server starts on this directory. Null when its files show no reason. */
export async function offlineStartProblem(directory: string): Promise<string | null> {
  return (await loadUpkeep()).startProblem(directory)
}

/** What is to be known of a database before a server uses it. @throws EngineOpenError */
export async function probeConfiguredDatabase(at: {
  readonly url: string
  readonly connectTimeoutMs: number
}) {
  return (await import('../engine/postgres/connection/probe.ts')).probeDatabase(at)
}

/** The same of the bus between servers. @throws what keeps it from being used */
export async function probeConfiguredBus(urls: readonly string[], credentialsFile: string | null) {
  return (await import('../engine/nats/probe.ts')).probeNats({ urls, credentialsFile })
}

/** Sentences of LevelDB, and of our own list of files, about damage that opening would pass over. */
export async function fileDamage(directory: string): Promise<readonly string[]> {
  const { checkManifest, readWarnings, storePath } = await loadUpkeep()
  const path = storePath(directory)
  if ((await stat(join(path, 'CURRENT')).catch(() => null)) === null) return []
  return [...(await checkManifest(path, 'start')).problems, ...(await readWarnings(path))]
}
