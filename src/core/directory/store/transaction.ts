import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { pauseAfter } from '../../base/backoff.ts'
import { ApiError } from '../../base/errors.ts'
import { KeyedMutex } from '../../base/keyed-mutex.ts'
import { memoized } from '../../base/maps.ts'
import type { Job, Key, Kv, KvCommit, KvEntry, KvRange } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import {
  anyRecordType,
  checkedRecord,
  decodeRecord,
  encodeRecord,
  type RecordType,
  readRecord,
} from '../../store/stored-record.ts'
import type { DirectoryReader } from './directory-reader.ts'

/**
 * Maximum number of attempts. An attempt fails if another commit has changed a record after the attempt has
 * read it and before the attempt is written. If this number of attempts fails in a row, there is a bug or an
 * attack.
 */
const attemptsMax = 20
/**
 * Number of failed attempts after which a transaction pauses before each further attempt. Such conflicts are
 * caused by other nodes, because attempts on this node wait for each other.
 */
const lossesMax = 4
/** Random pauses, so that transactions that conflicted do not conflict again. */
const pauses = { firstMs: 4, maxMs: 100, jitter: 1 }

/**
 * Reads and writes one partition with optimistic concurrency. All writes of `work` are made in one commit.
 * The commit checks that the records that were read by key are unchanged. If such a record has changed,
 * `work` runs again; therefore `work` must have no effects other than reads and writes of the transaction.
 * First attempts run concurrently. Further attempts wait for each other, so that they do not conflict with
 * each other.
 * @throws ApiError ABORTED if conflicts continue, and the errors of `work`; nothing is written in these cases
 */
export class TransactionRunner {
  readonly #kv: Kv
  readonly #losers = new KeyedMutex()

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /** Returns a reader of the present records. */
  reader(part: Key): DirectoryReader {
    return new Transaction(this.#kv, part)
  }

  /** Runs `work` until its writes are committed. Returns the result of `work`. */
  async run<T>(part: Key, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return (await this.commit(part, work)).result
  }

  /**
   * Like `run`, but also returns the committed transaction.
   * @param finish adds writes that follow from those of `work`
   */
  commit<T>(
    part: Key,
    work: (transaction: Transaction) => Promise<T>,
    finish: (transaction: Transaction) => void = () => undefined,
  ): Promise<Committed<T>> {
    const attempt = () => this.#attempt(part, work, finish)
    return attempt().then((first) => first ?? this.#losers.run(keyName(part), () => tryAgain(attempt)))
  }

  async #attempt<T>(
    part: Key,
    work: (transaction: Transaction) => Promise<T>,
    finish: (transaction: Transaction) => void,
  ): Promise<Committed<T> | null> {
    const transaction = new Transaction(this.#kv, part)
    const result = await work(transaction)
    finish(transaction)
    const commit = transaction.commit()
    const done = commit === null || (await this.#kv.commit(part, commit))
    return done ? { result, transaction } : null
  }
}

/** Makes the attempts after the first one. */
async function tryAgain<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let number = 1; number < attemptsMax; number++) {
    if (number >= lossesMax) await sleep(pauseAfter(pauses, number - lossesMax + 1))
    const done = await attempt()
    if (done !== null) return done
  }
  throw new ApiError('request/conflict', 'other calls keep changing the same records; try again')
}

interface Committed<T> {
  readonly result: T
  readonly transaction: Transaction
}

/** One write of a transaction. */
export interface Mutation {
  readonly key: Key
  /** True if the transaction has read that the record did not exist. */
  readonly isNew: boolean
  /** True if the transaction deletes the record. */
  readonly isGone: boolean
  /** True if the written record is marked as being deleted. */
  readonly isGoing: boolean
  /** The written record; null if the record is deleted. */
  readonly record: object | null
}

interface TransactionCell {
  readonly key: Key
  /** The bytes that are stored; null if there is no record; undefined if the record was not read. */
  read: Uint8Array | null | undefined
  /** The record to write; null if the record is deleted; undefined if the record stays unchanged. */
  written: object | null | undefined
}

/**
 * The reads and writes of one attempt of a transaction. `get` also returns records that the attempt has
 * written; `scan` returns only stored entries.
 */
export class Transaction implements DirectoryReader {
  readonly #kv: Kv
  readonly #part: Key
  readonly #cells = new Map<string, TransactionCell>()
  readonly #jobs: Job[] = []
  readonly #fences: Key[] = []
  #decided: (() => void) | undefined

  constructor(kv: Kv, part: Key) {
    this.#kv = kv
    this.#part = part
  }

  /**
   * Returns the record at `key`; null if it does not exist. If another commit changes this record meanwhile,
   * the commit of the transaction fails.
   * @throws MalformedJsonError if the record does not match its type
   */
  get(key: Key): Promise<object | null>
  get<R extends object>(key: Key, type: RecordType<R>): Promise<R | null>
  async get(key: Key, type = anyRecordType): Promise<object | null> {
    const cell = this.#cell(key)
    if (isUnread(cell)) await this.#read([cell])
    return recordOf(cell, type)
  }

  /**
   * Like `get`, without waiting, for a record that the transaction has read or written. Null if it has done neither.
   * @throws MalformedJsonError if the record does not match its type
   */
  known<R extends object>(key: Key, type: RecordType<R>): R | null {
    return recordOf(this.#cell(key), type)
  }

  /** Like `get` for several keys, but with only one read. The records are in the order of the keys. */
  getAll(keys: readonly Key[]): Promise<readonly (object | null)[]>
  getAll<R extends object>(keys: readonly Key[], type: RecordType<R>): Promise<readonly (R | null)[]>
  async getAll(keys: readonly Key[], type = anyRecordType): Promise<readonly (object | null)[]> {
    const cells = keys.map((key) => this.#cell(key))
    const unread = new Set(cells.filter(isUnread))
    if (unread.size > 0) await this.#read([...unread])
    return cells.map((cell) => recordOf(cell, type))
  }

  /**
   * Returns the stored entries of a range. In contrast to `get`, the commit does not detect that these
   * entries have changed.
   */
  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  put(key: Key, record: object): void {
    this.#cell(key).written = record
  }

  delete(key: Key): void {
    this.#cell(key).written = null
  }

  /** Adds a job that the commit of the transaction enqueues. */
  enqueue(job: Job): void {
    this.#jobs.push(job)
  }

  /** Adds fences that the commit of the transaction raises. */
  raise(fences: readonly Key[]): void {
    this.#fences.push(...fences)
  }

  /** Sets the function that the engine may call when the commit is certain, see `KvCommit`. */
  whenDecided(decided: (() => void) | undefined): void {
    this.#decided = decided
  }

  /** Returns whether the transaction enqueues a job in the given queue. */
  enqueues(queue: string): boolean {
    return this.#jobs.some((job) => job.queue === queue)
  }

  /**
   * Returns the commit of the transaction. Returns null if there is nothing to write. The commit does not
   * write records that are unchanged.
   */
  commit(): KvCommit | null {
    const cells = [...this.#cells.values()]
    const changed = cells.filter(isChanged)
    if (changed.length === 0 && this.#jobs.length === 0) return null
    return {
      checks: cells.flatMap(({ key, read }) => (read === undefined ? [] : [{ key, value: read }])),
      puts: putsOf(changed),
      dels: changed.flatMap(({ key, written }) => (written === null ? [key] : [])),
      jobs: this.#jobs,
      fences: this.#fences,
      decided: this.#decided,
    }
  }

  /** Returns the writes of the transaction, without unchanged records. */
  written(): readonly Mutation[] {
    return [...this.#cells.values()].filter(isChanged).map(({ key, read, written }) => ({
      key,
      isNew: read === null,
      isGone: written === null,
      isGoing:
        written !== null && written !== undefined && 'deleting' in written && written.deleting === true,
      record: written ?? null,
    }))
  }

  /** Returns the stored entries that the writes of the transaction replace or delete. */
  async replaced(): Promise<readonly KvEntry[]> {
    const cells = [...this.#cells.values()].filter(({ written }) => written !== undefined)
    const unread = cells.filter(({ read }) => read === undefined)
    if (unread.length > 0) await this.#read(unread)
    return cells.flatMap((cell) =>
      cell.read === null || cell.read === undefined || !isChanged(cell)
        ? []
        : [{ key: cell.key, value: cell.read }],
    )
  }

  #read(cells: readonly TransactionCell[]): Promise<void> {
    const keys = cells.map(({ key }) => key)
    return this.#kv.get(this.#part, keys).then((values) => {
      for (const [index, cell] of cells.entries()) cell.read = values[index] ?? null
    })
  }

  #cell(key: Key): TransactionCell {
    const make = (): TransactionCell => ({ key, read: undefined, written: undefined })
    return memoized(this.#cells, keyName(key), make)
  }
}

/** Encodes a record once that is written under several keys in succession, such as an index entry. */
function putsOf(cells: readonly TransactionCell[]): readonly KvEntry[] {
  const puts: KvEntry[] = []
  let last: object | null = null
  let value: Uint8Array = new Uint8Array(0)
  for (const { key, written = null } of cells) {
    if (written === null) continue
    if (written !== last) value = encodeRecord(written)
    last = written
    puts.push({ key, value })
  }
  return puts
}

const isUnread = ({ read, written }: TransactionCell): boolean => read === undefined && written === undefined

/** Returns the record of a cell that was read or written. @throws MalformedJsonError */
function recordOf<R extends object>({ key, read, written }: TransactionCell, type: RecordType<R>): R | null {
  if (written !== undefined) return written === null ? null : checkedRecord(type, key, written)
  return read === null || read === undefined ? null : readRecord(type, { key, value: read })
}

function isChanged({ read, written }: TransactionCell): boolean {
  if (written === undefined) return false
  if (read === undefined) return true
  if (written === null || read === null) return written !== null || read !== null
  return !isDeepStrictEqual(decodeRecord(read), written)
}
