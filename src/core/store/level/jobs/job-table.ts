import { memoized } from '../../../base/maps.ts'
import type { JobRecord } from '../../job-state.ts'
import {
  type ByteRange,
  decodeKey,
  decodeNumber,
  encodeKey,
  encodeNumber,
  rangeOf,
} from '../../key-encoding.ts'
import { decodeJob, dueKey, dueSpace, dueTimeBytes, encodeJob } from '../../pairs/job-records.ts'
import { inKeyspace, keyspaces } from '../../pairs/keyspaces.ts'
import { SortedMap } from '../../sorted-map.ts'
import { DamagedRecordError } from '../../stored-record.ts'
import type { LevelCore } from '../store/level-core.ts'
import { type CacheEntry, known, WriteThroughCache } from '../store/write-through-cache.ts'

/** Queue and id of a job, and its key in the store. */
interface JobKey {
  readonly queue: string
  readonly id: string
  readonly stored: Buffer
}

export type JobCell = CacheEntry<JobRecord | null, JobKey>

const nothing = Buffer.alloc(0)
/**
 * Maximum number of jobs that stay cached while no call uses them, so that a job is not read again between its
 * enqueue, its claim and its end. Each cached job takes about 1 KB.
 */
const idleJobsMax = 500
/** Maximum payload of a job that stays cached, in bytes. */
const idlePayloadMax = 1_024

/**
 * Stored jobs by id, and an index of their due times. A leased job is due at the end of its lease. So if the
 * holder of a lease has died, the job becomes due without further action.
 */
export class JobTable {
  readonly #core: LevelCore
  readonly #cells: WriteThroughCache<JobRecord | null, JobKey>
  /** The due times of each queue. */
  readonly #due = new Map<string, DueIndex>()

  constructor(core: LevelCore) {
    this.#core = core
    this.#cells = new WriteThroughCache(
      (key) => this.#read(key),
      idleJobsMax,
      (job) => job === null || (job.payload.length <= idlePayloadMax && job.next === null),
    )
  }

  /**
   * Returns the cell of a job and pins the cell. The record is loaded when `cell.ready` resolves. The caller
   * must unpin the cell.
   */
  pin(queue: string, id: string): JobCell {
    const stored = inKeyspace(keyspaces.jobs, encodeKey([queue, id]))
    return this.#cells.pin(stored.toString('latin1'), () => ({ queue, id, stored }))
  }

  /** Like `pin`, for a job whose id was never used before. Its cell is ready, and nothing is read. */
  pinNew(queue: string, id: string): JobCell {
    const stored = inKeyspace(keyspaces.jobs, encodeKey([queue, id]))
    return this.#cells.hold(stored.toString('latin1'), { queue, id, stored }, null)
  }

  unpin(cell: JobCell): void {
    this.#cells.unpin(cell)
  }

  /**
   * Adds the new record of a job to the group commit. If `record` is null, the job is removed. The cell must
   * be ready.
   */
  write(cell: JobCell, record: JobRecord | null): void {
    this.prepare(cell, record)()
  }

  /**
   * Like `write`, but in two steps. `prepare` encodes the record and may throw. The returned function adds
   * the record to the group commit and never throws.
   */
  prepare(cell: JobCell, record: JobRecord | null): () => void {
    const { queue, id, stored } = cell.key
    const before = known(cell)
    const index = this.#indexOf(queue)
    const formerDue = before && dueKey(index.space, before.at, id)
    const after = record && {
      value: encodeJob(stored, record),
      due: dueKey(index.space, record.at, id),
      at: record.at,
    }
    return () => {
      if (formerDue !== null) {
        this.#core.commit.delete(formerDue)
        index.delete(formerDue)
      }
      if (after === null) this.#core.commit.delete(stored)
      else {
        this.#core.commit.put(stored, after.value)
        this.#core.commit.put(after.due, nothing)
      }
      this.#pinUntilDurable(cell, () => {
        if (after !== null) index.add(after.due, { id, at: after.at })
      })
      this.#cells.set(cell, record)
    }
  }

  /** Adds a copy of the job to the group commit as a dead letter. No consumer claims dead letters. */
  putAside({ queue, id }: JobKey, record: JobRecord, lease: string): void {
    const key = inKeyspace(keyspaces.deadLetters, encodeKey([queue, id, lease]))
    this.#core.commit.put(key, encodeJob(key, record))
  }

  /** Returns up to `limit` entries of the index that are due at `now`, in the order of their due times. */
  due(queue: string, now: number, limit: number): Promise<readonly DueJob[]> {
    const index = this.#indexOf(queue)
    return index.first(Buffer.concat([index.space, encodeNumber(Math.floor(now) + 1)]), limit)
  }

  /** Removes an entry of the index that is outdated: its job does not exist, or is due at another time. */
  forgetDue(queue: string, { at, id }: DueJob): void {
    const index = this.#indexOf(queue)
    const key = dueKey(index.space, at, id)
    this.#core.commit.delete(key)
    index.delete(key)
  }

  /** Evicts all cached jobs. Call this method after a write with unknown outcome. */
  forget(): void {
    this.#cells.forget()
    this.#due.clear()
  }

  #indexOf(queue: string): DueIndex {
    return memoized(this.#due, queue, () => {
      const space = dueSpace(queue)
      return new DueIndex(space, (range, limit) => this.#readDue(space.length, range, limit))
    })
  }

  #readDue(spaceBytes: number, range: ByteRange, limit: number): Promise<readonly StoredDueJob[]> {
    return this.#core.disk.read(async (store) => {
      const found: StoredDueJob[] = []
      for await (const page of store.pages(range, { limit, values: false })) {
        for (const [key] of page) {
          const [id = ''] = decodeKey(key.subarray(spaceBytes + dueTimeBytes))
          found.push([key, { at: decodeNumber(key, spaceBytes), id }])
        }
      }
      return found
    })
  }

  #pinUntilDurable(cell: JobCell, written: () => void): void {
    this.#cells.pinAgain(cell)
    const lost = () => this.#cells.unpin(cell)
    const durable = () => {
      written()
      lost()
    }
    this.#core.commit.wait({ durable, lost })
  }

  /**
   * Reads a job. Returns null if the job is missing or damaged. A damaged job cannot be run. It counts as
   * missing, so that its queue continues and commits that refer to the job do not fail.
   */
  async #read({ queue, id, stored }: JobKey): Promise<JobRecord | null> {
    const value = await this.#core.disk.read((store) => store.get(stored))
    if (value === undefined) return null
    try {
      return decodeJob(stored, value)
    } catch (error) {
      if (!(error instanceof DamagedRecordError)) throw error
      this.#core.log?.error({ err: error, queue, id }, 'a damaged job is dropped')
      return null
    }
  }
}

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
type StoredDueJob = readonly [key: Buffer, job: DueJob]

/**
 * The jobs of one queue in the order of their due times. The first entries are in memory, because a read of
 * the store would have to skip the many entries that were just deleted. An entry may be outdated: its job may
 * not exist any more, or may be due at another time.
 */
class DueIndex {
  /** Prefix of the keys of all entries of the queue. */
  readonly space: Buffer
  /** Range of these keys. */
  readonly #range: ByteRange
  /** Reads up to `limit` entries of a range from the store, in the order of their keys. */
  readonly #read: (range: ByteRange, limit: number) => Promise<readonly StoredDueJob[]>
  readonly #entries = new SortedMap<DueJob>()
  /** All entries before this key are in memory. */
  #end: Buffer
  /** Entries that were added while a page is being read; null if no page is being read. */
  #added: StoredDueJob[] | null = null
  #reading: Promise<void> | null = null

  constructor(space: Buffer, read: (range: ByteRange, limit: number) => Promise<readonly StoredDueJob[]>) {
    this.space = space
    this.#range = rangeOf(space)
    this.#read = read
    this.#end = this.#range.gte
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
