import { createHash } from 'node:crypto'
import type { Fence, FenceStore, Key } from '../../../core/store/engine.ts'
import { countersOf, FenceCache } from '../../../core/store/fences.ts'
import { encodeKey } from '../../../core/store/key-encoding.ts'
import type { OpenCalls } from '../../../core/store/open-calls.ts'
import { bytesArray } from '../connection/arrays.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import type { Write } from '../connection/sql-transaction.ts'
import type { ValueReads } from './value-reads.ts'

/** Partition that contains the counters and nothing else. */
const fencePartition = encodeKey(['', 'fences'])

/**
 * Condition on the rows of `kv`: leaves out the counters. They are state of processes and no content of the store,
 * and their keys are numbers without the encoding of other keys.
 */
export const isNotFence = `part <> '\\x${fencePartition.toString('hex')}'`

/**
 * Number of locks for the counters. Several counters share a lock. So a transaction never takes more locks
 * than this number, even if it writes many documents.
 */
const locksMax = 256

const lockShared = statement(
  'lock-fences-shared',
  'select pg_advisory_xact_lock_shared(lock) from unnest($1::bigint[]) as l(lock)',
)
const lockAlone = statement(
  'lock-fences',
  'select pg_advisory_xact_lock(lock) from unnest($1::bigint[]) as l(lock)',
)
const readCounts = statement<{ key: Buffer; value: Buffer }>(
  'read-fences',
  'select key, value from kv where part = $1 and key = any($2::bytea[])',
)
const raiseCounts = statement(
  'raise-fences',
  `insert into kv select $1, u.key, convert_to('1', 'UTF8') from unnest($2::bytea[]) as u(key)
   on conflict (part, key) do update
   set value = convert_to((convert_from(kv.value, 'UTF8')::bigint + 1)::text, 'UTF8')`,
)

/** Implements fences with counters in the store, because several processes raise fences. */
export class PostgresFences implements FenceStore {
  readonly #gate: OpenCalls
  readonly #values: ValueReads
  readonly #locks: readonly bigint[]
  readonly #here = new FenceCache()

  constructor({ gate, values, schema }: { gate: OpenCalls; values: ValueReads; schema: string }) {
    this.#gate = gate
    this.#values = values
    this.#locks = Array.from({ length: locksMax }, (_, index) =>
      createHash('sha256').update(schema).update('\0fence').update(`${index}`).digest().readBigInt64BE(0),
    )
  }

  read(names: readonly Key[]): Promise<Fence> {
    return this.#gate.run(async () => {
      const fence = countersOf(names).map((counter) => this.#here.at(counter, 0))
      const keys = fence.map(({ counter }) => keyOf(counter))
      const counts = await this.#values.read({ part: fencePartition, keys })
      return fence.map((one, index) => ({ ...one, raised: Number(counts[index]?.toString() ?? 0) }))
    })
  }

  isCurrent(fence: Fence): boolean {
    return this.#here.isCurrent(fence)
  }

  /** Reads the counters of fences. The caller has locked them. */
  async counts(session: DatabaseSession, fence: Fence): Promise<ReadonlyMap<number, number>> {
    return fence.length === 0 ? new Map() : countsOf(session, fence)
  }

  /**
   * Locks the counters of the fences of appends, and further locks. No process can raise these counters until the
   * transaction ends. A later statement of the same transaction can compare them.
   */
  async lockShared(session: DatabaseSession, fence: Fence, further: readonly bigint[]): Promise<void> {
    if (fence.length === 0 && further.length === 0) return
    await session.rows(lockShared, [
      this.#locksOf(
        fence.map(({ counter }) => counter),
        further,
      ),
    ])
  }

  /**
   * Locks counters for a raise. Call this method before `raise`. An append that has read the old values of
   * these counters can then no longer commit after this transaction.
   */
  async lock(session: DatabaseSession, counters: readonly number[]): Promise<void> {
    if (counters.length > 0) await session.rows(lockAlone, [this.#locksOf(counters)])
  }

  raise(counters: readonly number[], write: Write): void {
    if (counters.length === 0) return
    this.raisedHere(counters)
    const keys = bytesArray([...new Set(counters)].sort((a, b) => a - b).map(keyOf))
    write((session) => session.rows(raiseCounts, [fencePartition, keys]))
  }

  /**
   * Raises the counters in the memory of this process. Fences that were read earlier are then no longer
   * current, and callers read them again.
   */
  raisedHere(counters: readonly number[]): void {
    this.#here.raise(counters)
  }

  /**
   * Returns the locks of the counters and further locks in sorted order, because all transactions must lock in the same
   * order.
   */
  #locksOf(counters: readonly number[], further: readonly bigint[] = []): string {
    const ofCounters = counters.map((counter) => this.#locks[counter % locksMax] as bigint)
    const locks = [...new Set([...ofCounters, ...further])]
    return `{${locks.sort((a, b) => (a < b ? -1 : 1)).join(',')}}`
  }
}

/** Returns whether a counter of the fence has another value in the store than when the fence was read. */
export const isRaised = (fence: Fence, counts: ReadonlyMap<number, number>): boolean =>
  fence.some(({ counter, raised }) => (counts.get(counter) ?? 0) !== raised)

/**
 * Condition of a statement: all counters have the given values. A counter that was never raised has no row.
 * The condition contains no join, because PostgreSQL may read the whole partition for a join.
 * @param keys placeholder of the keys, `values` of the values, `partition` of the partition
 */
export const fenceCondition = (keys: string, values: string, partition: string): string =>
  `not exists (select from unnest(${keys}::bytea[], ${values}::bytea[]) as f(key, value) where
     (select v.value from kv v where v.part = ${partition} and v.key = f.key) is distinct from f.value)`

/** Returns the parameters of `fenceCondition`. */
export const fenceParameters = (fence: Fence): readonly unknown[] => [
  bytesArray(fence.map(({ counter }) => keyOf(counter))),
  bytesArray(fence.map(({ raised }) => (raised === 0 ? null : Buffer.from(`${raised}`)))),
  fencePartition,
]

async function countsOf(session: DatabaseSession, fence: Fence): Promise<ReadonlyMap<number, number>> {
  const keys = [...new Set(fence.map(({ counter }) => counter))].map(keyOf)
  const rows = await session.rows(readCounts, [fencePartition, bytesArray(keys)])
  return new Map(rows.map(({ key, value }) => [key.readUInt32BE(0), Number(value.toString())]))
}

function keyOf(counter: number): Buffer {
  const key = Buffer.alloc(4)
  key.writeUInt32BE(counter)
  return key
}
