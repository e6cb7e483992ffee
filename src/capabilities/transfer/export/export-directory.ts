import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { errorMessage } from '../../../core/base/errors.ts'
import { makeDirectory } from '../../../core/config/files/make-directory.ts'
import { fsyncDirectory } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

/** Number of characters at which collected lines are written to the file. */
const bufferedMax = 1024 * 1024

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

  /**
   * Writes a file that only its owner can read. Returns its size in bytes.
   * @param file path relative to the directory of the export, with `/` as separator
   */
  async write(file: string, content: Uint8Array | string): Promise<number> {
    await this.#write(file, async (handle) => handle.writeFile(content))
    return Buffer.byteLength(content)
  }

  /** Writes a file of JSON objects, one per line. */
  async writeLines(file: string, lines: AsyncIterable<object>): Promise<void> {
    await this.#write(file, async (handle) => {
      let text = ''
      for await (const line of lines) {
        text += `${JSON.stringify(line)}\n`
        if (text.length < bufferedMax) continue
        await handle.writeFile(text)
        text = ''
      }
      await handle.writeFile(text)
    })
  }

  async #write(file: string, work: (handle: FileHandle) => Promise<void>): Promise<void> {
    const path = join(this.#path, file)
    await makeDirectory(dirname(path))
    const handle = await open(path, 'wx', 0o600)
    try {
      await work(handle)
      await handle.sync()
    } finally {
      await handle.close()
    }
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
