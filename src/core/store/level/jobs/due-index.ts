import type { ByteRange } from '../../key-encoding.ts'
import { SortedMap } from '../../sorted-map.ts'

/**
 * Maximum number of entries of one queue in memory. Beyond it, the entries that are due last are only in the
 * store. Each entry takes about 200 bytes.
 */
const entriesMax = 4_000
/** Maximum number of entries that one read of the store returns. */
const pageEntries = 1_000

/** An entry of the index of due times. It means that a job with this id is, or was, due at this time. */
export interface DueJob {
  readonly id: string
  readonly at: number
}

/** An entry with its key in the store. */
export type StoredDueJob = readonly [key: Buffer, job: DueJob]

/**
 * The jobs of one queue in the order of their due times. The first entries are in memory, because a read of
 * the store would have to skip the many entries that were just deleted. An entry may be outdated: its job may
 * not exist any more, or may be due at another time.
 */
export class DueIndex {
  /** Range of the keys of all entries of the queue. */
  readonly #range: ByteRange
  /** Reads up to `limit` entries of a range from the store, in the order of their keys. */
  readonly #read: (range: ByteRange, limit: number) => Promise<readonly StoredDueJob[]>
  readonly #entries = new SortedMap<DueJob>()
  /** All entries before this key are in memory. */
  #end: Buffer
  /** Entries that were added while a page is being read; null if no page is being read. */
  #added: StoredDueJob[] | null = null
  #reading: Promise<void> | null = null

  constructor(range: ByteRange, read: (range: ByteRange, limit: number) => Promise<readonly StoredDueJob[]>) {
    this.#range = range
    this.#read = read
    this.#end = range.gte
  }

  /** Adds an entry that is in the store. */
  add(key: Buffer, job: DueJob): void {
    this.#added?.push([key, job])
    if (Buffer.compare(key, this.#end) >= 0) return
    this.#entries.set(key, job)
    if (this.#entries.size > entriesMax) this.#dropLast()
  }

  delete(key: Buffer): void {
    this.#entries.delete(key)
  }

  /** Returns up to `limit` entries before the key `before`, in the order of their due times. */
  async first(before: Buffer, limit: number): Promise<readonly DueJob[]> {
    for (;;) {
      const found: DueJob[] = []
      for (const [, job] of this.#entries.range({ gte: this.#range.gte, lt: before })) {
        if (found.length >= limit) break
        found.push(job)
      }
      if (found.length >= limit || Buffer.compare(this.#end, before) >= 0) return found
      this.#reading ??= this.#readPage().finally(() => {
        this.#reading = null
      })
      await this.#reading
    }
  }

  async #readPage(): Promise<void> {
    const from = this.#end
    const added: StoredDueJob[] = []
    this.#added = added
    try {
      const page = await this.#read({ gte: from, lt: this.#range.lt }, pageEntries)
      // Meanwhile the last entries may have been dropped, so that the page does not continue the entries.
      if (this.#end !== from) return
      const last = page.length < pageEntries ? undefined : page.at(-1)
      this.#end = last === undefined ? this.#range.lt : Buffer.concat([last[0], oneByte])
      for (const [key, job] of [...page, ...added]) this.add(key, job)
    } finally {
      this.#added = null
    }
  }

  #dropLast(): void {
    const last = this.#entries.lastKey()
    if (last === undefined) return
    this.#entries.delete(last)
    this.#end = last
  }
}

const oneByte = Buffer.alloc(1)
