import type {
  Appended,
  AppendOptions,
  AppendTo,
  DestroyOptions,
  DocumentLog,
  FormerLog,
  Key,
  LoadAtOptions,
  LoadedLog,
  LoadedVersion,
  LoadOptions,
  LogHead,
  LogUpdate,
} from '../engine.ts'
import type { Gate } from '../gate.ts'
import { destroyedPerCallMax, headOf } from '../heads.ts'
import { decodeKey, encodeKey, keyRange } from '../keys.ts'
import { named } from '../named-damage.ts'
import { Appends } from './appends.ts'
import { bytesArray } from './arrays.ts'
import { Compaction } from './compaction.ts'
import type { Database } from './database.ts'
import type { StoreClock } from './database-clock.ts'
import { type ListedHead, listHeads, readHeads, rowOf } from './document-rows.ts'
import type { Pending } from './pending.ts'
import { adoptionCall, appendCall, type PendingCall, removalCall } from './pending-calls.ts'
import { readLog, readVersion } from './read-log.ts'

const noSpace = Buffer.alloc(0)

export class PostgresLog implements DocumentLog {
  readonly #gate: Gate
  readonly #database: Database
  readonly #pending: Pending
  readonly #clock: StoreClock
  readonly #appends: Appends
  readonly #compaction: Compaction

  constructor({
    gate,
    database,
    pending,
    clock,
  }: {
    gate: Gate
    database: Database
    pending: Pending
    clock: StoreClock
  }) {
    this.#gate = gate
    this.#database = database
    this.#pending = pending
    this.#clock = clock
    this.#appends = new Appends(database, clock)
    this.#compaction = new Compaction(database, clock)
  }

  append(
    doc: Key,
    to: AppendTo,
    updates: readonly LogUpdate[],
    options: AppendOptions = {},
  ): Promise<Appended> {
    const at = this.#clock.now()
    return this.#gate.run(async () => this.#add(appendCall(encodeKey(doc), { to, updates, options, at })))
  }

  load(doc: Key, options: LoadOptions = {}): Promise<LoadedLog> {
    return this.#run(doc, (key) => this.#database.read((session) => readLog(session, key, options)))
  }

  loadAt(doc: Key, epoch: number, seq: number, options: LoadAtOptions = {}): Promise<LoadedVersion | null> {
    const wanted = { ...options, epoch, seq }
    return this.#run(doc, (key) => this.#database.read((session) => readVersion(session, key, wanted)))
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
  ): Promise<boolean> {
    const wanted = { epoch, expectBase, upTo, keepSince }
    return this.#run(doc, async (key) => {
      const copy = new Uint8Array(snapshot)
      const outOfReach = await this.#pending.during(copy.length, () =>
        this.#compaction.compact(key, wanted, copy),
      )
      if (outOfReach === null) return false
      this.#gate.run(() => this.#compaction.sweep(outOfReach)).catch(() => undefined)
      return true
    })
  }

  adopt(doc: Key, log: FormerLog): Promise<boolean> {
    return this.#gate.run(async () => this.#add(adoptionCall(encodeKey(doc), log, this.#clock.now())))
  }

  destroy(doc: Key): Promise<void> {
    return this.#gate.run(async () => this.#add(removalCall(encodeKey(doc))))
  }

  async destroyPrefix(prefix: Key, { after, confirm }: DestroyOptions = {}): Promise<Key | null> {
    const found = await this.#list(prefix, { after, limit: destroyedPerCallMax })
    await confirm?.()
    const destroy = ({ key, epoch }: ListedHead) =>
      this.#gate.run(async () => this.#add(removalCall(key, epoch)))
    await Promise.all(found.map(destroy))
    const last = found.at(-1)
    return last === undefined || found.length < destroyedPerCallMax ? null : decodeKey(last.key)
  }

  /** The order of these calls is that of the callers'. */
  #add<T>(call: PendingCall<T>): Promise<T> {
    return this.#pending.during(call.bytes, () => {
      this.#appends.add(call)
      return call.ended
    })
  }

  #run<T>(doc: Key, call: (key: Buffer) => Promise<T>): Promise<T> {
    return this.#gate.run(() => named('document', doc, async () => call(encodeKey(doc))))
  }
}
