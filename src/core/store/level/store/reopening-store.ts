import { pauseAfter } from '../../../base/backoff.ts'
import type { Clock } from '../../../base/clock.ts'
import { errorMessage } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { type Health, StoreUnavailableError } from '../../engine.ts'
import { closedMessage } from '../../open-calls.ts'
import { keyspaces } from '../../pairs/keyspaces.ts'
import { isDamage, levelErrorCode, readError } from '../files/level-errors.ts'
import type { BatchOperation, Store } from './store.ts'

/**
 * Default time in ms for which a failed write is retried. After that time, the write is rejected, with an
 * unknown outcome.
 */
export const holdMsDefault = 30_000
/** Pauses between attempts to reopen the store. */
const reopenPauses = { firstMs: 100, maxMs: 5_000, jitter: 0 }

const probeKey = Buffer.concat([keyspaces.meta, Buffer.from('probe')])

interface ReopeningStoreOptions {
  readonly store: Store
  /** Opens the store again, after it was closed. */
  readonly open: () => Promise<Store>
  /**
   * True: a write resolves only when the data is on disk. False: a write resolves when the operating system
   * has the data.
   */
  readonly sync: boolean
  readonly holdMs: number
  readonly clock: Clock
  readonly log: Log | undefined
  /** Sentences that describe files that are known to be damaged. */
  readonly damages: readonly string[]
  /** Called when failed writes are given up. The values in memory may then be wrong. */
  readonly onGivenUp: (error: StoreUnavailableError) => void
}

interface Outage {
  reason: string
  readonly sinceMs: number
  givenUp: boolean
  /** Number of attempts to reopen. */
  attempts: number
  readonly stopHolding: () => void
}

/**
 * Keeps a LevelDB store usable after failed writes. After a failed write, a LevelDB handle keeps failing,
 * even if the disk has space again. Therefore this class closes and reopens the store until a test value can
 * be written, and then repeats the failed operations. The operations are puts and deletions, so repeating
 * them is harmless.
 */
export class ReopeningStore {
  readonly #options: ReopeningStoreOptions
  #store: Store | null
  #outage: Outage | null = null
  /** Resolves with the new store when the store has been reopened. Null while the current store is usable. */
  #next: Deferred<Store> | null = null
  #reopening: Promise<void> | null = null
  #stopWaiting: () => void = () => undefined
  #isClosed = false
  /**
   * Number of times that writes were given up. A write that started under a smaller number must not be
   * retried.
   */
  #era = 0

  constructor(options: ReopeningStoreOptions) {
    this.#options = options
    this.#store = options.store
  }

  health(): Health {
    if (this.#isClosed) return { ok: false, reason: closedMessage }
    return this.#outage === null ? { ok: true } : { ok: false, reason: this.#outage.reason }
  }

  /**
   * Checks that the store currently accepts writes.
   * @throws StoreUnavailableError if the store is closed, or if failed writes have been given up
   */
  admit(): void {
    if (this.#isClosed) throw new StoreUnavailableError(closedMessage)
    if (this.#outage?.givenUp) throw new StoreUnavailableError(this.#outage.reason)
  }

  /**
   * Runs `work` with the store. Waits while the store is being reopened.
   * @throws StoreUnavailableError, DamagedRecordError, and the errors of `work`
   */
  async read<T>(work: (store: Store) => Promise<T>): Promise<T> {
    for (;;) {
      const store = this.#usable ?? (await this.#reopened)
      try {
        return await work(store)
      } catch (error) {
        if (this.#store === store) throw readError(error)
      }
    }
  }

  /** Returns what `work` reads in this tick; null if the store cannot be used now. */
  readNow<T>(work: (store: Store) => T): T | null {
    return this.health().ok && this.#store !== null ? work(this.#store) : null
  }

  /**
   * Writes a batch of operations. The caller must wait for one batch before it writes the next. Resolves when
   * the operations are written, even if the store must first be reopened.
   * @throws StoreUnavailableError if the write was given up
   */
  async write(operations: readonly BatchOperation[]): Promise<void> {
    const era = this.#era
    for (;;) {
      const store = this.#usable ?? (await this.#reopened)
      try {
        await store.write(operations, this.#options.sync)
        if (era === this.#era) return this.#endOutage()
      } catch (error) {
        if (era === this.#era) this.#fail(store, error)
      }
      if (era !== this.#era) throw new StoreUnavailableError('the write was given up')
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#outage?.stopHolding()
    this.#next?.missed(new StoreUnavailableError(closedMessage))
    this.#stopWaiting()
    await this.#reopening
    await this.#store?.close()
    this.#store = null
  }

  /** The store; null while it is being reopened. */
  get #usable(): Store | null {
    this.admit()
    return this.#store
  }

  get #reopened(): Promise<Store> {
    return (this.#next as Deferred<Store>).promise
  }

  #fail(store: Store, error: unknown): void {
    const reason = this.#reasonOf(error)
    this.#outage ??= this.#newOutage(reason)
    this.#outage.reason = reason
    if (this.#store === store) this.#replace(store)
  }

  /**
   * Returns the reason of a failure, with the files that are known to be damaged. If LevelDB finds damage
   * while it rewrites tables, its own error does not contain the name of the file.
   */
  #reasonOf(error: unknown): string {
    const { damages } = this.#options
    const reason = `the store cannot be written: ${errorMessage(error)}`
    if (!isDamage(levelErrorCode(error), errorMessage(error)) || damages.length === 0) return reason
    return `${reason} (${damages.join('; ')}): restore a backup into an empty directory`
  }

  #replace(store: Store): void {
    this.#store = null
    this.#next = new Deferred()
    this.#reopening = this.#reopen(store)
  }

  #newOutage(reason: string): Outage {
    const { clock, holdMs, log } = this.#options
    log?.error({ reason }, 'a write failed: holding changes and opening the store again')
    const stopHolding = clock.after(holdMs, () => this.#giveUp())
    return { reason, sinceMs: clock.now(), givenUp: false, attempts: 0, stopHolding }
  }

  #giveUp(): void {
    if (this.#outage === null || this.#isClosed) return
    const error = new StoreUnavailableError(this.#outage.reason)
    this.#era += 1
    this.#outage.givenUp = true
    // A write in progress must have ended before anything is read again. `#replace` closes the old store, and
    // closing waits for that write.
    if (this.#store !== null) this.#replace(this.#store)
    this.#next?.missed(error)
    this.#options.onGivenUp(error)
  }

  async #reopen(old: Store): Promise<void> {
    await old.close().catch(() => undefined)
    while (!this.#isClosed && this.#outage !== null) {
      const failures = this.#outage.attempts++
      if (failures > 0) await this.#wait(pauseAfter(reopenPauses, failures))
      const store = this.#isClosed ? null : await this.#tryOpen()
      if (store !== null) return this.#found(store)
    }
  }

  /**
   * Reopens the store and writes a test value. Returns the store; null if the store cannot be reopened or
   * written.
   */
  async #tryOpen(): Promise<Store | null> {
    let store: Store | undefined
    try {
      store = await this.#options.open()
      await store.write([{ key: probeKey, value: Buffer.alloc(1) }], true)
      return store
    } catch (error) {
      if (this.#outage !== null) this.#outage.reason = this.#reasonOf(error)
      await store?.close().catch(() => undefined)
      return null
    }
  }

  #found(store: Store): void {
    this.#store = store
    if (this.#outage?.givenUp) this.#endOutage()
    this.#next?.found(store)
  }

  #endOutage(): void {
    if (this.#outage === null) return
    this.#outage.stopHolding()
    const { clock, log } = this.#options
    log?.warn({ outageMs: clock.now() - this.#outage.sinceMs }, 'the store can be written again')
    this.#outage = null
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#options.clock.after(ms, resolve)
      this.#stopWaiting = () => {
        stop()
        resolve()
      }
    })
  }
}

/** A promise with its `resolve` and `reject`. */
class Deferred<T> {
  readonly promise: Promise<T>
  #resolve: (value: T) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Often no caller awaits this promise. Without this line, its rejection would count as unhandled.
    this.promise.catch(() => undefined)
  }

  found(value: T): void {
    this.#resolve(value)
  }

  missed(error: unknown): void {
    this.#reject(error)
  }
}
