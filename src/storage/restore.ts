import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { credentialsPath } from '../directory/tenants/credentials-file.ts'
import type { StoredPage } from '../engine/engine.ts'
import { errorMessage } from '../errors.ts'
import { isFeedPart } from '../feed/feed-keys.ts'
import { chunksOf } from './backup.ts'
import { type BackupHeader, type BackupPart, readBackupParts } from './backup-file.ts'
import { fillOfflineStore, pairPartition, storeFormat } from './offline-store.ts'
import { type Progress, StorageError } from './storage-error.ts'

export interface Restored {
  readonly records: number
  /** Time at which the backup was made, in epoch milliseconds. */
  readonly madeAt: number
}

/**
 * Names of the files that a restore may write next to the store. A restore ignores all other files that a
 * backup contains.
 */
const files = [basename(credentialsPath('.'))]

/**
 * Creates a data directory from a backup file; see `restoreParts`.
 * @throws StorageError
 */
export const restore = (path: string, directory: string, onProgress: Progress): Promise<Restored> =>
  restoreParts(readBackupParts(chunksOf(path, 'restore', onProgress)), directory, path)

/**
 * Creates a data directory from the parts of a backup, without the events of change feeds. The store gets its
 * final name only after every part was checked and written to disk.
 * @param name name of the backup, for messages
 * @throws StorageError if `directory` is not empty, if the backup is damaged, or if its format is unknown
 */
export async function restoreParts(
  parts: AsyncIterable<BackupPart>,
  directory: string,
  name: string,
): Promise<Restored> {
  await expectEmpty(directory)
  const unpacked = new Unpacked()
  const written: string[] = []
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const records = await fillOfflineStore(directory, unpacked.pages(parts), async () => {
      for (const [fileName, bytes] of unpacked.files) {
        const file = join(directory, fileName)
        await writeFile(file, bytes, { mode: 0o600, flush: true, flag: 'wx' })
        written.push(file)
      }
    })
    return { records, madeAt: unpacked.madeAt }
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    if (error instanceof StorageError) throw error
    throw new StorageError(`${name} could not be restored: ${errorMessage(error)}`, { cause: error })
  }
}

/** Collects the header and the files that a backup contains. */
class Unpacked {
  readonly files = new Map<string, Uint8Array>()
  madeAt = 0

  async *pages(parts: AsyncIterable<BackupPart>): AsyncGenerator<StoredPage> {
    const partOf = await pairPartition()
    // The events of a change feed are left out. The restored store gets other changes than the original store. A
    // consumer may have read content that is newer than the backup, so its cursor must not be valid here.
    const isKept = (key: Uint8Array): boolean => {
      const partition = partOf(key)
      return partition === null || !isFeedPart(partition)
    }
    for await (const part of parts) {
      if (part.kind === 'header') await this.#take(part.header)
      else if (part.kind === 'pairs') yield part.pairs.filter(([key]) => isKept(key))
      else if (part.kind === 'file' && files.includes(part.name)) this.files.set(part.name, part.bytes)
    }
  }

  async #take({ format, madeAt }: BackupHeader): Promise<void> {
    const own = await storeFormat()
    if (format !== own)
      throw new StorageError(
        `the backup is of a store of format ${format}, this version knows ${own}: use the version that made it`,
      )
    this.madeAt = madeAt
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
