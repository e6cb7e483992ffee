import type {
  Appended,
  AppendOptions,
  AppendTo,
  DestroyOptions,
  DocumentLog,
  Key,
  LoadAtOptions,
  LoadedLog,
  LoadedVersion,
  LoadOptions,
  LogHead,
  LogUpdate,
  Term,
} from '../../../core/store/engine.ts'
import { decodeKey, encodeKey, keyRange } from '../../../core/store/key-encoding.ts'
import {
  baseSnapshot,
  destroyedPerCallMax,
  effectiveSince,
  headOf,
  rebuildStart,
} from '../../../core/store/log-state.ts'
import type { OpenCalls } from '../../../core/store/open-calls.ts'
import { withRecordName } from '../../../core/store/stored-record.ts'
import type { StoreClock } from '../cluster/database-clock.ts'
import type { OwnTerms } from '../cluster/term-rows.ts'
import { bytesArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { allSettled, type DatabaseSession } from '../connection/database-session.ts'
import type { PendingBytes } from '../connection/pending-bytes.ts'
import type { PostgresFences } from '../kv/fences.ts'
import { AppendBatch } from './append-batch.ts'
import { type DocumentRow, type ListedHead, listHeads, readHead, readHeads, rowOf } from './document-rows.ts'
import { appendCall, type PendingCall, removalCall } from './pending-call.ts'
import { PostgresCompaction } from './postgres-compaction.ts'
import { readAttributionRow, readPostgresEntries, readSnapshotAt } from './read-entries.ts'
import { type SmallLogs, smallBytesMax, smallLogsIn } from './small-logs.ts'

/** Runs reads in one transaction, so that all of them see the data of the same moment. */
async function atOneMoment<T>(
  session: DatabaseSession,
  key: Buffer,
  work: (row: DocumentRow) => Promise<T>,
): Promise<T> {
  const begun = session.command('begin isolation level repeatable read read only')
  try {
    const [, [stored]] = await allSettled([begun, session.rows(readHead, [key])])
    return await work(rowOf(stored))
  } finally {
    await session.command('commit').catch(() => undefined)
  }
}

/** Reads a log. @throws DamagedRecordError */
function readPostgresLog(session: DatabaseSession, key: Buffer, options: LoadOptions): Promise<LoadedLog> {
  return atOneMoment(session, key, async ({ id, standing, changed }) => {
    if (standing.state !== 'live') return standing
    const { epoch, head, marks } = standing
    const log = { key, id, epoch }
    const { seq: base, at: basedAt } = baseSnapshot(marks)
    const since = effectiveSince(standing, options)
    const snapshot = since === null && base > 0 ? await readSnapshotAt(session, log, base) : null
    const after = since ?? base
    const entries = await readPostgresEntries(session, log, { after, upTo: head, bytesMax: options.bytesMax })
    const more = after + entries.length < head
    const attribution =
      options.attribution === true ? { attribution: await readAttributionRow(session, log) } : {}
    return { state: 'live', epoch, base, basedAt, head, snapshot, entries, changed, more, ...attribution }
  })
}

/**
 * Reads the parts from which a version can be rebuilt. Returns null if the version cannot be rebuilt.
 * @throws DamagedRecordError
 */
function readPostgresVersion(
  session: DatabaseSession,
  key: Buffer,
  { epoch, seq, after, bytesMax }: LoadAtOptions & { readonly epoch: number; readonly seq: number },
): Promise<LoadedVersion | null> {
  return atOneMoment(session, key, async ({ id, standing }) => {
    const base = rebuildStart(standing, { epoch, seq, after })
    if (base === null) return null
    const log = { key, id, epoch }
    const snapshot = after === undefined && base > 0 ? await readSnapshotAt(session, log, base) : null
    const entries = await readPostgresEntries(session, log, { after: base, upTo: seq, bytesMax })
    return { snapshot, base, entries, more: base + entries.length < seq }
  })
}

const noSpace = Buffer.alloc(0)

export class PostgresLog implements DocumentLog {
  readonly #gate: OpenCalls
  readonly #database: PostgresDatabase
  readonly #pending: PendingBytes
  readonly #clock: StoreClock
  readonly #appends: AppendBatch
  readonly #smallLogs: SmallLogs
  readonly #compaction: PostgresCompaction

  constructor({
    gate,
    database,
    pending,
    clock,
    fences,
    terms,
  }: {
    gate: OpenCalls
    database: PostgresDatabase
    pending: PendingBytes
    clock: StoreClock
    fences: PostgresFences
    terms: OwnTerms
  }) {
    this.#gate = gate
    this.#database = database
    this.#pending = pending
    this.#clock = clock
    this.#appends = new AppendBatch(database, clock, fences, terms)
    this.#smallLogs = smallLogsIn(database)
    this.#compaction = new PostgresCompaction(database, clock)
  }

  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    const { at = this.#clock.now() } = options
    return this.#gate.run(async () => this.#add(appendCall(encodeKey(doc), { to, updates, options, at })))
  }

  load(doc: Key, options: LoadOptions = {}): Promise<LoadedLog> {
    return this.#run(doc, async (key) => {
      const isWhole =
        options.since === undefined &&
        options.attribution !== true &&
        (options.bytesMax ?? smallBytesMax) >= smallBytesMax
      const small = isWhole ? await this.#smallLogs.read(key) : null
      return small ?? this.#database.read((session) => readPostgresLog(session, key, options))
    })
  }

  loadAt(doc: Key, epoch: number, seq: number, options: LoadAtOptions = {}): Promise<LoadedVersion | null> {
    const wanted = { ...options, epoch, seq }
    return this.#run(doc, (key) =>
      this.#database.read((session) => readPostgresVersion(session, key, wanted)),
    )
  }

  heads(docs: readonly Key[]): Promise<readonly (LogHead | null)[]> {
    return this.#gate.run(async () => {
      const keys = docs.map(encodeKey)
      const stored = await this.#database.read((session) => session.rows(readHeads, [bytesArray(keys)]))
      const byName = new Map(stored.map((row) => [row.key.toString('latin1'), row]))
      return keys.map((key) => headOf(rowOf(byName.get(key.toString('latin1'))).standing))
    })
  }

  async list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return (await this.#list(prefix, options)).map(({ key }) => decodeKey(key))
  }

  #list(
    prefix: Key,
    { after, limit }: { after?: Key | undefined; limit: number },
  ): Promise<readonly ListedHead[]> {
    return this.#gate.run(async () => {
      const { gte, lt } = keyRange(noSpace, { prefix, after })
      return this.#database.read((session) => session.rows(listHeads, [gte, lt, limit]))
    })
  }

  compact(
    doc: Key,
    epoch: number,
    expectBase: number,
    upTo: number,
    snapshot: Uint8Array,
    keepSince: number,
    attribution: Uint8Array | null = null,
    forget?: string,
  ): Promise<boolean> {
    const wanted = { epoch, expectBase, upTo, keepSince }
    return this.#run(doc, async (key) => {
      const copy = {
        snapshot: new Uint8Array(snapshot),
        attribution: attribution && new Uint8Array(attribution),
        forget,
      }
      const bytes = copy.snapshot.length + (copy.attribution?.length ?? 0)
      const outOfReach = await this.#pending.during(bytes, () => this.#compaction.compact(key, wanted, copy))
      if (outOfReach === null) return false
      this.#gate.run(() => this.#compaction.sweep(outOfReach)).catch(() => undefined)
      return true
    })
  }

  destroy(doc: Key, term?: Term): Promise<void> {
    return this.#gate.run(async () => this.#add(removalCall(encodeKey(doc), { term })))
  }

  async destroyPrefix(prefix: Key, { after, confirm }: DestroyOptions = {}): Promise<Key | null> {
    const found = await this.#list(prefix, { after, limit: destroyedPerCallMax })
    await confirm?.()
    const destroy = ({ key, epoch }: ListedHead) =>
      this.#gate.run(async () => this.#add(removalCall(key, { only: epoch })))
    await Promise.all(found.map(destroy))
    const last = found.at(-1)
    return last === undefined || found.length < destroyedPerCallMax ? null : decodeKey(last.key)
  }

  /**
   * Adds a call to the batch. No `await` may precede this, so that the calls are executed in the order in
   * which callers made them.
   */
  #add<T>(call: PendingCall<T>): Promise<T> {
    return this.#pending.during(call.bytes, () => {
      this.#appends.add(call)
      return call.ended
    })
  }

  #run<T>(doc: Key, call: (key: Buffer) => Promise<T>): Promise<T> {
    return this.#gate.run(() => withRecordName('document', doc, async () => call(encodeKey(doc))))
  }
}
