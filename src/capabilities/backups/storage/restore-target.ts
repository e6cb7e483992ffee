import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, errorMessage } from '../../../core/base/errors.ts'
import { makeDirectory } from '../../../core/config/files/make-directory.ts'
import { storeClusterCredentials } from '../../../core/directory/tenants/cluster-credentials.ts'
import { readCredentials } from '../../../core/directory/tenants/credentials-file.ts'
import type { StoredPage } from '../../../core/store/engine.ts'
import { fillOfflineDatabase, fillOfflineStore, type StoreLocation } from './offline-store.ts'
import { StorageError } from './storage-error.ts'

export interface FilledStore {
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
export const fillStore = (
  place: StoreLocation,
  pages: AsyncIterable<StoredPage>,
  files: SmallFiles,
): Promise<FilledStore> =>
  typeof place === 'string'
    ? fillDirectory(place, pages, files)
    : fillOfflineDatabase(place, pages, async (kv) => {
        await keepFiles(place.directory, files)
        await storeClusterCredentials(kv, await readCredentials(place.directory))
      })

async function fillDirectory(
  directory: string,
  pages: AsyncIterable<StoredPage>,
  files: SmallFiles,
): Promise<FilledStore> {
  await expectEmpty(directory)
  const written: string[] = []
  try {
    await makeDirectory(directory)
    const records = await fillOfflineStore(directory, pages, async () => {
      for (const [name, bytes] of files) {
        const file = join(directory, name)
        await writeNew(file, bytes)
        written.push(file)
      }
    })
    return { records, damaged: [] }
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    throw error
  }
}

const writeNew = (path: string, bytes: Uint8Array): Promise<void> =>
  writeFile(path, bytes, { mode: 0o600, flush: true, flag: 'wx' })

/**
 * Writes the files of a backup of a database into a data directory, which may be in use.
 * @throws StorageError if the directory has another file with one of the names
 */
async function keepFiles(directory: string, files: SmallFiles): Promise<void> {
  await makeDirectory(directory)
  for (const [name, bytes] of files) {
    const path = join(directory, name)
    await writeNew(path, bytes).catch(async (error: unknown) => {
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
