import { Level } from 'level'
import { type ByteRange, rangeOf } from '../keys.ts'
import { codeOf, failureOf } from './failures.ts'

/** A put; a deletion where `value` is null. */
export interface Operation {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

export type Pair = readonly [key: Buffer, value: Buffer]

export interface ScanOptions {
  readonly reverse?: boolean
  /** Pairs at most. */
  readonly limit?: number
  /** False: values are left empty. */
  readonly values?: boolean
}

export interface Reads {
  get(key: Uint8Array): Promise<Buffer | undefined>
  /** The pairs of a range in pages; what is there when the first page is asked for. */
  pages(range: ByteRange, options?: ScanOptions): AsyncIterable<readonly Pair[]>
}

/** Reads that all see the same moment. Must be closed. */
export interface Snapshot extends Reads {
  close(): Promise<void>
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

type Database = Level<Uint8Array, Uint8Array>
type DatabaseSnapshot = ReturnType<Database['snapshot']>

const pagePairs = 1_000
const pageBytes = 1024 * 1024
/** Uncompressed blocks kept in memory for reads. */
const cacheBytes = 32 * 1024 * 1024
/** Two such buffers exist at most; larger ones mean fewer and larger tables. */
const writeBufferBytes = 16 * 1024 * 1024

const encodings = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Opens or creates the LevelDB in `directory`. @throws what `level` throws */
export async function openLevelStore(directory: string): Promise<Store> {
  const database: Database = new Level<Uint8Array, Uint8Array>(directory, {
    ...encodings,
    cacheSize: cacheBytes,
    writeBufferSize: writeBufferBytes,
  })
  await database.open()
  return {
    ...readsOf(database),
    async write(operations, sync) {
      const batch = database.batch()
      for (const { key, value } of operations) {
        if (value === null) batch.del(key)
        else batch.put(key, value)
      }
      await batch.write({ sync })
    },
    snapshot() {
      const snapshot = database.snapshot()
      return { ...readsOf(database, snapshot), close: () => snapshot.close() }
    },
    compactTables: (range = everything) => compactTables(database, range),
    close: () => database.close(),
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

function readsOf(database: Database, snapshot?: DatabaseSnapshot): Reads {
  const at = snapshot === undefined ? {} : { snapshot }
  return {
    async get(key) {
      const value = await database.get(key, { ...encodings, ...at })
      return value === undefined ? undefined : asBuffer(value)
    },
    async *pages({ gte, lt }, { reverse = false, limit = -1, values = true } = {}) {
      const iterator = database.iterator({
        ...encodings,
        ...at,
        gte,
        lt,
        reverse,
        limit,
        values,
        highWaterMarkBytes: pageBytes,
      })
      try {
        for (;;) {
          const pairs = await iterator.nextv(pagePairs)
          if (pairs.length === 0) return
          yield pairs.map(([key, value]) => [asBuffer(key), asBuffer(value ?? nothing)] as const)
        }
      } finally {
        await iterator.close()
      }
    },
  }
}

const nothing = new Uint8Array(0)
const everything = rangeOf(nothing)
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
