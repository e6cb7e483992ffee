import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Kv, KvCommit } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { ApiError } from '../errors.ts'
import { FairSemaphore } from '../jobs/fair-semaphore.ts'
import type { Log } from '../log.ts'
import { type AuditScope, auditId, auditKeys, auditPart } from './keys.ts'
import { type AuditPage, type AuditQuery, type AuditRange, listRecords } from './listing.ts'
import { type AuditedIds, type AuditRecord, success, unknownOutcome } from './record.ts'

export type NewRecord = Pick<AuditRecord, 'operation' | 'actor'> & Partial<Omit<AuditRecord, 'id' | 'at'>>

/** A record of something that is going on. */
export interface OpenAuditRecord {
  /** Resolves when the record is durable. @throws StoreUnavailableError when that is unknown */
  readonly stored: Promise<void>
  /** Adds what came of it, and the ids that were made; nobody waits for that to be durable. */
  end(end: Ending): void
}

export interface Ending {
  readonly outcome: string
  /** Ids that were made. */
  readonly made?: AuditedIds
  readonly replayed?: boolean
}

type CommitPace = NonNullable<KvCommit['pace']>

export interface AuditLogOptions {
  readonly kv: Kv
  readonly clock: Clock
  readonly log: Log
}

const blank = {
  apiKey: null,
  clientAddress: null,
  requestId: null,
  outcome: unknownOutcome,
  ids: {},
  idsLeftOut: 0,
  idempotencyKeyHash: null,
  replayed: false,
  refusals: null,
} satisfies Partial<AuditRecord>

/** Pages that are read at the same time: one that few records fit costs as much as looking at thousands. */
const readAtOnce = { total: 2, each: 1 }

/**
 * Who did what, when. A record is begun before its call is carried out: engines write in the order in which they are
 * asked, so no change is on the disk without the record of it, and a call whose answer waits for its own commit waits
 * for nothing more. What came of the call is written after it: a crash can lose that (`UNKNOWN`), never the record.
 */
export class AuditLog {
  readonly #options: AuditLogOptions
  /** Tells the records of this process from those of others. */
  readonly #process = randomBytes(4).toString('hex')
  readonly #ending = new Set<Promise<unknown>>()
  readonly #reading = new FairSemaphore(readAtOnce)
  #count = 0

  constructor(options: AuditLogOptions) {
    this.#options = options
  }

  /** Its record is on its way to the disk, ahead of whatever is written a turn of the event loop later. */
  begin(place: AuditScope, entry: NewRecord): OpenAuditRecord {
    const at = this.#options.clock.now()
    const record: AuditRecord = { ...blank, ...entry, id: this.#id(at), at }
    const stored = this.#put(place, record, 'soon')
    let pace: CommitPace = 'now'
    const settled = () => {
      pace = 'soon'
    }
    // Whoever does not come to wait for it fails by the same store.
    stored.then(settled, settled)
    return {
      stored,
      // Where the call itself has written nothing, the end takes the beginning along.
      end: ({ outcome, made = {}, replayed = false }) =>
        this.#end(place, { ...record, outcome, replayed, ids: { ...record.ids, ...made } }, pace),
    }
  }

  /** For what has happened; several at once are one commit. Resolves when durable. @throws StoreUnavailableError */
  async add(place: AuditScope, entries: readonly NewRecord[]): Promise<void> {
    const at = this.#options.clock.now()
    const records = entries.map((entry) => ({
      ...blank,
      outcome: success,
      ...entry,
      id: this.#id(at),
      at,
    }))
    await this.#options.kv.commit(auditPart(place), { puts: records.map(entryOf) })
  }

  /**
   * Carries out a change of the operator. Its record is durable before the change, and its outcome is durable after it.
   * @throws what `work` throws; StoreUnavailableError
   */
  async carryOut<T>(place: AuditScope, entry: NewRecord, work: () => Promise<T>): Promise<T> {
    const at = this.#options.clock.now()
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

  /** What came of calls that have been answered is in it. */
  async list(place: AuditScope, query: AuditQuery, range: AuditRange): Promise<AuditPage> {
    await Promise.all(this.#ending)
    const part = auditPart(place)
    return this.#reading.run(keyName(part), () => listRecords(this.#options.kv, part, query, range))
  }

  async #put(place: AuditScope, record: AuditRecord, pace: CommitPace): Promise<void> {
    await this.#options.kv.commit(auditPart(place), { puts: [entryOf(record)], pace })
  }

  #end(place: AuditScope, record: AuditRecord, pace: CommitPace): void {
    const ending = this.#put(place, record, pace)
      .catch((err: unknown) =>
        this.#options.log.warn({ err, auditId: record.id }, 'what came of a call is not in the audit log'),
      )
      .finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  /** In the order in which they are made, within a millisecond too. */
  #id(at: number): string {
    this.#count += 1
    return auditId(at, this.#count.toString(36).padStart(8, '0') + this.#process)
  }
}

/** A change that failed without a status of ours may have been made. */
const outcomeOf = (error: unknown): string => (error instanceof ApiError ? error.status : unknownOutcome)

const entryOf = (record: AuditRecord) => ({
  key: auditKeys.record(record.id),
  value: Buffer.from(JSON.stringify(record)),
})
