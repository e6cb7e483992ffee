import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import { errorMessage } from '../../../core/base/errors.ts'
import { ByteReader } from '../../../core/update/byte-reader.ts'
import { MalformedUpdateError } from '../../../core/update/malformed.ts'
import { isStore } from '../../backups/storage/offline-store.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { ImportSource } from '../import-documents.ts'
import { rejectPipe } from '../text-lines.ts'
import { collectUpdates, type StoredUpdate } from './updates.ts'

/**
 * Types of key segments. The first byte of a segment is its type. If the segment is a string, its length and
 * its text follow. If it is a number, four bytes follow.
 */
const segment = { string: 0, number: 1 } as const

/**
 * First segment of the key of an update. The whole key consists of `v1`, the name of the document, `update`
 * and a number. Other keys of y-leveldb start in a similar way.
 */
const version = Buffer.from('v1')

/** Prefix that all keys of documents have. */
const updatePrefix = Buffer.from([segment.string, version.length, ...version, segment.string])
/** First possible key after all keys of documents. */
const prefixEnd = Buffer.from([segment.string, version.length, ...version, segment.number])

/** Returns the document name in the key of an update; null if it is another kind of key. */
export function updateKeyOf(key: Uint8Array): string | null {
  try {
    const reader = new ByteReader(key)
    reader.skip(updatePrefix.length)
    const name = stringAt(reader, key)
    if (reader.byte() !== segment.string || stringAt(reader, key) !== 'update') return null
    return reader.byte() === segment.number && reader.left === 4 ? name : null
  } catch (error) {
    if (error instanceof MalformedUpdateError) return null
    throw error
  }
}

function stringAt(reader: ByteReader, key: Uint8Array): string {
  const length = reader.varUint()
  const start = reader.at
  reader.skip(length)
  return Buffer.from(key.buffer, key.byteOffset + start, length).toString()
}

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
