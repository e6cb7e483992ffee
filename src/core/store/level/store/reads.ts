import type { Level } from 'level'
import { asBuffer } from '../../../base/bytes.ts'
import type { ByteRange } from '../../key-encoding.ts'
import type { ReadMany } from './batched-reads.ts'

export type KeyValuePair = readonly [key: Buffer, value: Buffer]

export interface ScanOptions {
  readonly reverse?: boolean
  readonly limit?: number
  /** False: the returned pairs have empty values, which saves reading the values. */
  readonly values?: boolean
}

export interface Reads {
  get(key: Uint8Array): Promise<Buffer | undefined>
  /** Yields the pairs of a range in pages, as they were when the caller requested the first page. */
  pages(range: ByteRange, options?: ScanOptions): AsyncIterable<readonly KeyValuePair[]>
  /**
   * Returns the first page of a range. This is less expensive than a loop over `pages` that ends after one
   * page.
   */
  firstPage(range: ByteRange, options?: ScanOptions): Promise<readonly KeyValuePair[]>
}

/** Reads that all return the data of the same moment. The caller must close the snapshot. */
export interface ReadSnapshot extends Reads {
  close(): Promise<void>
}

export type LevelDatabase = Level<Uint8Array, Uint8Array>
export type DatabaseSnapshot = ReturnType<LevelDatabase['snapshot']>

const pagePairs = 1_000
const pageBytes = 1024 * 1024
export const encodings = { keyEncoding: 'view', valueEncoding: 'view' } as const

/**
 * Returns a function that reads values from a snapshot. If no snapshot is given, it reads the current values.
 */
export const readerOf =
  (database: LevelDatabase, snapshot?: DatabaseSnapshot): ReadMany =>
  async (keys) => {
    const at = snapshot === undefined ? encodings : { ...encodings, snapshot }
    const values = await database.getMany([...keys], at)
    return values.map((value) => (value === undefined ? undefined : asBuffer(value)))
  }

/**
 * Returns functions that read ranges from a snapshot. If no snapshot is given, they read the current ranges.
 */
export const rangesOf = (
  database: LevelDatabase,
  snapshot?: DatabaseSnapshot,
): Pick<Reads, 'pages' | 'firstPage'> => ({
  async *pages(range, options) {
    const iterator = iteratorOf(database, snapshot, range, options)
    try {
      for (;;) {
        const pairs = await iterator.nextv(pagePairs)
        if (pairs.length === 0) return
        yield pairs.map(pairOf)
      }
    } finally {
      await iterator.close()
    }
  },
  async firstPage(range, options) {
    const iterator = iteratorOf(database, snapshot, range, options)
    try {
      return (await iterator.nextv(pagePairs)).map(pairOf)
    } finally {
      // Does not wait until the iterator is closed. Closing the database waits for it.
      void iterator.close()
    }
  },
})

const iteratorOf = (
  database: LevelDatabase,
  snapshot: DatabaseSnapshot | undefined,
  { gte, lt }: ByteRange,
  { reverse = false, limit = -1, values = true }: ScanOptions = {},
) =>
  database.iterator({
    ...encodings,
    ...(snapshot !== undefined && { snapshot }),
    gte,
    lt,
    reverse,
    limit,
    values,
    highWaterMarkBytes: pageBytes,
  })

const pairOf = ([key, value]: readonly [Uint8Array, Uint8Array | undefined]): KeyValuePair => [
  asBuffer(key),
  asBuffer(value ?? nothing),
]

const nothing = new Uint8Array(0)
