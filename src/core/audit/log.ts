import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { ApiError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { Kv, KvCommit } from '../store/engine.ts'
import { keyName } from '../store/key-encoding.ts'
import { type AuditPage, type AuditQuery, type AuditRange, listRecords } from './listing.ts'
import {
  type AuditedIds,
  type AuditRecord,
  type AuditScope,
  auditId,
  auditKeys,
  auditPart,
  success,
  unknownOutcome,
} from './record.ts'

export type NewRecord = Pick<AuditRecord, 'operation' | 'actor'> & Partial<Omit<AuditRecord, 'id' | 'at'>>

/** The record of a call that has not ended yet. */
export interface OpenAuditRecord {
  /**
   * Resolves when the record is durable.
   * @throws StoreUnavailableError if it is unknown whether the record is durable
   */
  readonly stored: Promise<void>
  /**
   * Adds the outcome of the call, and the ids that the call created. Does not wait until they are durable.
   */
  end(end: Ending): void
}

export interface Ending {
  readonly outcome: string
  /** Ids of the resources that the call created. */
  readonly made?: AuditedIds
  readonly replayed?: boolean
}

type CommitPace = NonNullable<KvCommit['pace']>

const blank = {
  apiKey: null,
  agent: null,
  tool: null,
  clientAddress: null,
  requestId: null,
  outcome: unknownOutcome,
  ids: {},
  idsLeftOut: 0,
  idempotencyKeyHash: null,
  replayed: false,
  refusals: null,
} satisfies Partial<AuditRecord>

/**
 * Maximum number of listings at the same time, in total and for each log. The numbers are low, because one
 * page may read thousands of records.
 */
const readAtOnce = { total: 2, each: 1 }

/**
 * Records who did what, and when. The record of a call is written before the call runs. An engine stores
 * writes in the order in which they are requested, so no change is on disk without its record. A call that
 * waits for its own commit does not wait longer because of the record. The outcome is written after the call.
 * A crash can lose the outcome (`UNKNOWN`), but never the record.
 */
export class AuditLog {
  readonly #kv: Kv
  readonly #clock: Clock
  readonly #log: Log
  /** Random part of the ids of this process. It distinguishes them from the ids of other processes. */
  readonly #process = randomBytes(4).toString('hex')
  readonly #ending = new Set<Promise<unknown>>()
  readonly #reading = new Semaphore(readAtOnce)
  #count = 0

  constructor(kv: Kv, clock: Clock, log: Log) {
    this.#kv = kv
    this.#clock = clock
    this.#log = log
  }

  /**
   * Starts to write the record of a call. The engine stores the record before all writes that are requested
   * in later ticks of the event loop.
   */
  begin(place: AuditScope, entry: NewRecord): OpenAuditRecord {
    const at = this.#clock.now()
    const record: AuditRecord = { ...blank, ...entry, id: this.#id(at), at }
    const stored = this.#put(place, record, 'soon')
    let pace: CommitPace = 'now'
    const settled = () => {
      pace = 'soon'
    }
    // The second argument also handles the rejection, so that it does not count as unhandled if a caller does
    // not wait for `stored`. Such a caller notices the failure by its own write to the same store.
    stored.then(settled, settled)
    return {
      stored,
      // Writes the outcome. If the record is not written yet, one commit writes the record and the outcome.
      end: ({ outcome, made = {}, replayed = false }) =>
        this.#end(place, { ...record, outcome, replayed, ids: { ...record.ids, ...made } }, pace),
    }
  }

  /**
   * Adds records of actions that are already completed, in one commit. Resolves when the records are durable.
   * @throws StoreUnavailableError
   */
  async add(place: AuditScope, entries: readonly NewRecord[]): Promise<void> {
    const at = this.#clock.now()
    const records = entries.map((entry) => ({
      ...blank,
      outcome: success,
      ...entry,
      id: this.#id(at),
      at,
    }))
    await this.#kv.commit(auditPart(place), { puts: records.map(entryOf) })
  }

  /**
   * Runs a change of the operator, and records it. The record is durable before the change starts. The
   * outcome is durable when the returned promise resolves.
   * @throws StoreUnavailableError, and the errors of `work`
   */
  async carryOut<T>(place: AuditScope, entry: NewRecord, work: () => Promise<T>): Promise<T> {
    const at = this.#clock.now()
    const record: AuditRecord = { ...blank, ...entry, id: this.#id(at), at }
    await this.#put(place, record, 'now')
    let done: T
    try {
      done = await work()
    } catch (error) {
      await this.#put(place, { ...record, outcome: outcomeOf(error) }, 'now')
      throw error
    }
    await this.#put(place, { ...record, outcome: success }, 'now')
    return done
  }

  /**
   * Returns a page of a log. The page includes the outcomes of all calls that have been answered.
   * @throws CorruptRecordError
   */
  async list(place: AuditScope, query: AuditQuery, range: AuditRange): Promise<AuditPage> {
    await Promise.all(this.#ending)
    const part = auditPart(place)
    return this.#reading.run(keyName(part), () => listRecords(this.#kv, part, query, range))
  }

  async #put(place: AuditScope, record: AuditRecord, pace: CommitPace): Promise<void> {
    await this.#kv.commit(auditPart(place), { puts: [entryOf(record)], pace })
  }

  #end(place: AuditScope, record: AuditRecord, pace: CommitPace): void {
    const ending = this.#put(place, record, pace)
      .catch((err: unknown) =>
        this.#log.warn(
          { err, auditId: record.id },
          'could not record the outcome of a call in the audit log',
        ),
      )
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  /** Creates an id. Ids sort in the order in which they were created, even within one millisecond. */
  #id(at: number): string {
    this.#count += 1
    return auditId(at, this.#count.toString(36).padStart(8, '0') + this.#process)
  }
}

/**
 * Returns the status of an error as the outcome. For an error without a status, it is unknown whether the
 * change was made.
 */
const outcomeOf = (error: unknown): string => (error instanceof ApiError ? error.status : unknownOutcome)

const entryOf = (record: AuditRecord) => ({
  key: auditKeys.record(record.id),
  value: Buffer.from(JSON.stringify(record)),
})
