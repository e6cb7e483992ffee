import { createHash } from 'node:crypto'
import { isSameBytes } from '../../../core/base/bytes.ts'
import type { Job, KvCommit } from '../../../core/store/engine.ts'
import { countersOf } from '../../../core/store/fences.ts'
import { checkJobs, copyOfJob } from '../../../core/store/job-state.ts'
import { encodeKey } from '../../../core/store/key-encoding.ts'
import type { StoreClock } from '../cluster/database-clock.ts'
import { bytesArray, packBytes } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { allSettled, type DatabaseSession, statement } from '../connection/database-session.ts'
import { GroupCommitQueue, type QueuedWrite } from '../connection/group-commit-queue.ts'
import type { Write } from '../connection/sql-transaction.ts'
import { JobRows } from '../jobs/job-rows.ts'
import type { PostgresFences } from './fences.ts'

/**
 * Statement that locks partitions. The lock of a partition also protects its absent keys, because nothing in
 * a partition changes without its lock.
 */
const lockParts = statement(
  'lock-parts',
  'select pg_advisory_xact_lock(lock) from unnest($1::bigint[]) as l(lock)',
)
const readChecked = statement<{ part: Buffer; key: Buffer; value: Buffer }>(
  'read-checked',
  `select v.part, v.key, v.value from unnest($1::bytea[], $2::bytea[]) as k(part, key)
   join kv v on v.part = k.part and v.key = k.key`,
)
const putValues = statement(
  'put-values',
  `insert into kv select u.part, u.key, substr($5::bytea, u.start, u.size)
   from unnest($1::bytea[], $2::bytea[], $3::int[], $4::int[]) as u(part, key, start, size)
   on conflict (part, key) do update set value = excluded.value`,
)
const removeValues = statement(
  'remove-values',
  `delete from kv v using unnest($1::bytea[], $2::bytea[]) as u(part, key)
   where v.part = u.part and v.key = u.key`,
)

/** The expected or new value of a key. `value` is null if the key is absent. */
interface Value {
  readonly name: string
  readonly part: Buffer
  readonly key: Buffer
  readonly value: Uint8Array | null
}

const nameOf = (part: Buffer, key: Buffer): string =>
  `${part.toString('latin1')}\u0001${key.toString('latin1')}`

/** One call of `commit`, until its promise settles. The constructor copies the arguments of the call. */
export class PendingCommit implements QueuedWrite {
  readonly part: Buffer
  readonly line: string
  readonly checks: readonly Value[]
  readonly writes: readonly Value[]
  readonly jobs: readonly Job[]
  /** Counters of the fences that the commit raises. */
  readonly fences: readonly number[]
  readonly ended: Promise<boolean>
  held = false
  isDurable = false
  #resolve!: (held: boolean) => void
  #reject!: (error: unknown) => void

  /** @throws RangeError, TypeError if a transaction cannot write the values */
  constructor(part: Buffer, { checks = [], puts = [], dels = [], jobs = [], fences = [] }: KvCommit) {
    checkJobs(jobs)
    const valueAt = (key: Buffer, value: Uint8Array | null): Value => {
      return { name: nameOf(part, key), part, key, value: value && new Uint8Array(value) }
    }
    this.part = part
    this.line = part.toString('latin1')
    this.checks = checks.map(({ key, value }) => valueAt(encodeKey(key), value))
    this.writes = [
      ...puts.map(({ key, value }) => valueAt(encodeKey(key), value)),
      ...dels.map((key) => valueAt(encodeKey(key), null)),
    ]
    this.jobs = jobs.map(copyOfJob)
    this.fences = countersOf(fences)
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  get bytes(): number {
    return this.writes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
  }

  durable(): void {
    this.isDurable = true
    this.#resolve(this.held)
  }

  lost(error: unknown): void {
    this.#reject(error)
  }
}

/**
 * Writes commits of the Kv. One transaction contains commits of many partitions. The checks of each commit
 * decide whether that commit is written.
 */
export class KvCommitQueue {
  readonly #database: PostgresDatabase
  readonly #clock: StoreClock
  readonly #schema: string
  readonly #fences: PostgresFences
  readonly #calls = new GroupCommitQueue<PendingCommit>((group) => this.#write(group))

  constructor(
    database: PostgresDatabase,
    { clock, schema, fences }: { clock: StoreClock; schema: string; fences: PostgresFences },
  ) {
    this.#database = database
    this.#clock = clock
    this.#schema = schema
    this.#fences = fences
  }

  add(call: PendingCommit): void {
    this.#calls.add(call)
  }

  async #write(group: readonly PendingCommit[]): Promise<void> {
    const parts = new Map(group.map(({ line, part }) => [line, part]))
    const locks = [...new Set([...parts.values()].map((part) => this.#lockOf(part)))]
    locks.sort((a, b) => (a < b ? -1 : 1))
    const jobs = group.flatMap((call) => call.jobs)
    await this.#database.write({
      ask: async (session) => {
        const locked = session.rows(lockParts, [`{${locks.join(',')}}`])
        const [, , values, jobRows] = await allSettled([
          locked,
          this.#fences.lock(
            session,
            group.flatMap(({ fences }) => fences),
          ),
          readValues(
            session,
            group.flatMap(({ checks }) => checks),
          ),
          JobRows.lock(session, jobs),
        ])
        return { values, jobRows }
      },
      act: ({ values, jobRows }, write) => {
        const written = new Map<string, Value>()
        for (const call of group) {
          const stored = (name: string) => (written.get(name) ?? values.get(name))?.value ?? null
          call.held = call.checks.every(({ name, value }) => isSameBytes(stored(name), value))
          if (!call.held) continue
          for (const value of call.writes) written.set(value.name, value)
          jobRows.enqueue(call.jobs, this.#clock)
        }
        writeValues([...written.values()], write)
        jobRows.write(write)
        this.#fences.raise(raisedBy(group), write)
      },
    })
    this.#fences.raisedHere(raisedBy(group))
  }

  /**
   * Returns the number of the lock of a partition. Two partitions may have the same lock; transactions that
   * write to them then wait for each other.
   */
  #lockOf(part: Buffer): bigint {
    return createHash('sha256').update(this.#schema).update('\0').update(part).digest().readBigInt64BE(0)
  }
}

async function readValues(session: DatabaseSession, wanted: readonly Value[]): Promise<Map<string, Value>> {
  if (wanted.length === 0) return new Map()
  const unique = [...new Map(wanted.map((value) => [value.name, value])).values()]
  const stored = await session.rows(readChecked, keysOf(unique))
  return new Map(stored.map((row) => [nameOf(row.part, row.key), { ...row, name: '' }]))
}

function writeValues(values: readonly Value[], write: Write): void {
  const puts = values.filter(({ value }) => value !== null)
  const removed = values.filter(({ value }) => value === null)
  if (puts.length > 0) {
    const { bytes, starts, sizes } = packBytes(puts.flatMap(({ value }) => value ?? []))
    write((session) => session.rows(putValues, [...keysOf(puts), starts, sizes, bytes]))
  }
  if (removed.length > 0) write((session) => session.rows(removeValues, keysOf(removed)))
}

const raisedBy = (group: readonly PendingCommit[]): readonly number[] =>
  group.flatMap(({ held, fences }) => (held ? fences : []))

const keysOf = (values: readonly Value[]): string[] => [
  bytesArray(values.map(({ part }) => part)),
  bytesArray(values.map(({ key }) => key)),
]
