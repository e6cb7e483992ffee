import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '../../../core/base/errors.ts'
import type { Metrics } from '../../../core/metrics/metrics.ts'
import type { ObjectReference } from '../../../core/store/pairs/stored-blob.ts'
import { DamagedRecordError } from '../../../core/store/stored-record.ts'
import { type BackupKey, ObjectSealer, statedRepositoryId } from '../object-sealer.ts'
import type { ObjectStore, StoredObject } from '../object-store.ts'
import { StorageError } from '../storage/storage-error.ts'
import type { ObjectPlace } from './object-index.ts'

/** Object with the id of the store to which the objects of the place belong. */
const markerName = 'weft-versions'
/** Maximum time in ms of a call: a fixed time (longer for backups), and the time for the bytes (1 MB per second). */
const callMsMax = { fixed: 15_000, backup: 120_000, bytesPerMs: 1_000 } as const
/** Maximum number of calls that run at the same time, without those of backups. Further calls fail immediately. */
const callsMax = 64
/** Time in ms after a call without an answer in which further calls fail immediately, except those of backups. */
const silentMs = 5_000
/** Pauses in ms before a backup repeats a call. */
const repeatMs = [1_000, 5_000, 15_000, 60_000] as const
/** Hexadecimal digits of the id from which the keys of the place are derived. */
const idDigits = 32
/** A name of `newName`. */
const objectName = /^[0-9a-f]{2}\/[0-9a-f]{32}$/

type ObjectOperation = 'put' | 'get' | 'delete' | 'probe'

/** The place has the objects of another store or of another key, or has lost them. A repetition does not help. */
class WrongPlaceError extends StorageError {}

interface CallOptions {
  readonly operation: ObjectOperation
  /** Bytes to transfer. */
  readonly bytes: number
  /** Whether a backup calls, which waits longer and uses none of the limited calls. */
  readonly isBackup?: boolean
}

export interface SealedObjectsOptions {
  readonly store: ObjectStore
  readonly key: BackupKey
  /** Called with the reason when the place cannot be used any more, and with null when it can be used again. */
  readonly onChange?: (problem: string | null) => void
  /** Duration of each call; absent in commands. */
  readonly metrics?: Pick<Metrics, 'objectCallSeconds'>
  /** Fixed part of the maximum time of a call, in ms (default: 15,000). */
  readonly callMs?: number
}

/**
 * Contents as objects of a folder or a bucket. They are compressed, encrypted and authenticated together with their
 * names, so a damaged or exchanged object is recognized. Each call ends within a bounded time, also if the place
 * does not answer. Methods throw StorageError if the place cannot be used.
 */
export class SealedObjects {
  readonly #options: SealedObjectsOptions
  readonly #id: string
  readonly #sealer: Promise<ObjectSealer>
  #calls = 0
  #place: ObjectPlace | null = null
  #isPlaceChecked = false
  /** Value of `performance.now()` until which calls fail immediately. */
  #silentUntil = 0
  #problem: string | null = null
  /** Aborted when the server stops. */
  readonly #stopping = new AbortController()

  constructor(options: SealedObjectsOptions) {
    // Each running call adds a listener, and their number is limited by itself.
    setMaxListeners(0, this.#stopping.signal)
    this.#options = options
    this.#id = options.key.checkOf('saved versions').slice(0, idDigits)
    this.#sealer = ObjectSealer.of(options.key, this.#id)
  }

  /** Path or URL of the place, without credentials. */
  get name(): string {
    return this.#options.store.name
  }

  /** Reason why the last call failed; null after a successful call. */
  get problem(): string | null {
    return this.#problem
  }

  /**
   * Sets the store whose contents are in the place. The first call reserves an empty place for the store. From then
   * on, a place of another store, an empty place and a place with another key are rejected.
   */
  belongTo(place: ObjectPlace): void {
    this.#place = place
  }

  /** Checks that the place belongs to the store; reserves it if the store has none. */
  check(): Promise<void> {
    return this.#call({ operation: 'probe', bytes: 0 }, (store) => this.#checkPlace(store, 'reserve'))
  }

  /** Returns a name that no object has. */
  newName(): string {
    const random = randomBytes(16).toString('hex')
    return `${random.slice(0, 2)}/${random}`
  }

  /** Writes an object. Resolves when it is durable. */
  put(name: string, content: Uint8Array): Promise<void> {
    return this.#call({ operation: 'put', bytes: content.length }, async (store) => {
      await this.#checkPlace(store, 'reserve')
      await store.put(name, await (await this.#sealer).seal(name, content))
    })
  }

  /**
   * Returns the content of an object.
   * @throws DamagedRecordError if the object is missing or damaged
   */
  get(reference: ObjectReference): Promise<Uint8Array> {
    return this.#call({ operation: 'get', bytes: reference.bytes }, (store) => this.#read(store, reference))
  }

  /**
   * Returns the content of an object for a backup or a check. Repeats a failed call for some minutes.
   * @throws DamagedRecordError if the object is missing or damaged
   */
  async getForBackup(reference: ObjectReference): Promise<Uint8Array> {
    const options = { operation: 'get', bytes: reference.bytes, isBackup: true } as const
    const { signal } = this.#stopping
    for (let failures = 0; ; failures++)
      try {
        return await this.#call(options, (store) => this.#read(store, reference))
      } catch (error) {
        const pauseMs = repeatMs[failures]
        const isLasting = !(error instanceof StorageError) || error instanceof WrongPlaceError
        if (pauseMs === undefined || isLasting || signal.aborted) throw error
        await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
      }
  }

  /** Returns the id of the store to which the place belongs; null if it belongs to none. */
  owner(): Promise<string | null> {
    return this.#call({ operation: 'probe', bytes: 0 }, (store) => this.#markedId(store))
  }

  /** Yields the objects of contents, with the sizes that they have in the place. @throws StorageError */
  async *list(): AsyncGenerator<StoredObject> {
    for await (const object of this.#options.store.list('')) if (objectName.test(object.name)) yield object
  }

  /** Deletes an object. Does nothing if it does not exist. */
  delete(name: string): Promise<void> {
    return this.#call({ operation: 'delete', bytes: 0 }, async (store) => {
      await this.#checkPlace(store, 'ignore')
      await store.delete(name)
    })
  }

  /** Writes, reads and deletes an object that no blob has. Fails if the place has objects of another key. */
  probe(): Promise<void> {
    return this.#call({ operation: 'probe', bytes: 0 }, async (store) => {
      await this.#markedId(store)
      const name = this.newName()
      const sealed = await (await this.#sealer).seal(name, randomBytes(100))
      await store.put(name, sealed)
      const found = await store.get(name)
      await store.delete(name)
      if (found?.equals(sealed) !== true)
        throw new StorageError(`${this.name} does not return what was written`)
    })
  }

  /** Rejects all running calls, so that a shutdown does not wait for the place. */
  interrupt(): void {
    this.#stopping.abort(new StorageError('the server is stopping'))
  }

  async #read(store: ObjectStore, { name, bytes }: ObjectReference): Promise<Uint8Array> {
    if (!this.#isPlaceChecked) await this.#checkPlace(store, 'ignore')
    const sealed = await store.get(name)
    if (sealed === null) {
      await this.#checkPlace(store, 'ignore')
      throw new DamagedRecordError(`the object ${JSON.stringify(name)} is missing in ${this.name}`)
    }
    const content = await (await this.#sealer).unseal(name, sealed)
    if (content?.length === bytes) return content
    const stated = statedRepositoryId(sealed)
    const problem =
      stated === null || stated === this.#id ? 'is damaged' : 'is damaged or was sealed with another key'
    throw new DamagedRecordError(`the object ${JSON.stringify(name)} in ${this.name} ${problem}`)
  }

  /**
   * Checks that the place belongs to the store. Writes and deletions check it each time, because the place may have
   * changed under its address, for example if its disk is not mounted any more.
   * @param missing if the store has no place yet: `reserve` this one, or `ignore` it
   * @throws StorageError if the place belongs to another store, or if it does not have the id of the store any more
   */
  async #checkPlace(store: ObjectStore, missing: 'reserve' | 'ignore'): Promise<void> {
    const place = this.#place
    if (place === null) return
    const found = await (missing === 'reserve' ? place.create() : place.read())
    if (found === null || (missing === 'ignore' && !found.isReserved)) return
    const { id, isReserved } = found
    const marked = await this.#markedId(store)
    if (marked !== null && marked !== id)
      throw new WrongPlaceError(`${this.name} holds the saved versions of another store; use an empty place`)
    if (marked === null && isReserved)
      throw new WrongPlaceError(`${this.name} does not hold the contents of the saved versions of this store`)
    if (marked === null)
      await store.put(markerName, await (await this.#sealer).seal(markerName, Buffer.from(id)))
    if (!isReserved) await place.reserve(id)
    this.#isPlaceChecked = true
  }

  /** Returns the id of the store to which the place belongs; null if it belongs to none. */
  async #markedId(store: ObjectStore): Promise<string | null> {
    const sealed = await store.get(markerName)
    if (sealed === null) return null
    const id = await (await this.#sealer).unseal(markerName, sealed)
    if (id !== null) return id.toString()
    const hasOtherKey = statedRepositoryId(sealed) !== this.#id
    throw new WrongPlaceError(
      hasOtherKey
        ? `the objects in ${this.name} were sealed with another key`
        : `the object ${markerName} in ${this.name} is damaged`,
    )
  }

  async #call<T>(options: CallOptions, work: (store: ObjectStore) => Promise<T>): Promise<T> {
    const { operation, bytes, isBackup = false } = options
    if (!isBackup && this.#calls === callsMax)
      throw new StorageError(`${callsMax} calls already wait for ${this.name}`)
    if (!isBackup && performance.now() < this.#silentUntil)
      throw new StorageError(`${this.name} did not answer a call; try again later`)
    const fixedMs = isBackup ? callMsMax.backup : (this.#options.callMs ?? callMsMax.fixed)
    const observe = this.#options.metrics?.objectCallSeconds.startTimer({ operation })
    try {
      const done = await this.#bounded(fixedMs + bytes / callMsMax.bytesPerMs, () =>
        this.#counted(isBackup ? 0 : 1, work),
      )
      this.#note(null)
      observe?.({ result: 'succeeded' })
      return done
    } catch (error) {
      observe?.({ result: error instanceof DamagedRecordError ? 'damaged' : 'failed' })
      if (error instanceof DamagedRecordError) throw error
      this.#note(errorMessage(error))
      if (error instanceof StorageError) throw error
      throw new StorageError(`${this.name} cannot be used: ${errorMessage(error)}`, { cause: error })
    }
  }

  /** A call that takes too long continues in the background, and counts among the running calls until it ends. */
  async #counted<T>(count: number, work: (store: ObjectStore) => Promise<T>): Promise<T> {
    this.#calls += count
    try {
      return await work(this.#options.store)
    } finally {
      this.#calls -= count
    }
  }

  /** Rejects if `work` takes longer than `ms`, or if the server stops. */
  async #bounded<T>(ms: number, work: () => Promise<T>): Promise<T> {
    const { signal } = this.#stopping
    let timer: NodeJS.Timeout | undefined
    let stop = (): void => undefined
    const rejected = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason)
      timer = setTimeout(() => {
        this.#silentUntil = performance.now() + silentMs
        reject(new StorageError(`${this.name} did not answer within ${Math.round(ms)} ms`))
      }, ms)
    })
    signal.addEventListener('abort', stop)
    try {
      return await Promise.race([work(), rejected])
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  #note(problem: string | null): void {
    const hasChanged = (problem === null) !== (this.#problem === null)
    this.#problem = problem
    if (hasChanged) this.#options.onChange?.(problem)
  }
}
