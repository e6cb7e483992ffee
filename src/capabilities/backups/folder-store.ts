import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, opendir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../core/base/clock.ts'
import { errorCode, errorMessage } from '../../core/base/errors.ts'
import { Semaphore } from '../../core/base/semaphore.ts'
import { makeDirectory } from '../../core/config/files/make-directory.ts'
import { writeNewFile } from '../../core/config/files/write-new-file.ts'
import { checkObjectName, checkObjectSize, type ObjectStore, type StoredObject } from './object-store.ts'
import { fsyncDirectory } from './storage/offline-store.ts'
import { StorageError } from './storage/storage-error.ts'

/** Folder of files that are being written. No name of an object starts with a dot. */
const partialFolder = '.partial'
/** Age in ms after which the file of a write counts as the remains of an interrupted one. */
const partialMsMax = 3_600_000

/** Does not follow a link, and does not wait for the writer of a pipe. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** A server needs the other threads of the pool for its store. */
const operationsMax = 2

/**
 * Objects as files of a folder. Only the owner can read them. A file is written under another name, synced,
 * and then renamed.
 */
export class FolderStore implements ObjectStore {
  readonly name: string
  readonly #clock: Clock
  /** Folders that exist and whose names are durable. */
  readonly #folders = new Set<string>()
  readonly #turn = new Semaphore({ total: operationsMax })

  constructor(folder: string, clock: Clock) {
    this.name = folder
    this.#clock = clock
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.#pathOf(name)
    return this.#attempt(async () => {
      const partial = join(this.name, partialFolder, randomBytes(12).toString('hex'))
      await this.#makeFolder(dirname(partial))
      await this.#makeFolder(dirname(path))
      try {
        await writeNewFile(partial, bytes)
        await rename(partial, path)
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      }
      await fsyncDirectory(dirname(path))
    })
  }

  get(name: string): Promise<Buffer | null> {
    const path = this.#pathOf(name)
    return this.#attempt(async () => {
      const file = await open(path, openFlags).catch(absentAsNull)
      if (file === null) return null
      try {
        const found = await file.stat()
        if (!found.isFile()) return null
        checkObjectSize(name, found.size)
        return await file.readFile()
      } finally {
        await file.close()
      }
    })
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    if (folder !== '') checkObjectName(folder.slice(0, -1))
    for await (const object of this.#within(folder)) if (object.name.startsWith(prefix)) yield object
  }

  delete(name: string): Promise<void> {
    const path = this.#pathOf(name)
    return this.#attempt(() => rm(path, { force: true }))
  }

  removeIncomplete(): Promise<number> {
    return this.#attempt(async () => {
      const folder = join(this.name, partialFolder)
      let removed = 0
      for (const name of (await readdir(folder).catch(absentAsNull)) ?? []) {
        const path = join(folder, name)
        const found = await lstat(path).catch(absentAsNull)
        if (found === null || this.#clock.now() - found.mtimeMs < partialMsMax) continue
        await rm(path, { force: true })
        removed += 1
      }
      return removed
    })
  }

  #pathOf(name: string): string {
    checkObjectName(name)
    return join(this.name, name)
  }

  /** Yields the objects in a folder and its folders. Ignores links, and files that are not objects. */
  async *#within(folder: string): AsyncGenerator<StoredObject> {
    const opened = await this.#attempt(() => opendir(join(this.name, folder)).catch(absentAsNull))
    if (opened === null) return
    for await (const entry of opened) {
      const name = `${folder}${entry.name}`
      if (entry.name.startsWith('.')) continue
      if (entry.isDirectory()) yield* this.#within(`${name}/`)
      if (!entry.isFile()) continue
      const found = await this.#attempt(() => lstat(join(this.name, name)).catch(absentAsNull))
      if (found !== null) yield { name, size: found.size }
    }
  }

  async #makeFolder(path: string): Promise<void> {
    if (this.#folders.has(path)) return
    const first = await makeDirectory(path)
    if (first !== undefined) await fsyncDirectory(dirname(first))
    if (first !== undefined && first !== path) await fsyncDirectory(dirname(path))
    this.#folders.add(path)
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#turn.run('', work)
    } catch (error) {
      if (error instanceof StorageError) throw error
      throw new StorageError(`${this.name} cannot be used: ${errorMessage(error)}`, { cause: error })
    }
  }
}

function absentAsNull(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null
  throw error
}
