import { Level } from 'level'
import { type ByteRange, rangeOf } from '../../key-encoding.ts'
import {
  BatchedReads,
  encodings,
  type LevelDatabase,
  LoopReads,
  nowReaderOf,
  type ReadSnapshot,
  type Reads,
  rangesOf,
  readerOf,
  SharedSnapshots,
} from './reads.ts'

/** One operation of a batch: puts `value` under `key`, or deletes the key if `value` is null. */
export interface BatchOperation {
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}

/**
 * The operations that the engine needs from a key-value store. This is an interface so that tests can delay a
 * write or simulate a full disk. Everything else in these tests is real.
 */
export interface Store extends Reads {
  /** Writes all operations or none. With `sync`, resolves when the operations are on disk. */
  write(operations: readonly BatchOperation[], sync: boolean): Promise<void>
  snapshot(): ReadSnapshot
  /**
   * Rewrites the tables of a range, or all tables. This removes deleted and replaced records from the files.
   */
  compactTables(range?: ByteRange): Promise<void>
  /**
   * Estimates the size in bytes of the tables of a range. Does not count data that is only in memory and in
   * LevelDB's log.
   */
  tableBytes(range: ByteRange): Promise<number>
  close(): Promise<void>
}

export type OpenStore = (directory: string) => Promise<Store>

/** Maximum size in bytes of the cache of uncompressed blocks. */
const cacheBytes = 32 * 1024 * 1024
/**
 * Size of a write buffer in bytes. LevelDB has at most two write buffers. With a larger size, it writes fewer
 * and larger tables.
 */
const writeBufferBytes = 16 * 1024 * 1024

/** Opens the LevelDB database in `directory`, or creates it. @throws the errors of `level` */
export async function openLevelStore(directory: string): Promise<Store> {
  const database = new Level<Uint8Array, Uint8Array>(directory, {
    ...encodings,
    cacheSize: cacheBytes,
    writeBufferSize: writeBufferBytes,
  }) as LevelDatabase
  await database.open()
  const now = new BatchedReads(readerOf(database))
  const loopReads = new LoopReads(nowReaderOf(database))
  const moments = new SharedSnapshots(database, loopReads)
  let writes = 0
  return {
    get: (key) => now.get(key),
    // Only a write in progress can come between two reads of one tick.
    getNow: (keys) => (writes === 0 ? loopReads.read(keys) : moments.current.getNow(keys)),
    ...rangesOf(database),
    write(operations, sync) {
      const batch = database.batch()
      for (const { key, value } of operations) {
        if (value === null) batch.del(key)
        else batch.put(key, value)
      }
      writes += 1
      const ended = (): void => {
        writes -= 1
        // Reads that start after the write must see it, so they get a new snapshot.
        moments.end()
      }
      const written = batch.write({ sync })
      // Before the reactions of the caller.
      void written.then(ended, ended)
      return written
    },
    snapshot: () => moments.current.enter(),
    compactTables: ({ gte, lt } = everything) => database.compactRange(gte, lt, encodings),
    tableBytes: ({ gte, lt }) => database.approximateSize(gte, lt, encodings),
    close: () => {
      now.flush()
      return database.close()
    },
  }
}

const everything = rangeOf(new Uint8Array(0))
