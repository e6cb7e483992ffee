import type { Level } from 'level'
import type { ByteRange } from '../keys.ts'
import type { ReadMany } from './gathered.ts'

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

export type Database = Level<Uint8Array, Uint8Array>
export type DatabaseSnapshot = ReturnType<Database['snapshot']>

const pagePairs = 1_000
const pageBytes = 1024 * 1024
export const encodings = { keyEncoding: 'view', valueEncoding: 'view' } as const

/** Reads values as they are now, or at a moment. */
export const readerOf =
  (database: Database, snapshot?: DatabaseSnapshot): ReadMany =>
  async (keys) => {
    const at = snapshot === undefined ? encodings : { ...encodings, snapshot }
    const values = await database.getMany([...keys], at)
    return values.map((value) => (value === undefined ? undefined : asBuffer(value)))
  }

/** Reads ranges as they are now, or at a moment. */
export const pagesOf = (database: Database, snapshot?: DatabaseSnapshot): Reads['pages'] =>
  async function* ({ gte, lt }, { reverse = false, limit = -1, values = true } = {}) {
    const iterator = database.iterator({
      ...encodings,
      ...(snapshot !== undefined && { snapshot }),
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
  }

const nothing = new Uint8Array(0)
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
