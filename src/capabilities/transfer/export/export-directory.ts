import { createHash, type Hash, randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { errorMessage } from '../../../core/base/errors.ts'
import { makeDirectory } from '../../../core/config/files/make-directory.ts'
import { fsyncDirectory } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { type FileEntry, listNames, sha256Of } from './manifest.ts'

/**
 * Writes the files of an export into a temporary directory. The temporary directory is next to the final
 * directory.
 */
export class ExportDirectory {
  readonly #path: string
  readonly #target: string

  private constructor(target: string, path: string) {
    this.#target = target
    this.#path = path
  }

  /**
   * Creates the temporary directory.
   * @throws StorageError if `directory` is not empty or cannot be created
   */
  static async begin(directory: string): Promise<ExportDirectory> {
    const target = resolve(directory)
    const names = await readdir(target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw new StorageError(`${directory} cannot be used: ${errorMessage(error)}`)
    })
    if (names.length > 0) throw new StorageError(`${directory} is not empty: export into a new directory`)
    const path = join(dirname(target), `${basename(target)}.${randomBytes(4).toString('hex')}.part`)
    await makeDirectory(path)
    return new ExportDirectory(target, path)
  }

  /** Writes a file that only its owner can read. @param file path of the file, as in `FileEntry` */
  async write(file: string, bytes: Uint8Array | string): Promise<FileEntry> {
    const path = join(this.#path, file)
    await makeDirectory(dirname(path))
    const handle = await open(path, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return { file, bytes: Buffer.byteLength(bytes), sha256: sha256Of(bytes) }
  }

  /** Starts to write one of the lists. Each list is a file of JSON lines. */
  async list(kind: keyof typeof listNames): Promise<JsonLinesWriter> {
    const file = listNames[kind]
    return new JsonLinesWriter(file, await open(join(this.#path, file), 'wx', 0o600))
  }

  /** Renames the temporary directory to the final name. @throws StorageError */
  async name(): Promise<void> {
    await fsyncDirectory(this.#path)
    // Removes the target directory if it is empty. `rmdir` fails if the directory contains files by now.
    await rmdir(this.#target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT')
        throw new StorageError(`${this.#target} cannot be made: ${errorMessage(error)}`)
    })
    await rename(this.#path, this.#target)
    await fsyncDirectory(dirname(this.#target))
  }

  /** Removes all files of the unfinished export. */
  async drop(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true })
  }
}

/** Size at which collected lines are written to the file, in bytes. */
const bufferedMax = 1024 * 1024

/** Writes a file of JSON objects, one per line. */
export class JsonLinesWriter {
  readonly #file: string
  readonly #handle: FileHandle
  readonly #hash: Hash = createHash('sha256')
  #waiting: string[] = []
  #waitingBytes = 0
  #bytes = 0
  #lines = 0

  constructor(file: string, handle: FileHandle) {
    this.#file = file
    this.#handle = handle
  }

  async add(line: object): Promise<void> {
    const text = `${JSON.stringify(line)}\n`
    this.#waiting.push(text)
    this.#waitingBytes += text.length
    this.#lines += 1
    if (this.#waitingBytes >= bufferedMax) await this.#flush()
  }

  /** Completes the file, and returns its entry for the manifest. */
  async end(): Promise<FileEntry & { readonly lines: number }> {
    await this.#flush()
    await this.#handle.sync()
    await this.close()
    return { file: this.#file, bytes: this.#bytes, sha256: this.#hash.digest('hex'), lines: this.#lines }
  }

  /** Closes the file. The caller must call this method in any case, even after an error. */
  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#waiting.join(''))
    this.#waiting = []
    this.#waitingBytes = 0
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    await this.#handle.writeFile(bytes)
  }
}
