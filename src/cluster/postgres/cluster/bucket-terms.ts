import { setTimeout as sleep } from 'node:timers/promises'
import { bucketCount, bucketOf } from '../../../core/store/buckets.ts'
import type { EndOfUse, Term } from '../../../core/store/engine.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import type { TermRows } from './term-rows.ts'

/**
 * Number of buckets that are ended and then released together. The documents of a node that loses many buckets so move
 * one part after the other.
 */
const sliceSize = 64
/** Interval of the attempts to take buckets that another node has not released yet, in ms. */
const retryMs = 100
/** Delay before a release is repeated that has failed because the database is unavailable, in ms. */
const releaseAgainMs = 500

interface BucketTermsOptions {
  readonly database: PostgresDatabase
  readonly rows: TermRows
  /** Returns whether this process owns a bucket according to the list of nodes. */
  readonly isOwn: (bucket: number) => boolean
  /** Called when buckets were released, so that their new owners take them at once. */
  readonly released: () => void
}

/**
 * Takes the buckets of this process in terms, and releases those that the process no longer owns, after the use of
 * their documents has ended. The process holds a bucket only while the store has its term.
 */
export class BucketTerms {
  readonly #options: BucketTermsOptions
  readonly #ends: EndOfUse[] = []
  readonly #held = new Map<number, Term>()
  /** Terms that another process may have ended. The store must confirm them. */
  readonly #unconfirmed = new Map<number, Term>()
  /** Terms in which the use of documents is being ended. Their buckets cannot be taken again until then. */
  readonly #ending = new Map<number, Term>()
  readonly #waiting = new Set<() => void>()
  #settling: Promise<void> | null = null
  /** Number of calls of `recheck`. */
  #rechecks = 0
  #isOutdated = false
  #isStopped = false
  #timer: NodeJS.Timeout | null = null

  constructor(options: BucketTermsOptions) {
    this.#options = options
  }

  onLose(end: EndOfUse): void {
    this.#ends.push(end)
  }

  /** Returns the term in which this process holds a bucket; undefined if it does not hold the bucket. */
  of(bucket: number): Term | undefined {
    return this.#held.get(bucket)
  }

  /** Resolves when this process may have taken or lost buckets, or after `ms`. */
  changed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#waiting.add(done)
    })
  }

  /** Must be called when another process may have ended terms of this one. Nothing is held until the store confirms it. */
  recheck(): void {
    this.#rechecks += 1
    for (const [bucket, term] of this.#held) this.#unconfirmed.set(bucket, term)
    this.#held.clear()
    this.settle()
  }

  /** Takes and releases buckets, until this process holds exactly its own ones. */
  settle(): void {
    if (this.#isStopped) return
    this.#loseOthers()
    this.#isOutdated = true
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = null
      if (this.#isOutdated) this.settle()
    })
    this.#wake()
  }

  /** Stops taking buckets. Those that are held become free when the node leaves the list. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#wake()
    await this.#settling
  }

  async #settle(): Promise<void> {
    while (this.#isOutdated && !this.#isStopped) {
      this.#isOutdated = false
      try {
        if (this.#unconfirmed.size > 0) await this.#confirm()
        await this.#take()
      } catch {
        // The connection logs the error. The next heartbeat that succeeds settles again.
        this.#isOutdated = false
        return
      }
      this.#loseOthers()
    }
    if (this.#wanted().length > 0) this.#retry()
  }

  #retry(): void {
    if (this.#isStopped) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.settle(), retryMs).unref()
  }

  /** True if this process holds all buckets that it owns. */
  get isSettled(): boolean {
    return this.#unconfirmed.size === 0 && this.#wanted().length === 0
  }

  /** The buckets that this process must take. */
  #wanted(): readonly number[] {
    const wanted: number[] = []
    for (let bucket = 0; bucket < bucketCount; bucket += 1) {
      const isKnown = this.#held.has(bucket) || this.#ending.has(bucket) || this.#unconfirmed.has(bucket)
      if (!isKnown && this.#options.isOwn(bucket)) wanted.push(bucket)
    }
    return wanted
  }

  async #take(): Promise<void> {
    const wanted = this.#wanted()
    if (wanted.length === 0) return
    const { database, rows } = this.#options
    const rechecks = this.#rechecks
    const taken = await database.aside((session) => rows.take(session, wanted))
    const isUnconfirmed = rechecks !== this.#rechecks
    for (const term of taken) (isUnconfirmed ? this.#unconfirmed : this.#held).set(term.bucket, term)
    if (isUnconfirmed) this.#isOutdated = true
    else if (taken.length > 0) this.#wake()
  }

  /** Asks the store which of the unconfirmed terms have not ended. */
  async #confirm(): Promise<void> {
    const { database, rows } = this.#options
    const rechecks = this.#rechecks
    const stored = await database.aside((session) => rows.read(session))
    // After a later call of `recheck`, the store must be asked again.
    if (rechecks !== this.#rechecks) return
    const ended: Term[] = []
    for (const term of this.#unconfirmed.values()) {
      if (stored.get(term.bucket) === term.value) this.#held.set(term.bucket, term)
      else ended.push(term)
    }
    this.#unconfirmed.clear()
    if (ended.length > 0) void this.#end(ended)
    this.#wake()
  }

  #loseOthers(): void {
    const lost = [...this.#held.values()].filter(({ bucket }) => !this.#options.isOwn(bucket))
    if (lost.length > 0) void this.#end(lost)
  }

  /** Ends the use of documents, and releases their buckets. */
  async #end(lost: readonly Term[]): Promise<void> {
    for (const term of lost) {
      this.#held.delete(term.bucket)
      this.#ending.set(term.bucket, term)
    }
    for (let start = 0; start < lost.length; start += sliceSize) {
      const slice = lost.slice(start, start + sliceSize)
      const buckets = new Set(slice.map(({ bucket }) => bucket))
      await Promise.all(this.#ends.map((end) => end((document) => buckets.has(bucketOf(document)))))
      await this.#release(slice)
      for (const { bucket } of slice) this.#ending.delete(bucket)
    }
    this.settle()
  }

  async #release(slice: readonly Term[]): Promise<void> {
    const { database, rows, released } = this.#options
    while (!this.#isStopped) {
      try {
        await database.aside((session) => rows.release(session, slice))
        return released()
      } catch {
        await sleep(releaseAgainMs, undefined, { ref: false })
      }
    }
  }

  #wake(): void {
    for (const resolve of Array.from(this.#waiting)) resolve()
  }
}
