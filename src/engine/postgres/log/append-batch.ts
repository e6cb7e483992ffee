import { crc32 } from 'node:zlib'
import type { Fence, Job } from '../../engine.ts'
import type { StoreClock } from '../cluster/database-clock.ts'
import { bytesArray, numberArray, packBytes, plainArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { allSettled, type DatabaseSession, statement } from '../connection/database-session.ts'
import { GroupCommitQueue, type QueuedWrite } from '../connection/group-commit-queue.ts'
import type { Write } from '../connection/sql-transaction.ts'
import { isRaised, type PostgresFences } from '../fences.ts'
import { JobRows } from '../jobs/job-rows.ts'
import { DocumentChangeSet, type NewEntry } from './document-change-set.ts'
import { headValues, lockHeads, makeHeads, moveHeads, rowOf } from './document-rows.ts'
import { upsertSnapshot } from './snapshot-rows.ts'

/** A call that changes one document. The calls for one document are executed in order. */
export interface DocumentCall extends QueuedWrite {
  readonly key: Buffer
  readonly jobs: readonly Job[]
  /** Fences of the call. If one of them was raised, the call is rejected. */
  readonly fence: Fence
  /**
   * Changes the document. Returns false if the call is rejected. `apply` is called again if the transaction
   * is repeated.
   */
  apply(change: DocumentChangeSet, isFenced: boolean): boolean
}

/**
 * Number of lanes. The lanes write in parallel; each lane writes one group at a time. All calls for one
 * document use the same lane.
 */
const laneCount = 4

const addEntries = statement(
  'add-entries',
  `insert into entry select u.doc, u.epoch, u.seq, u.at, u.by, u.crc, substr($9::bytea, u.start, u.size)
   from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[], $7::int[], $8::int[])
     as u(doc, epoch, seq, at, by, crc, start, size)`,
)
const removeAll = (table: 'entry' | 'snapshot') =>
  statement(
    `destroy-${table}`,
    `delete from ${table} t using unnest($1::uuid[], $2::bigint[]) as u(doc, epoch)
     where t.doc = u.doc and t.epoch <= u.epoch`,
  )
const removals = [removeAll('entry'), removeAll('snapshot')]

/**
 * Writes appends and deletions. One transaction contains the calls for many documents. Each call is accepted
 * or rejected independently of the others.
 */
export class AppendBatch {
  readonly #database: PostgresDatabase
  readonly #clock: StoreClock
  readonly #fences: PostgresFences
  readonly #lanes: readonly GroupCommitQueue<DocumentCall>[]

  constructor(database: PostgresDatabase, clock: StoreClock, fences: PostgresFences) {
    this.#database = database
    this.#clock = clock
    this.#fences = fences
    this.#lanes = Array.from({ length: laneCount }, () => new GroupCommitQueue((group) => this.#write(group)))
  }

  add(call: DocumentCall): void {
    this.#lanes[crc32(call.key) % laneCount]?.add(call)
  }

  #write(group: readonly DocumentCall[]): Promise<void> {
    const keys = distinct(group.map(({ key }) => key))
    const jobs = group.flatMap((call) => call.jobs)
    return this.#database.write({
      // Locks fences before jobs, in the same order as the commits of the Kv.
      ask: (session) => {
        const fence = group.flatMap((call) => call.fence)
        return allSettled([
          lock(session, keys),
          this.#fences.hold(session, fence),
          JobRows.lock(session, jobs),
        ])
      },
      act: ([changes, counts, jobRows], write) => {
        for (const call of group) {
          const change = changes.get(call.line) as DocumentChangeSet
          if (call.apply(change, isRaised(call.fence, counts))) jobRows.enqueue(call.jobs, this.#clock)
        }
        writeChanges([...changes.values()], write)
        jobRows.write(write)
      },
    })
  }
}

const nameOf = (key: Buffer): string => key.toString('latin1')

/**
 * Returns the keys sorted and without duplicates. All transactions that lock several documents lock them in
 * this order.
 */
function distinct(keys: readonly Buffer[]): Buffer[] {
  const byName = new Map(keys.map((key) => [nameOf(key), key]))
  return [...byName.values()].sort((a, b) => Buffer.compare(a, b))
}

async function lock(
  session: DatabaseSession,
  keys: readonly Buffer[],
): Promise<Map<string, DocumentChangeSet>> {
  const stored = await session.rows(lockHeads, [bytesArray(keys)])
  const byName = new Map(stored.map((row) => [nameOf(row.key), row]))
  return new Map(keys.map((key) => [nameOf(key), new DocumentChangeSet(key, rowOf(byName.get(nameOf(key))))]))
}

function writeChanges(all: readonly DocumentChangeSet[], write: Write): void {
  const changed = all.filter(({ before, after }) => before !== after)
  const heads = (changes: readonly DocumentChangeSet[]) =>
    headValues(changes.map(({ key, after }) => [key, after] as const))
  const made = changed.filter(({ before }) => !before.isStored)
  const moved = changed.filter(({ before }) => before.isStored)
  const destroyed = moved.filter(({ destroyedEpoch }) => destroyedEpoch !== null)
  const entries = changed.flatMap((change) => change.entries)
  if (made.length > 0) write((session) => session.rows(makeHeads, heads(made)))
  if (moved.length > 0) write((session) => session.rows(moveHeads, heads(moved)))
  if (destroyed.length > 0) {
    const values = [
      plainArray(destroyed.map(({ before }) => before.id)),
      numberArray(destroyed.map(({ destroyedEpoch }) => destroyedEpoch ?? 0)),
    ]
    for (const removal of removals) write((session) => session.rows(removal, values))
  }
  for (const { snapshot } of changed) if (snapshot !== null) write(upsertSnapshot(snapshot))
  if (entries.length > 0) write((session) => session.rows(addEntries, entryValues(entries)))
}

function entryValues(entries: readonly NewEntry[]): unknown[] {
  const { bytes, starts, sizes } = packBytes(entries.map((entry) => entry.bytes))
  return [
    plainArray(entries.map(({ doc }) => doc)),
    numberArray(entries.map(({ epoch }) => epoch)),
    numberArray(entries.map(({ seq }) => seq)),
    numberArray(entries.map(({ at }) => at)),
    bytesArray(entries.map(({ by }) => by)),
    numberArray(entries.map(({ crc }) => crc)),
    starts,
    sizes,
    bytes,
  ]
}
