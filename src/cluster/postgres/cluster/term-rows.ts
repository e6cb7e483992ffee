import { createHash } from 'node:crypto'
import type { Term } from '../../../core/store/engine.ts'
import { numberArray } from '../connection/arrays.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import { deadMs } from './node-rows.ts'

/** Maximum time in ms to wait for an answer. No statement waits for a lock of an append. */
const patienceMs = 5_000

const isDead = `not exists (
  select from node n
  where n.incarnation = t.holder and n.heard_at > statement_timestamp() - ${deadMs} * interval '1 ms'
)`

/**
 * Statement that takes buckets that no live node holds, each in a new term. It leaves out a bucket while an append in
 * its last term is in progress (`blocked`). The time of the start of the statement decides which nodes are dead: a node
 * whose heartbeat the statement does not see gets the answer to this heartbeat too late, and notices that. Parameters: $1 buckets, $2 holder, $3 first lock.
 */
const take = statement<{ taken: readonly (readonly [bucket: number, term: number])[]; blocked: boolean }>(
  'take-terms',
  `with free as materialized (
     select t.bucket, t.term from term t
     where t.bucket = any($1::int[]) and (t.holder is null or t.holder = $2 or ${isDead})
   ), locked as materialized (
     select bucket, term from free where pg_try_advisory_xact_lock($3::bigint + bucket)
   ), taken as (
     update term t set term = t.term + 1, holder = $2
     from locked l where t.bucket = l.bucket and t.term = l.term
     returning t.bucket, t.term
   )
   select (select coalesce(json_agg(json_build_array(bucket, term)), '[]') from taken) as taken,
     (select count(*) from free) > (select count(*) from locked) as blocked`,
  patienceMs,
)
/**
 * Statement that ends the connections of dead nodes whose appends keep other nodes from taking buckets. A process that
 * was stopped in the middle of a transaction would keep its locks until the transaction times out.
 */
const disconnectDead = statement(
  'disconnect-dead',
  `select pg_terminate_backend(l.pid)
   from (
     select pid, (classid::bigint << 32) | objid::bigint as lock from pg_locks
     where locktype = 'advisory' and objsubid = 1 and granted and mode = 'ShareLock'
       and database = (select oid from pg_database where datname = current_database())
   ) l join term t on $1::bigint + t.bucket = l.lock
   where t.holder is not null and ${isDead}`,
  patienceMs,
)
const release = statement(
  'release-terms',
  `update term t set holder = null
   from unnest($1::int[], $2::bigint[]) as u(bucket, term)
   where t.bucket = u.bucket and t.term = u.term and t.holder = $3`,
  patienceMs,
)
const readHeld = statement<{ bucket: number; term: number }>(
  'read-terms',
  'select bucket, term from term where holder = $1',
  patienceMs,
)
const readCurrent = statement<{ bucket: number; term: number }>(
  'read-current-terms',
  'select bucket, term from term where bucket = any($1::int[]) and holder = $2',
)

/** The terms of one process in the table `term`. */
export class TermRows {
  readonly #holder: string
  /** Number of the advisory lock of bucket 0. The locks of the other buckets follow it. */
  readonly #firstLock: bigint

  /** @param holder incarnation of the process */
  constructor(schema: string, holder: string) {
    this.#holder = holder
    this.#firstLock =
      createHash('sha256').update(schema).update('\0term').digest().readBigInt64BE(0) & ~0xffffn
  }

  /**
   * Takes buckets that no live node holds. Returns the new terms. If dead nodes block further buckets, ends their
   * connections, so that a later call can take these buckets.
   */
  async take(session: DatabaseSession, buckets: readonly number[]): Promise<readonly Term[]> {
    const values = [numberArray(buckets), this.#holder, `${this.#firstLock}`]
    const [found] = await session.rows(take, values)
    if (found?.blocked === true) await session.rows(disconnectDead, [`${this.#firstLock}`])
    return (found?.taken ?? []).map(([bucket, value]) => ({ bucket, value }))
  }

  async release(session: DatabaseSession, terms: readonly Term[]): Promise<void> {
    await session.rows(release, [...columnsOf(terms), this.#holder])
  }

  /** Returns the terms that this process holds according to the store. */
  async read(session: DatabaseSession): Promise<ReadonlyMap<number, number>> {
    return valuesOf(await session.rows(readHeld, [this.#holder]))
  }

  /** Returns the locks that an append takes, shared, before it compares its terms. */
  locksOf(terms: readonly Term[]): bigint[] {
    return terms.map(({ bucket }) => this.#firstLock + BigInt(bucket))
  }

  /** Returns the current terms of those buckets of `terms` that this process holds. */
  async current(session: DatabaseSession, terms: readonly Term[]): Promise<ReadonlyMap<number, number>> {
    if (terms.length === 0) return new Map()
    return valuesOf(
      await session.rows(readCurrent, [numberArray(terms.map(({ bucket }) => bucket)), this.#holder]),
    )
  }

  /** Returns the parameters of `termCondition`. */
  parameters(terms: readonly Term[]): readonly unknown[] {
    return [...columnsOf(terms), this.#holder]
  }
}

/** The terms of this process; null if no other process can write to the store, so that terms never end. */
export type OwnTerms = {
  readonly rows: TermRows
  /** Must be called when an append was rejected because its term has ended. */
  termEnded(): void
} | null

/**
 * Condition of a statement: one process holds all given terms. As in `fenceCondition`, there is no join.
 * @param buckets placeholder of the buckets, `values` of the terms, `holder` of the process
 */
export const termCondition = (buckets: string, values: string, holder: string): string =>
  `not exists (select from unnest(${buckets}::int[], ${values}::bigint[]) as u(bucket, value) where
     (select t.term from term t where t.bucket = u.bucket and t.holder = ${holder}) is distinct from u.value)`

const columnsOf = (terms: readonly Term[]) => [
  numberArray(terms.map(({ bucket }) => bucket)),
  numberArray(terms.map(({ value }) => value)),
]

const valuesOf = (
  rows: readonly { readonly bucket: number; readonly term: number }[],
): ReadonlyMap<number, number> => new Map(rows.map(({ bucket, term }) => [bucket, term]))
