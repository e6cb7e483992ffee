import { DamagedRecordError } from '../../damaged-record.ts'
import type { JobRecord } from '../../job-state.ts'
import {
  type ByteRange,
  decodeKey,
  decodeNumber,
  encodeKey,
  encodeNumber,
  rangeOf,
} from '../../key-encoding.ts'
import { dueKey, dueSpace, dueTimeBytes } from '../../pairs/due-keys.ts'
import { decodeJob, encodeJob } from '../../pairs/job-records.ts'
import { inKeyspace, keyspaces } from '../../pairs/keyspaces.ts'
import type { LevelCore } from '../store/level-core.ts'
import { type CacheEntry, known, WriteThroughCache } from '../store/write-through-cache.ts'
import { DueIndex, type DueJob, type StoredDueJob } from './due-index.ts'

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
    const formerDue = before && dueKey(queue, before.at, id)
    const after = record && {
      value: encodeJob(stored, record),
      due: dueKey(queue, record.at, id),
      at: record.at,
    }
    const index = this.#indexOf(queue)
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
    const before = Buffer.concat([dueSpace(queue), encodeNumber(Math.floor(now) + 1)])
    return this.#indexOf(queue).first(before, limit)
  }

  /** Removes an entry of the index that is outdated: its job does not exist, or is due at another time. */
  forgetDue(queue: string, { at, id }: DueJob): void {
    const key = dueKey(queue, at, id)
    this.#core.commit.delete(key)
    this.#indexOf(queue).delete(key)
  }

  /** Evicts all cached jobs. Call this method after a write with unknown outcome. */
  forget(): void {
    this.#cells.forget()
    this.#due.clear()
  }

  #indexOf(queue: string): DueIndex {
    const known = this.#due.get(queue)
    if (known !== undefined) return known
    const space = dueSpace(queue)
    const index = new DueIndex(rangeOf(space), (range, limit) => this.#readDue(space.length, range, limit))
    this.#due.set(queue, index)
    return index
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
    const { queue, id } = cell.key
    this.pin(queue, id)
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
