import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Job, Key, Kv, KvCommit, KvEntry, KvRange } from '../../engine/engine.ts'
import { keyName } from '../../engine/key-encoding.ts'
import { KeyedMutex } from '../../engine/keyed-mutex.ts'
import { ApiError } from '../../errors.ts'
import type { DirectoryReader } from './directory-reader.ts'
import { type Deletable, decodeRecord, encodeRecord } from './records.ts'

/** Somebody else's change between reading and writing means trying again; so many in a row mean a bug or an attack. */
const attemptsMax = 20
/** Who has lost so often loses to other nodes, which have lines of their own: it pauses before the next attempt, */
const lossesMax = 4
/** for up to so many ms, and longer each time. */
const pauseMs = { first: 4, most: 100 }

/**
 * Reads and writes one partition as if nobody else did: what was read by key is checked when everything is written,
 * in one commit; if it has changed meanwhile, `work` runs again. It must not do anything but read and write here.
 * The first attempts of many go on at once; those who lost wait in a line, so that they don't lose to each other.
 * @throws ApiError ABORTED when that happens again and again; whatever `work` throws, and then nothing is written
 */
export class TransactionRunner {
  readonly #kv: Kv
  readonly #losers = new KeyedMutex()

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /** Resolves with what `work` has returned, and the transaction that was committed. */
  async run<T>(part: Key, work: (transaction: Transaction) => Promise<T>): Promise<Committed<T>> {
    const first = await this.#attempt(part, work)
    if (first !== null) return first
    return this.#losers.run(keyName(part), async () => {
      for (let attempt = 1; attempt < attemptsMax; attempt++) {
        if (attempt >= lossesMax) await pause(pauseAfter(attempt - lossesMax))
        const done = await this.#attempt(part, work)
        if (done !== null) return done
      }
      throw new ApiError('request/conflict', 'others change the same things all the time; try again')
    })
  }

  async #attempt<T>(part: Key, work: (transaction: Transaction) => Promise<T>): Promise<Committed<T> | null> {
    const transaction = new Transaction(this.#kv, part)
    const result = await work(transaction)
    const commit = transaction.commit()
    const done = commit === null || (await this.#kv.commit(part, commit))
    return done ? { result, transaction } : null
  }
}

/** Milliseconds; at random, so that those who lost together do not meet again. */
const pauseAfter = (pauses: number): number =>
  Math.random() * Math.min(pauseMs.most, pauseMs.first * 2 ** pauses)

interface Committed<T> {
  readonly result: T
  readonly transaction: Transaction
}

/** One thing that a transaction writes. */
export interface Mutation {
  readonly key: Key
  /** It is known not to have been there. */
  readonly isNew: boolean
  /** It is deleted. */
  readonly isGone: boolean
  /** It is marked as being deleted. */
  readonly isGoing: boolean
  /** As it is written; null: it is deleted. */
  readonly record: object | null
}

interface TransactionCell {
  readonly key: Key
  /** As read from the store; undefined when it was not read. */
  read: Uint8Array | null | undefined
  /** As it is to be; undefined when it stays. */
  written: object | null | undefined
}

/** What one attempt has read and is going to write. It sees its own writes in `get`, and not in `scan`. */
export class Transaction implements DirectoryReader {
  readonly #kv: Kv
  readonly #part: Key
  readonly #cells = new Map<string, TransactionCell>()
  readonly #jobs: Job[] = []
  readonly #fences: Key[] = []

  constructor(kv: Kv, part: Key) {
    this.#kv = kv
    this.#part = part
  }

  /** The record at `key`, which must still be the same when this commits; null when there is none. */
  async get<R extends object>(key: Key): Promise<R | null> {
    const [record = null] = await this.getAll<R>([key])
    return record
  }

  /** Like `get`, in one read; the answers are in the order of the keys. */
  async getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]> {
    const cells = keys.map((key) => this.#cell(key))
    const unread = [
      ...new Set(cells.filter(({ read, written }) => read === undefined && written === undefined)),
    ]
    if (unread.length > 0) await this.#read(unread)
    return cells.map(({ read, written }) => {
      if (written !== undefined) return written as R | null
      return read === null || read === undefined ? null : (decodeRecord(read) as R)
    })
  }

  /** Stored entries of a range. Unlike `get`, nobody sees to it that they are the same when this commits. */
  scan(range: KvRange): Promise<readonly KvEntry[]> {
    return this.#kv.scan(this.#part, range)
  }

  put(key: Key, record: object): void {
    this.#cell(key).written = record
  }

  delete(key: Key): void {
    this.#cell(key).written = null
  }

  /** Enqueues a job with the commit. */
  enqueue(job: Job): void {
    this.#jobs.push(job)
  }

  /** Raises fences with the commit. */
  raise(fences: readonly Key[]): void {
    this.#fences.push(...fences)
  }

  /** Whether this enqueues jobs of a queue. */
  enqueues(queue: string): boolean {
    return this.#jobs.some((job) => job.queue === queue)
  }

  /** Null when there is nothing to write. Records that stay as they were are not written. */
  commit(): KvCommit | null {
    const cells = [...this.#cells.values()]
    const changed = cells.filter(isChanged)
    if (changed.length === 0 && this.#jobs.length === 0) return null
    return {
      checks: cells.flatMap(({ key, read }) => (read === undefined ? [] : [{ key, value: read }])),
      puts: changed.flatMap(({ key, written }) => (written ? [{ key, value: encodeRecord(written) }] : [])),
      dels: changed.flatMap(({ key, written }) => (written === null ? [key] : [])),
      jobs: this.#jobs,
      fences: this.#fences,
    }
  }

  /** What this writes. */
  written(): readonly Mutation[] {
    return [...this.#cells.values()].filter(isChanged).map(({ key, read, written }) => ({
      key,
      isNew: read === null,
      isGone: written === null,
      isGoing: (written as Deletable | null)?.deleting === true,
      record: written ?? null,
    }))
  }

  async #read(cells: readonly TransactionCell[]): Promise<void> {
    const values = await this.#kv.get(
      this.#part,
      cells.map(({ key }) => key),
    )
    for (const [index, cell] of cells.entries()) cell.read = values[index] ?? null
  }

  #cell(key: Key): TransactionCell {
    const name = keyName(key)
    const known = this.#cells.get(name)
    if (known !== undefined) return known
    const cell: TransactionCell = { key, read: undefined, written: undefined }
    this.#cells.set(name, cell)
    return cell
  }
}

function isChanged({ read, written }: TransactionCell): boolean {
  if (written === undefined) return false
  if (read === undefined) return true
  if (written === null || read === null) return written !== null || read !== null
  return !isDeepStrictEqual(decodeRecord(read), written)
}
