import { Level } from 'level'
import { type ByteRange, rangeOf } from '../keys.ts'
import { codeOf, failureOf } from './failures.ts'
import { Gathered } from './gathered.ts'
import { SharedMoments } from './moments.ts'
import { type Database, encodings, type Reads, rangesOf, readerOf, type Snapshot } from './reads.ts'

/** A put; a deletion where `value` is null. */
export interface Operation {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/**
 * The few things wanted of a key-value store. Behind an interface so that tests can hold a write back or let the
 * disk be full; everything else is real.
 */
export interface Store extends Reads {
  /** All or nothing. With `sync` it resolves when the operations are on the disk. */
  write(operations: readonly Operation[], sync: boolean): Promise<void>
  snapshot(): Snapshot
  /** Rewrites the tables of a range, or all, without what has been deleted or replaced. */
  compactTables(range?: ByteRange): Promise<void>
  close(): Promise<void>
}

export type OpenStore = (directory: string) => Promise<Store>

/** Uncompressed blocks kept in memory for reads. */
const cacheBytes = 32 * 1024 * 1024
/** Two such buffers exist at most; larger ones mean fewer and larger tables. */
const writeBufferBytes = 16 * 1024 * 1024

/** Opens or creates the LevelDB in `directory`. @throws what `level` throws */
export async function openLevelStore(directory: string): Promise<Store> {
  const database: Database = new Level<Uint8Array, Uint8Array>(directory, {
    ...encodings,
    cacheSize: cacheBytes,
    writeBufferSize: writeBufferBytes,
  })
  await database.open()
  const now = new Gathered(readerOf(database))
  const moments = new SharedMoments(database)
  return {
    get: (key) => now.get(key),
    ...rangesOf(database),
    async write(operations, sync) {
      const batch = database.batch()
      for (const { key, value } of operations) {
        if (value === null) batch.del(key)
        else batch.put(key, value)
      }
      await batch.write({ sync })
      // Who looks after this must find it.
      moments.end()
    },
    snapshot: () => moments.enter(),
    compactTables: (range = everything) => compactTables(database, range),
    close: () => {
      now.flush()
      return database.close()
    },
  }
}

/** Is nobody else at the store in `directory`? Nothing in it is read for that. @throws what `level` throws otherwise */
export async function expectUnlocked(directory: string): Promise<void> {
  // LevelDB locks it before it sees that there is one.
  const database = new Level(directory, { createIfMissing: false, errorIfExists: true })
  const failure = await failureOf(database.open())
  await database.close()
  const cause = failure?.error instanceof Error ? failure.error.cause : null
  if (codeOf(cause) === 'LEVEL_LOCKED') throw failure?.error
}

/** `level` does not tell that its databases in Node have this. */
interface Compactable {
  compactRange(start: Uint8Array, end: Uint8Array, options: typeof encodings): Promise<void>
}

const isCompactable = (database: Database): database is Database & Compactable => 'compactRange' in database

async function compactTables(database: Database, { gte, lt }: ByteRange): Promise<void> {
  if (isCompactable(database)) await database.compactRange(gte, lt, encodings)
}

const everything = rangeOf(new Uint8Array(0))
