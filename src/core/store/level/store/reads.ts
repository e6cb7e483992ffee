import type { Level } from 'level'
import { asBuffer } from '../../../base/bytes.ts'
import { runUntraced } from '../../../base/current-trace.ts'
import type { ByteRange } from '../../key-encoding.ts'

export type KeyValuePair = readonly [key: Buffer, value: Buffer]

export interface ScanOptions {
  readonly reverse?: boolean
  readonly limit?: number
  /** False: the returned pairs have empty values, which saves reading the values. */
  readonly values?: boolean
}

export interface Reads {
  get(key: Uint8Array): Promise<Buffer | undefined>
  /**
   * Returns small values of one moment without a thread. Returns null if the caller must use `get` instead: the event
   * loop has read too much already, the disk is slow, or a value cannot be read.
   */
  getNow(keys: readonly Uint8Array[]): readonly (Buffer | undefined)[] | null
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

/** A database of `level`. In Node, it has two methods that the types of `level` omit. */
export type LevelDatabase = Level<Uint8Array, Uint8Array> & {
  compactRange(start: Uint8Array, end: Uint8Array, options: typeof encodings): Promise<void>
  approximateSize(start: Uint8Array, end: Uint8Array, options: typeof encodings): Promise<number>
}
type DatabaseSnapshot = ReturnType<LevelDatabase['snapshot']>

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
    return values.map(bufferOf)
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

const bufferOf = (value: Uint8Array | undefined): Buffer | undefined => value && asBuffer(value)

const pairOf = ([key, value]: readonly [Uint8Array, Uint8Array | undefined]): KeyValuePair => [
  asBuffer(key),
  asBuffer(value ?? nothing),
]

const nothing = new Uint8Array(0)

/**
 * Maximum number of values that the event loop reads in one tick. The limit ends loops over many values, which would
 * let nothing else run.
 */
const readNowMax = 500
/** Milliseconds from which a read has waited for the disk. A value in the cache of the operating system takes 0.01 ms. */
const slowReadMs = 1
/** Slow reads take at most one of this number of milliseconds, after a burst. */
const slowShare = 20
/** Maximum milliseconds of slow reads in a burst. */
const slowBurstMs = 50

/** Reads one value in the event loop. */
type ReadNow = (key: Uint8Array, snapshot?: DatabaseSnapshot) => Buffer | undefined

/** Returns a function that reads values in the event loop. */
export const nowReaderOf =
  (database: LevelDatabase): ReadNow =>
  (key, snapshot) =>
    bufferOf(database.getSync(key, snapshot === undefined ? encodings : { ...encodings, snapshot }))

/**
 * Reads small values in the event loop, which costs much less than handing the read to a thread. A value that is in no
 * cache blocks the event loop, so the time of slow reads is limited with the generic cell rate algorithm.
 */
export class LoopReads {
  readonly #read: ReadNow
  readonly #now: () => number
  /** Number of values that may still be read in this tick. */
  #left = readNowMax
  /** Time at which the full burst of slow reads is available again. */
  #restedAt = 0

  /** @param now clock in milliseconds */
  constructor(read: ReadNow, now = () => performance.now()) {
    this.#read = read
    this.#now = now
  }

  /** Returns the values. Returns null if a limit is reached, or if a value cannot be read. */
  read(keys: readonly Uint8Array[], snapshot?: DatabaseSnapshot): readonly (Buffer | undefined)[] | null {
    const startedAt = this.#now()
    if (this.#restedAt - startedAt > slowBurstMs * slowShare || !this.#take(keys.length)) return null
    try {
      return keys.map((key) => this.#read(key, snapshot))
    } catch {
      return null
    } finally {
      const ms = this.#now() - startedAt
      if (ms >= slowReadMs) this.#restedAt = Math.max(this.#restedAt, startedAt) + ms * slowShare
    }
  }

  #take(count: number): boolean {
    if (count > this.#left) return false
    if (this.#left === readNowMax)
      setImmediate(() => {
        this.#left = readNowMax
      })
    this.#left -= count
    return true
  }
}

/**
 * Maximum number of keys in one read. A read of more keys is split, so that the reader threads can serve
 * other reads in between.
 */
const keysAtOnce = 64

/** Reads the values of several keys. Returns them in the order of the keys. */
type ReadMany = (keys: readonly Uint8Array[]) => Promise<readonly (Buffer | undefined)[]>

interface Asked {
  readonly key: Uint8Array
  readonly resolve: (value: Buffer | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines the reads of all callers in one tick into one read. Handing a read to a thread and being woken by
 * the thread costs many times as much as the read itself, even if only one small value is read.
 */
export class BatchedReads {
  readonly #readMany: ReadMany
  #asked: Asked[] = []

  constructor(readMany: ReadMany) {
    this.#readMany = readMany
  }

  /** Returns the value of a key as it was at some time between the call and the result. */
  get(key: Uint8Array): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ key, resolve, reject })
      if (this.#asked.length === 1) runUntraced(() => setImmediate(() => this.flush()))
    })
  }

  /** Starts the waiting reads immediately, instead of at the end of the tick. */
  flush(): void {
    const asked = this.#asked
    this.#asked = []
    for (let start = 0; start < asked.length; start += keysAtOnce)
      void this.#answer(asked.slice(start, start + keysAtOnce))
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    try {
      const values = await this.#readMany(asked.map(({ key }) => key))
      asked.forEach(({ resolve }, index) => {
        resolve(values[index])
      })
    } catch (error) {
      // A damaged value must not fail the other reads of the batch, so each key is read again separately.
      if (asked.length > 1) for (const one of asked) void this.#answer([one])
      else for (const { reject } of asked) reject(error)
    }
  }
}

/**
 * Provides one snapshot to all callers that need a snapshot in the same tick. The reads of these callers are
 * also combined.
 */
export class SharedSnapshots {
  readonly #database: LevelDatabase
  readonly #loopReads: LoopReads
  #current: TickSnapshot | null = null

  constructor(database: LevelDatabase, loopReads: LoopReads) {
    this.#database = database
    this.#loopReads = loopReads
  }

  /** The snapshot of this tick. */
  get current(): TickSnapshot {
    this.#current ??= this.#begin()
    return this.#current
  }

  /** Closes the current snapshot for new callers. Later callers get a new snapshot. */
  end(): void {
    // If releasing the snapshot fails, the database releases it when it closes.
    this.#current?.leave().catch(() => undefined)
    this.#current = null
  }

  #begin(): TickSnapshot {
    const moment = new TickSnapshot(this.#database, this.#loopReads)
    setImmediate(() => {
      if (this.#current === moment) this.end()
    })
    return moment
  }
}

/** A snapshot that several readers use. It is released when the last reader has left. */
class TickSnapshot {
  readonly #snapshot: DatabaseSnapshot
  readonly #loopReads: LoopReads
  readonly #batched: BatchedReads
  readonly #ranges: ReturnType<typeof rangesOf>
  /** Number of readers, plus 1 as long as further readers can join. */
  #users = 1

  constructor(database: LevelDatabase, loopReads: LoopReads) {
    this.#snapshot = database.snapshot()
    this.#loopReads = loopReads
    this.#ranges = rangesOf(database, this.#snapshot)
    this.#batched = new BatchedReads(readerOf(database, this.#snapshot))
  }

  enter(): ReadSnapshot {
    this.#users += 1
    return {
      get: (key) => this.#batched.get(key),
      getNow: (keys) => this.getNow(keys),
      ...this.#ranges,
      close: () => this.leave(),
    }
  }

  /** As in `Reads`. */
  getNow(keys: readonly Uint8Array[]): readonly (Buffer | undefined)[] | null {
    return this.#loopReads.read(keys, this.#snapshot)
  }

  async leave(): Promise<void> {
    this.#users -= 1
    if (this.#users === 0) await this.#snapshot.close()
  }
}
