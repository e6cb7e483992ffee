import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorCode, errorMessage } from '../../../core/base/errors.ts'
import { makeDirectory } from '../../../core/config/files/make-directory.ts'
import { writeNewFile } from '../../../core/config/files/write-new-file.ts'
import { storeClusterCredentials } from '../../../core/directory/tenants/cluster-credentials.ts'
import { credentialsPath, readCredentials } from '../../../core/directory/tenants/credentials-file.ts'
import { EngineOpenError, type StoredPage } from '../../../core/store/engine.ts'
import { isFeedPart } from '../../feed/feed-records.ts'
import { chunksOf } from './backup.ts'
import { type BackupHeader, type BackupPart, readBackupParts } from './backup-file.ts'
import { loadDatabaseRestore, loadMaintenance, type StoreLocation } from './offline-store.ts'
import { type Progress, StorageError } from './storage-error.ts'

interface Restored extends FilledStore {
  /** Time at which the backup was made, in epoch milliseconds. */
  readonly madeAt: number
}

/**
 * Names of the files that a restore may write next to the store. A restore ignores all other files that a
 * backup contains.
 */
const files = [basename(credentialsPath('.'))]

/**
 * Creates a store from a backup file; see `restoreParts`.
 * @throws StorageError, EngineOpenError
 */
export const restore = (path: string, place: StoreLocation, onProgress: Progress): Promise<Restored> =>
  restoreParts(partsOfFile(path, onProgress), place, path)

/** Yields the parts of a backup file. @throws StorageError if it is not a backup, or if it is damaged */
export const partsOfFile = (path: string, onProgress: Progress): AsyncGenerator<BackupPart> =>
  readBackupParts(chunksOf(path, 'restore', onProgress))

/**
 * Creates a store from the parts of a backup, without the events of change feeds. The store can be used only after
 * every part was checked and written to disk.
 * @param place a new or empty data directory, or an empty schema of a database
 * @param name name of the backup, for messages
 * @param isSelected if given, only the pairs for whose keys it returns true are restored, and no files
 * @throws StorageError if `place` is not empty, if the backup is damaged, or if its format is unknown;
 * EngineOpenError if the database cannot be used
 */
export async function restoreParts(
  parts: AsyncIterable<BackupPart>,
  place: StoreLocation,
  name: string,
  isSelected?: (key: Uint8Array) => boolean,
): Promise<Restored> {
  const unpacked = new Unpacked(isSelected)
  try {
    const filled = await fillStore(place, unpacked.pages(parts), unpacked.files)
    return { ...filled, madeAt: unpacked.madeAt }
  } catch (error) {
    if (error instanceof StorageError || error instanceof EngineOpenError) throw error
    throw new StorageError(`${name} could not be restored: ${errorMessage(error)}`, { cause: error })
  }
}

/** Collects the header and the files that a backup contains. */
class Unpacked {
  readonly files = new Map<string, Uint8Array>()
  madeAt = 0
  readonly #isSelected: ((key: Uint8Array) => boolean) | undefined

  constructor(isSelected: ((key: Uint8Array) => boolean) | undefined) {
    this.#isSelected = isSelected
  }

  async *pages(parts: AsyncIterable<BackupPart>): AsyncGenerator<StoredPage> {
    const { partOfPair } = await loadMaintenance()
    // The events of a change feed are left out. The restored store gets other changes than the original store. A
    // consumer may have read content that is newer than the backup, so its cursor must not be valid here.
    const isKept = (key: Uint8Array): boolean => {
      if (this.#isSelected?.(key) === false) return false
      const partition = partOfPair(key)
      return partition === null || !isFeedPart(partition)
    }
    for await (const part of parts) {
      if (part.kind === 'header') {
        await requireFormat(part.header)
        this.madeAt = part.header.madeAt
      }
      if (part.kind === 'pairs') yield part.pairs.filter(([key]) => isKept(key))
      else if (part.kind === 'file' && this.#isSelected === undefined && files.includes(part.name))
        this.files.set(part.name, part.bytes)
    }
  }
}

/** @throws StorageError if the backup is of a store of another format */
export async function requireFormat({ format }: BackupHeader): Promise<void> {
  const { formatVersion: own } = await loadMaintenance()
  if (format === own) return
  throw new StorageError(
    `the backup is of a store of format ${format}, this version knows ${own}: use the version that made it`,
  )
}

interface FilledStore {
  readonly records: number
  /** Names of damaged records that were left out. A data directory gets damaged records as they are. */
  readonly damaged: readonly string[]
}

type SmallFiles = ReadonlyMap<string, Uint8Array>

/**
 * Creates a store from the pages of a backup: a new or empty data directory, or an empty schema of a database. Writes
 * `files` into the data directory. No server starts on the store before everything is durable.
 * @throws StorageError; the errors of the engine; the errors of `pages`
 */
async function fillStore(
  place: StoreLocation,
  pages: AsyncIterable<StoredPage>,
  files: SmallFiles,
): Promise<FilledStore> {
  if (typeof place === 'string') return fillDirectory(place, pages, files)
  const { restoreSchema } = await loadDatabaseRestore()
  return restoreSchema(place, pages, async (kv) => {
    await keepFiles(place.directory, files)
    await storeClusterCredentials(kv, await readCredentials(place.directory))
  })
}

async function fillDirectory(
  directory: string,
  pages: AsyncIterable<StoredPage>,
  files: SmallFiles,
): Promise<FilledStore> {
  await expectEmpty(directory)
  const written: string[] = []
  try {
    await makeDirectory(directory)
    const { bulkLoad } = await loadMaintenance()
    const records = await bulkLoad(directory, pages, async () => {
      for (const [name, bytes] of files) {
        const file = join(directory, name)
        await writeNewFile(file, bytes)
        written.push(file)
      }
    })
    return { records, damaged: [] }
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    throw error
  }
}

/**
 * Writes the files of a backup of a database into a data directory, which may be in use.
 * @throws StorageError if the directory has another file with one of the names
 */
async function keepFiles(directory: string, files: SmallFiles): Promise<void> {
  await makeDirectory(directory)
  for (const [name, bytes] of files) {
    const path = join(directory, name)
    await writeNewFile(path, bytes).catch(async (error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
      if ((await readFile(path)).equals(bytes)) return
      throw new StorageError(
        `${path} differs from the file of the backup: move it away, or name another data directory`,
      )
    })
  }
}

/**
 * Name of a directory that file systems create in the root of a volume. A directory that contains only this
 * directory counts as empty.
 */
const ownOfFileSystem = 'lost+found'

async function expectEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new StorageError(`${directory} cannot be used: ${errorMessage(error)}`)
  })
  if (names.some((name) => name !== ownOfFileSystem))
    throw new StorageError(`${directory} is not empty: restore into a new directory`)
}
