import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { credentialsPath } from '../directory/credentials-file.ts'
import type { StoredPage } from '../engine/engine.ts'
import { messageOf } from '../errors.ts'
import { type ArchiveHeader, type ArchivePart, readArchive } from './archive.ts'
import { chunksOf } from './backup.ts'
import { type Progress, StorageError } from './problem.ts'
import { fillStopped, isKnownFormat, storeFormat } from './stopped.ts'

export interface Restored {
  readonly records: number
  /** When the backup was made, in epoch milliseconds. */
  readonly madeAt: number
}

/** Files that a backup may hold beside the store: nothing else is written, whatever it says. */
const files = [basename(credentialsPath('.'))]

/**
 * Makes a data directory of a backup. The store gets its name only when every part has been checked and is on the
 * disk. @throws StorageError when `directory` is not empty, or the backup is damaged or of a format that is not known
 */
export async function restore(path: string, directory: string, onProgress: Progress): Promise<Restored> {
  await expectEmpty(directory)
  const unpacked = new Unpacked()
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const records = await fillStopped(
      directory,
      unpacked.pages(readArchive(chunksOf(path, 'restore', onProgress))),
    )
    for (const [name, bytes] of unpacked.files)
      await writeFile(join(directory, name), bytes, { mode: 0o600, flush: true })
    return { records, madeAt: unpacked.madeAt }
  } catch (error) {
    await removeContents(directory)
    if (error instanceof StorageError) throw error
    throw new StorageError(`${path} could not be restored: ${messageOf(error)}`, { cause: error })
  }
}

/** What comes with the pairs of a backup. */
class Unpacked {
  readonly files = new Map<string, Uint8Array>()
  madeAt = 0

  async *pages(parts: AsyncIterable<ArchivePart>): AsyncGenerator<StoredPage> {
    for await (const part of parts) {
      if (part.kind === 'header') await this.#take(part.header)
      else if (part.kind === 'pairs') yield part.pairs
      else if (part.kind === 'file' && files.includes(part.name)) this.files.set(part.name, part.bytes)
    }
  }

  async #take({ format, madeAt }: ArchiveHeader): Promise<void> {
    const own = await storeFormat()
    if (!(await isKnownFormat(format)))
      throw new StorageError(
        `the backup is of a store of format ${format}, this version knows ${own}: use the version that made it`,
      )
    this.madeAt = madeAt
  }
}

async function expectEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new StorageError(`${directory} cannot be used: ${messageOf(error)}`)
  })
  if (names.length > 0) throw new StorageError(`${directory} is not empty: restore into a new directory`)
}

/** It was empty before. */
async function removeContents(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })))
}
