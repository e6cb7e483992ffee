import type { AppendRejection, Fence, FenceValue, Job, Term } from '../../../core/store/engine.ts'
import { type LogState, noSnapshots } from '../../../core/store/log-state.ts'
import type { StoreClock } from '../cluster/database-clock.ts'
import { type OwnTerms, termCondition } from '../cluster/term-rows.ts'
import { bytesArray, numberArray, plainArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { allSettled, type DatabaseSession, statement } from '../connection/database-session.ts'
import { GroupCommitQueue, type QueuedWrite } from '../connection/group-commit-queue.ts'
import { isOutcomeUnknown } from '../connection/postgres-errors.ts'
import type { Write } from '../connection/sql-transaction.ts'
import { JobRows } from '../jobs/job-rows.ts'
import { fenceCondition, fenceParameters, isRaised, type PostgresFences } from '../kv/fences.ts'
import { DocumentChangeSet, type NewEntry } from './document-change-set.ts'
import { headValues, lockHeads, makeHeads, moveHeads, readableRow } from './document-rows.ts'
import { contentColumns, insertEntries } from './entry-rows.ts'
import type { EntryRow } from './read-entries.ts'

/** The end of a log as the caller of an append knows it. The log may have another end meanwhile. */
export interface KnownHead {
  readonly epoch: number
  readonly head: number
}

/** A call that changes one document. The calls for one document are executed in order. */
export interface DocumentCall extends QueuedWrite {
  readonly key: Buffer
  readonly jobs: readonly Job[]
  /** Fences of the call. If one of them was raised, the call is rejected. */
  readonly fence: Fence
  /** The term of the call; null if the call does not depend on a term. If the term has ended, the call is rejected. */
  readonly term: Term | null
  /** Null if the call is not an append to a log whose end is known. */
  readonly known: KnownHead | null
  /**
   * Changes the document. Returns false if the call is rejected. `apply` is called again if the transaction
   * is repeated.
   * @param rejection the reason for which the call must be rejected; null: there is none yet
   */
  apply(change: DocumentChangeSet, rejection: AppendRejection | null): boolean
}

/**
 * Statement that appends entries to the logs that still have the given epoch and head. Returns the numbers of
 * these logs. Appends nothing if a fence was raised or a term has ended. Because of the limit, PostgreSQL expects few logs, and
 * finds each of them by its key. Without the limit, it may read the whole table if the table was small when
 * the plan was made.
 */
export const appendKnown = statement<{ n: number }>(
  'append-known',
  `with moved as (
     update document d set head = c.head + c.count, changed_at = c.at, changed_by = c.by
     from (
       select * from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::int[], $5::bigint[], $6::bytea[], $7::int[])
         with ordinality as u(key, epoch, head, count, at, by, start, n)
       limit cardinality($1::bytea[])
     ) c
     where d.key = c.key and d.state = 'live' and d.epoch = c.epoch and d.head = c.head
       and ${fenceCondition('$8', '$9', '$10')} and ${termCondition('$17', '$18', '$19')}
     returning d.id, c.epoch, c.head, c.count, c.start, c.n
   ), added as (
     insert into entry
     select m.id, m.epoch, m.head + i, ($11::bigint[])[m.start + i], ($12::bytea[])[m.start + i],
       ($13::bigint[])[m.start + i],
       substr($16::bytea, ($14::int[])[m.start + i], ($15::int[])[m.start + i])
     from moved m cross join lateral generate_series(1, m.count) as i
   )
   select n::int from moved`,
)
/** Statement that reads the entries that have the numbers of the entries of known appends. */
const readAppended = statement<AppendedRow>(
  'read-appended',
  `select k.n::int, e.seq, e.at, e.by, e.crc, e.bytes
   from unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::int[]) with ordinality as k(key, epoch, head, count, n)
   cross join lateral (select id from document where document.key = k.key offset 0) d
   cross join lateral (
     select * from entry t where t.doc = d.id and t.epoch = k.epoch and t.seq > k.head and t.seq <= k.head + k.count
     offset 0
   ) e`,
)
const removeAll = (table: 'entry' | 'snapshot') =>
  statement(
    `destroy-${table}`,
    `delete from ${table} t using unnest($1::uuid[], $2::bigint[]) as u(doc, epoch)
     where t.doc = u.doc and t.epoch <= u.epoch`,
  )
const removals = [removeAll('entry'), removeAll('snapshot')]

/** The values of `termCondition` without a term. */
const noTerms: readonly unknown[] = ['{}', '{}', null]

/**
 * Writes appends and deletions. One transaction contains the calls for many documents. Each call is accepted
 * or rejected independently of the others.
 */
export class AppendBatch {
  readonly #database: PostgresDatabase
  readonly #clock: StoreClock
  readonly #fences: PostgresFences
  readonly #terms: OwnTerms
  readonly #calls = new GroupCommitQueue<DocumentCall>((group) => this.#write(group))

  constructor(database: PostgresDatabase, clock: StoreClock, fences: PostgresFences, terms: OwnTerms) {
    this.#database = database
    this.#clock = clock
    this.#fences = fences
    this.#terms = terms
  }

  add(call: DocumentCall): void {
    this.#calls.add(call)
  }

  async #write(group: readonly DocumentCall[]): Promise<void> {
    const plan = knownAppends(group)
    let stored: ReadonlySet<DocumentCall>
    try {
      stored = await this.#appendKnown(plan)
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error
      return this.#change(group, { appends: plan.appends, error })
    }
    // If the other calls fail, these appends are durable nevertheless.
    for (const call of stored) call.durable()
    const others = stored.size === 0 ? group : group.filter((call) => !stored.has(call))
    if (others.length > 0) await this.#change(others)
  }

  /** Appends to known logs in one round trip. Returns the calls that are durable. */
  async #appendKnown({ appends, fence, terms }: AppendPlan): Promise<ReadonlySet<DocumentCall>> {
    if (appends.length === 0) return new Set()
    const values = [...knownValues(appends, fence), ...this.#termParameters(terms)]
    const rows = await this.#database.writeBatch(async (session) => {
      const locked = this.#fences.lockShared(session, fence, this.#locksOf(terms))
      const [, moved] = await allSettled([locked, session.rows(appendKnown, values)])
      return moved
    })
    return new Set(rows.flatMap(({ n }) => appends[n - 1]?.calls ?? []))
  }

  /**
   * Locks the documents and executes the calls of a group.
   * @param uncertain the known appends of the group that an earlier attempt may have stored
   */
  #change(group: readonly DocumentCall[], uncertain?: UncertainAppends): Promise<void> {
    const keys = distinct(group.map(({ key }) => key))
    const jobs = group.flatMap((call) => call.jobs)
    const terms = distinctTerms(group)
    return this.#database.write({
      // Locks fences first and jobs last, in the same order as all other transactions.
      ask: (session) => {
        const fence = group.flatMap((call) => call.fence)
        return allSettled([
          this.#fences.lockShared(session, fence, this.#locksOf(terms)),
          this.#fences.counts(session, fence),
          this.#current(session, terms),
          lock(session, keys),
          entriesOf(session, uncertain?.appends ?? []),
          JobRows.lock(session, jobs),
        ])
      },
      act: ([, counts, current, changes, entries, jobRows], write) => {
        const stored = storedCalls(uncertain, changes, entries)
        for (const call of group) {
          if (stored.has(call)) continue
          const change = changes.get(call.line) as DocumentChangeSet
          const rejection = this.#rejectionOf(call, counts, current)
          if (call.apply(change, rejection)) jobRows.enqueue(call.jobs, this.#clock)
        }
        writeChanges([...changes.values()], write)
        jobRows.write(write)
      },
    })
  }

  #locksOf(terms: readonly Term[]): readonly bigint[] {
    return this.#terms?.rows.locksOf(terms) ?? []
  }

  #termParameters(terms: readonly Term[]): readonly unknown[] {
    return this.#terms?.rows.parameters(terms) ?? noTerms
  }

  #current(session: DatabaseSession, terms: readonly Term[]): Promise<ReadonlyMap<number, number>> {
    return this.#terms?.rows.current(session, terms) ?? Promise.resolve(new Map())
  }

  #rejectionOf(
    { term, fence }: DocumentCall,
    counts: ReadonlyMap<number, number>,
    current: ReadonlyMap<number, number>,
  ): AppendRejection | null {
    if (term !== null && this.#terms !== null && current.get(term.bucket) !== term.value) {
      this.#terms.termEnded()
      return 'term'
    }
    return isRaised(fence, counts) ? 'fence' : null
  }
}

/** All appends of a group to one log whose end is known, and their effect if the log has this end. */
interface KnownAppend {
  readonly known: KnownHead
  readonly change: DocumentChangeSet
  readonly calls: DocumentCall[]
}

interface AppendPlan {
  readonly appends: readonly KnownAppend[]
  /** The fences of all these appends. */
  readonly fence: Fence
  /** The terms of all these appends. */
  readonly terms: readonly Term[]
}

/**
 * Selects the appends that one statement can execute. The calls of one document are selected together or not
 * at all.
 */
function knownAppends(group: readonly DocumentCall[]): AppendPlan {
  const byLine = new Map<string, KnownAppend>()
  const excluded = new Set<string>()
  const fence = new Map<number, FenceValue>()
  for (const call of group) {
    if (excluded.has(call.line)) continue
    const append = byLine.get(call.line) ?? firstAppend(call)
    if (append !== null && isOneOf(append, call, fence)) {
      append.calls.push(call)
      byLine.set(call.line, append)
      for (const value of call.fence) fence.set(value.counter, value)
    } else {
      byLine.delete(call.line)
      excluded.add(call.line)
    }
  }
  const appends = [...byLine.values()].sort((a, b) => Buffer.compare(a.change.key, b.change.key))
  const terms = distinctTerms(appends.flatMap(({ calls }) => calls))
  return { appends, fence: [...fence.values()], terms }
}

function firstAppend({ key, known }: DocumentCall): KnownAppend | null {
  if (known === null) return null
  const standing = { state: 'live', marks: noSnapshots, ...known } as const
  const row = { id: '', isStored: true, standing, changed: { at: 0, by: '' } }
  return { known, change: new DocumentChangeSet(key, row), calls: [] }
}

const isOneOf = (
  { change }: KnownAppend,
  call: DocumentCall,
  fence: ReadonlyMap<number, FenceValue>,
): boolean =>
  call.known !== null &&
  call.jobs.length === 0 &&
  call.fence.every(({ counter, raised }) => (fence.get(counter)?.raised ?? raised) === raised) &&
  call.apply(change, null)

function knownValues(appends: readonly KnownAppend[], fence: Fence): unknown[] {
  const changes = appends.map(({ change }) => change)
  const entries = changes.flatMap((change) => change.entries)
  let next = 0
  const startOf = ({ length }: readonly NewEntry[]) => {
    next += length
    return next - length
  }
  return [
    bytesArray(changes.map(({ key }) => key)),
    numberArray(appends.map(({ known }) => known.epoch)),
    numberArray(appends.map(({ known }) => known.head)),
    numberArray(changes.map((change) => change.entries.length)),
    numberArray(changes.map(({ after }) => after.changed.at)),
    bytesArray(changes.map(({ after }) => Buffer.from(after.changed.by))),
    numberArray(changes.map((change) => startOf(change.entries))),
    ...fenceParameters(fence),
    ...contentColumns(entries),
  ]
}

/** Known appends with an unknown outcome, and the error of the attempt to write them. */
interface UncertainAppends {
  readonly appends: readonly KnownAppend[]
  readonly error: unknown
}

type AppendedRow = EntryRow & { readonly n: number }

/** Reads the entries that the appends may have stored. */
async function entriesOf(
  session: DatabaseSession,
  appends: readonly KnownAppend[],
): Promise<readonly AppendedRow[]> {
  if (appends.length === 0) return []
  return session.rows(readAppended, [
    bytesArray(appends.map(({ change }) => change.key)),
    numberArray(appends.map(({ known }) => known.epoch)),
    numberArray(appends.map(({ known }) => known.head)),
    numberArray(appends.map(({ change }) => change.entries.length)),
  ])
}

/**
 * Returns the calls that the earlier attempt has stored. This attempt may still run in the database, but it
 * appends nothing after the end of the log has changed. The caller holds the locks of the documents.
 * @throws the error of the earlier attempt if the outcome is still unknown
 */
function storedCalls(
  uncertain: UncertainAppends | undefined,
  changes: ReadonlyMap<string, DocumentChangeSet>,
  entries: readonly AppendedRow[],
): ReadonlySet<DocumentCall> {
  const isStored = (append: KnownAppend, index: number): boolean => {
    const { standing } = (changes.get(nameOf(append.change.key)) as DocumentChangeSet).after
    const found = entries.filter(({ n }) => n === index + 1)
    const is = storedBefore(append, standing, found)
    if (is === 'unknown') throw uncertain?.error
    return is === 'stored'
  }
  return new Set(uncertain?.appends.filter(isStored).flatMap(({ calls }) => calls))
}

function storedBefore(
  { known, change }: KnownAppend,
  standing: LogState,
  found: readonly EntryRow[],
): 'stored' | 'absent' | 'unknown' {
  if (standing.state !== 'live' || standing.epoch !== known.epoch || standing.head === known.head)
    return 'absent'
  const isOwn = (row: EntryRow): boolean => {
    const { at, by, crc, bytes } = change.entries[row.seq - known.head - 1] as NewEntry
    return row.at === at && row.crc === crc && row.by.equals(by) && row.bytes.equals(bytes)
  }
  // An append stores all its entries or none of them.
  if (!found.every(isOwn)) return 'absent'
  // A compaction may have removed entries. If the log ends before the known end, the earlier attempt may
  // still succeed.
  return found.length === change.entries.length ? 'stored' : 'unknown'
}

/** Returns the terms of calls without duplicates. */
const distinctTerms = (calls: readonly DocumentCall[]): readonly Term[] => {
  const terms = new Map<string, Term>()
  for (const { term } of calls) if (term !== null) terms.set(`${term.bucket} ${term.value}`, term)
  return [...terms.values()]
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
  return new Map(
    keys.map((key) => {
      const { row, damage } = readableRow(byName.get(nameOf(key)))
      return [nameOf(key), new DocumentChangeSet(key, row, damage)]
    }),
  )
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
  if (entries.length > 0) write(insertEntries(entries))
}
