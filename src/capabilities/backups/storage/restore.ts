import { basename } from 'node:path'
import { errorMessage } from '../../../core/base/errors.ts'
import { credentialsPath } from '../../../core/directory/tenants/credentials-file.ts'
import { EngineOpenError, type StoredPage } from '../../../core/store/engine.ts'
import { isFeedPart } from '../../feed/feed-records.ts'
import { chunksOf } from './backup.ts'
import { type BackupHeader, type BackupPart, readBackupParts } from './backup-file.ts'
import { pairPartition, type StoreLocation, storeFormat } from './offline-store.ts'
import { type FilledStore, fillStore } from './restore-target.ts'
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
    const partOf = await pairPartition()
    // The events of a change feed are left out. The restored store gets other changes than the original store. A
    // consumer may have read content that is newer than the backup, so its cursor must not be valid here.
    const isKept = (key: Uint8Array): boolean => {
      if (this.#isSelected?.(key) === false) return false
      const partition = partOf(key)
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
  const own = await storeFormat()
  if (format === own) return
  throw new StorageError(
    `the backup is of a store of format ${format}, this version knows ${own}: use the version that made it`,
  )
}
