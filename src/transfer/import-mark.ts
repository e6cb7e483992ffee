import { open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Engine } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import { StorageError } from '../storage/problem.ts'
import { importMarkOf, storedEntries, syncDirectory } from '../storage/stopped.ts'

/**
 * Says that a store that was empty has not taken in all of an export yet, and of which: no server starts on it, which would
 * serve half of it, and change what the rest is compared with. A store that has served something before gets none: what
 * it has is whole all the time.
 */
export class ImportMark {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /**
   * Called before anything of the export is written. Null: the store needs none.
   * @param name that tells exports apart @throws StorageError where another export has been begun with
   */
  static async begin(directory: string, engine: Engine, name: string): Promise<ImportMark | null> {
    const path = await importMarkOf(directory)
    const found = await ImportMark.#read(path)
    if (found === null && !(await isEmpty(engine))) return null
    if (found !== null && found !== '' && found !== name)
      throw new StorageError(
        `the import of another export into ${directory} was interrupted: start that one again, or import this one into an empty directory`,
      )
    if (found !== name) await write(path, name)
    return new ImportMark(path)
  }

  /** Called when everything is in the store. */
  async end(): Promise<void> {
    await rm(this.#path)
    await syncDirectory(dirname(this.#path))
  }

  /** Null where there is none; '' where its making was interrupted: nothing was written then. */
  static async #read(path: string): Promise<string | null> {
    try {
      return (await readFile(path, 'utf8')).trim()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw new StorageError(`${path} cannot be read: ${messageOf(error)}`)
    }
  }
}

async function isEmpty(engine: Engine): Promise<boolean> {
  for await (const _ of storedEntries(engine)) return false
  return true
}

async function write(path: string, name: string): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(`${name}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await syncDirectory(dirname(path))
}
