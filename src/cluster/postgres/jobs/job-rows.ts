import { asBuffer } from '../../../core/base/bytes.ts'
import type { Job } from '../../../core/store/engine.ts'
import { enqueueJob, type JobRecord } from '../../../core/store/job-state.ts'
import { decodeKey, encodeKey } from '../../../core/store/key-encoding.ts'
import type { StoreClock } from '../cluster/database-clock.ts'
import { bytesArray, numberArray, plainArray } from '../connection/arrays.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import type { Write } from '../connection/sql-transaction.ts'

/** A row of the table of jobs. */
export interface StoredJob {
  readonly queue: Buffer
  readonly id: Buffer
  readonly due: number
  readonly attempt: number
  readonly lease: string
  readonly payload: Buffer
  readonly error: Buffer
  readonly next_due: number | null
  readonly next_payload: Buffer | null
}

export const jobColumns = 'queue, id, due, attempt, lease, payload, error, next_due, next_payload'

/**
 * Statement that locks rows in the order of the given keys. This order must be the same in all transactions.
 */
const lockJobs = statement<StoredJob>(
  'lock-jobs',
  `select j.* from unnest($1::bytea[], $2::bytea[]) with ordinality as k(queue, id, at)
   cross join lateral (select ${jobColumns} from job where job.queue = k.queue and job.id = k.id for update) j`,
)
/**
 * Statement that locks due jobs, starting with the jobs that have been due the longest. Skips rows that
 * another transaction is changing.
 */
const lockDue = statement<StoredJob>(
  'lock-due',
  `select ${jobColumns} from job where queue = $1 and due <= $2 order by due, id limit $3 for update skip locked`,
)
const given = `unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::int[], $5::text[], $6::bytea[], $7::bytea[],
  $8::bigint[], $9::bytea[])`
const makeJobs = statement('make-jobs', `insert into job (${jobColumns}) select * from ${given}`)
const changeJobs = statement(
  'change-jobs',
  `update job j set due = u.due, attempt = u.attempt, lease = u.lease, payload = u.payload, error = u.error,
     next_due = u.next_due, next_payload = u.next_payload
   from ${given} as u(${jobColumns})
   where j.queue = u.queue and j.id = u.id`,
)
const removeJobs = statement(
  'remove-jobs',
  'delete from job j using unnest($1::bytea[], $2::bytea[]) as u(queue, id) where j.queue = u.queue and j.id = u.id',
)

const moveJobToDeadLetters = statement(
  'bury-job',
  `insert into buried values ($1, $2, $3, $4, $5)
   on conflict (queue, id) do update set at = excluded.at, payload = excluded.payload, error = excluded.error`,
)

/** Returns the job that a row contains. */
export const jobRecordOf = (stored: StoredJob): JobRecord => ({
  at: stored.due,
  attempt: stored.attempt,
  lease: stored.lease,
  payload: stored.payload,
  error: stored.error.toString(),
  next:
    stored.next_due === null
      ? null
      : { at: stored.next_due, payload: stored.next_payload ?? Buffer.alloc(0) },
})

const nameBytes = (name: string): Buffer => encodeKey([name])

/** The state of a job in a transaction: the stored record (`before`) and the new record (`after`). */
interface JobCell {
  readonly queue: Buffer
  readonly id: Buffer
  readonly before: JobRecord | null
  after: JobRecord | null
}

const cellName = (queue: Buffer, id: Buffer): string => `${queue.toString('hex')}/${id.toString('hex')}`

/** The jobs that one transaction reads or changes. Their rows are locked in a fixed order. */
export class JobRows {
  readonly #cells = new Map<string, JobCell>()

  private constructor(cells: Iterable<JobCell>) {
    for (const cell of cells) this.#cells.set(cellName(cell.queue, cell.id), cell)
  }

  static async lock(
    session: DatabaseSession,
    names: readonly { queue: string; id: string }[],
  ): Promise<JobRows> {
    const cells = new Map<string, JobCell>()
    for (const { queue, id } of names) {
      const cell = { queue: nameBytes(queue), id: nameBytes(id), before: null, after: null }
      cells.set(cellName(cell.queue, cell.id), cell)
    }
    if (cells.size === 0) return new JobRows([])
    const sorted = [...cells.values()].sort(
      (a, b) => Buffer.compare(a.queue, b.queue) || Buffer.compare(a.id, b.id),
    )
    const stored = await session.rows(lockJobs, keysOf(sorted))
    const found = new Map(stored.map((row) => [cellName(row.queue, row.id), cellOf(row)]))
    return new JobRows(sorted.map((cell) => found.get(cellName(cell.queue, cell.id)) ?? cell))
  }

  static async lockDue(
    session: DatabaseSession,
    queue: string,
    now: number,
    count: number,
  ): Promise<JobRows> {
    const stored = await session.rows(lockDue, [nameBytes(queue), now, count])
    return new JobRows(stored.map(cellOf))
  }

  /** Ids of the jobs, in the order in which they were locked. */
  get ids(): readonly string[] {
    return [...this.#cells.values()].map(({ id }) => decodeKey(id)[0] ?? '')
  }

  get(queue: string, id: string): JobRecord | null {
    return this.#cell(queue, id).after
  }

  set(queue: string, id: string, record: JobRecord | null): void {
    this.#cell(queue, id).after = record
  }

  enqueue(jobs: readonly Job[], clock: StoreClock): void {
    const now = clock.now()
    for (const given of jobs) {
      const job = { ...given, at: clock.of(given.at) }
      this.set(job.queue, job.id, enqueueJob(this.get(job.queue, job.id), job, now))
    }
  }

  write(write: Write): void {
    const changed = [...this.#cells.values()].filter(({ before, after }) => before !== after)
    const made = changed.filter(({ before }) => before === null)
    const removed = changed.filter(({ after }) => after === null)
    const others = changed.filter(({ before, after }) => before !== null && after !== null)
    if (made.length > 0) write((session) => session.rows(makeJobs, valuesOf(made)))
    if (others.length > 0) write((session) => session.rows(changeJobs, valuesOf(others)))
    if (removed.length > 0) write((session) => session.rows(removeJobs, keysOf(removed)))
  }

  #cell(queue: string, id: string): JobCell {
    const cell = this.#cells.get(cellName(nameBytes(queue), nameBytes(id)))
    if (cell === undefined) throw new Error('a job that was not asked for')
    return cell
  }
}

function cellOf(stored: StoredJob): JobCell {
  const record = jobRecordOf(stored)
  return { queue: stored.queue, id: stored.id, before: record, after: record }
}

/** Adds jobs that the table does not have. */
export function insertJobs(
  jobs: readonly { readonly queue: string; readonly id: string; readonly record: JobRecord }[],
  write: Write,
): void {
  const cells = jobs.map(({ queue, id, record }) => ({
    queue: nameBytes(queue),
    id: nameBytes(id),
    before: null,
    after: record,
  }))
  if (cells.length > 0) write((session) => session.rows(makeJobs, valuesOf(cells)))
}

export function moveToDeadLetters(
  { queue, id }: { queue: string; id: string },
  record: JobRecord,
  write: Write,
): void {
  const { at, payload, error } = record
  const values = [nameBytes(queue), nameBytes(id), at, asBuffer(payload), Buffer.from(error)]
  write((session) => session.rows(moveJobToDeadLetters, values))
}

const keysOf = (cells: readonly JobCell[]): string[] => [
  bytesArray(cells.map(({ queue }) => queue)),
  bytesArray(cells.map(({ id }) => id)),
]

function valuesOf(cells: readonly JobCell[]): string[] {
  const records = cells.flatMap(({ after }) => after ?? [])
  return [
    ...keysOf(cells),
    numberArray(records.map(({ at }) => at)),
    numberArray(records.map(({ attempt }) => attempt)),
    plainArray(records.map(({ lease }) => lease)),
    bytesArray(records.map(({ payload }) => payload)),
    bytesArray(records.map(({ error }) => Buffer.from(error))),
    `{${records.map(({ next }) => next?.at ?? 'NULL').join(',')}}`,
    bytesArray(records.map(({ next }) => next?.payload ?? null)),
  ]
}
