import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import { errorMessage } from '../../../core/base/errors.ts'
import { isStore } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { ImportSource } from '../import/import-source.ts'
import { rejectPipe } from '../text-lines.ts'
import { collectUpdates, type StoredUpdate } from './collect-updates.ts'
import { prefixEnd, updateKeyOf, updatePrefix } from './y-leveldb-keys.ts'

type LeveldbStore = Level<Buffer, Buffer>

const everyUpdate = { gte: updatePrefix, lt: prefixEnd }

/**
 * Opens a folder that y-leveldb 0.1 or 0.2 has written. The server of y-websocket uses this format
 * (`YPERSISTENCE`). LevelDB may rewrite files when it opens the folder.
 * @param bytesMax maximum bytes of the updates of one document
 * @throws StorageError
 */
export async function openYLeveldb(directory: string, bytesMax: number): Promise<ImportSource> {
  if ((await stat(join(directory, 'CURRENT')).catch(() => null)) === null)
    throw new StorageError(`${directory} holds no LevelDB: name the folder that y-leveldb has written`)
  if (await isStore(directory))
    throw new StorageError(`${directory} is a store of Weft: use \`weft backup\` and \`weft restore\``)
  for (const name of await readdir(directory))
    await rejectPipe(join(directory, name)).catch((error: unknown) => {
      throw new StorageError(`${join(directory, name)} cannot be read: ${errorMessage(error)}`)
    })
  const store: LeveldbStore = new Level(directory, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    createIfMissing: false,
  })
  await store.open().catch((error: unknown) => {
    throw new StorageError(`${directory} cannot be opened: ${openProblem(error)}`)
  })
  return {
    count: () => reading(directory, countDocuments(store)),
    documents: () => collectUpdates(updatesOf(store, directory), bytesMax),
    close: () => store.close(),
  }
}

function openProblem(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : null
  if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED')
    return 'another process has it open: stop the old server, or name a copy'
  return errorMessage(cause ?? error)
}

async function countDocuments(store: LeveldbStore): Promise<number> {
  let [count, last] = [0, '']
  for await (const key of store.keys(everyUpdate)) {
    const name = updateKeyOf(key)
    if (name === null || (count > 0 && name === last)) continue
    count += 1
    last = name
  }
  return count
}

/**
 * Yields the updates. In the store, the updates of one document are adjacent, in the order in which they were
 * written.
 */
async function* updatesOf(store: LeveldbStore, directory: string): AsyncGenerator<StoredUpdate> {
  const pairs = store.iterator(everyUpdate)
  try {
    for (;;) {
      const next = await reading(directory, pairs.next())
      if (next === undefined) break
      const name = updateKeyOf(next[0])
      if (name !== null) yield { name, update: next[1] }
    }
  } finally {
    await pairs.close()
  }
}

async function reading<T>(directory: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new StorageError(`${directory} cannot be read on: ${errorMessage(error)}`)
  }
}
