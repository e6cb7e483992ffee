import { randomBytes } from 'node:crypto'
import type { BackupKey } from '../backups/backup-key.ts'
import { ObjectSealer, statedRepositoryId } from '../backups/object-sealer.ts'
import type { ObjectStore } from '../backups/object-store.ts'
import { DamagedRecordError } from '../engine/damaged-record.ts'
import type { ObjectReference } from '../engine/pairs/stored-blob.ts'
import { errorMessage } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { StorageError } from '../storage/storage-error.ts'

/** Object that every used place has. Without it, the objects are in another place. */
const markerName = 'weft-versions'
/** Maximum time in ms of a call: a fixed time, and the time for the bytes (1 MB per second). */
const callMsMax = { fixed: 15_000, bytesPerMs: 1_000 } as const
/** Maximum number of calls that run at the same time. Further calls fail immediately. */
const callsMax = 64
/** Hexadecimal digits of the id from which the keys of the place are derived. */
const idDigits = 32

type ObjectOperation = 'put' | 'get' | 'delete' | 'probe'

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
  #hasMarker = false
  #problem: string | null = null
  /** Rejects the running calls. */
  readonly #rejections = new Set<(error: StorageError) => void>()

  constructor(options: SealedObjectsOptions) {
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

  /** Returns a name that no object has. */
  newName(): string {
    const random = randomBytes(16).toString('hex')
    return `${random.slice(0, 2)}/${random}`
  }

  /** Writes an object. Resolves when it is durable. */
  put(name: string, content: Uint8Array): Promise<void> {
    return this.#call('put', content.length, async (store) => {
      const sealer = await this.#sealer
      if (!this.#hasMarker) {
        await store.put(markerName, await sealer.seal(markerName, new Uint8Array()))
        this.#hasMarker = true
      }
      await store.put(name, await sealer.seal(name, content))
    })
  }

  /**
   * Returns the content of an object.
   * @throws DamagedRecordError if the object is missing or damaged
   */
  get({ name, bytes }: ObjectReference): Promise<Uint8Array> {
    return this.#call('get', bytes, async (store) => {
      const sealed = await store.get(name)
      if (sealed === null) throw await this.#missing(name)
      const content = await (await this.#sealer).unseal(name, sealed)
      if (content?.length === bytes) return content
      const stated = statedRepositoryId(sealed)
      if (content === null && stated !== null && stated !== this.#id)
        throw new StorageError(`the objects in ${this.name} were sealed with another key`)
      throw new DamagedRecordError(`its object ${JSON.stringify(name)} in ${this.name} is damaged`)
    })
  }

  /** Deletes an object. Does nothing if it does not exist. */
  delete(name: string): Promise<void> {
    return this.#call('delete', 0, (store) => store.delete(name))
  }

  /** Writes, reads and deletes an object that no blob has. */
  probe(): Promise<void> {
    return this.#call('probe', 0, async (store) => {
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
    for (const reject of this.#rejections) reject(new StorageError('the server is stopping'))
  }

  async #missing(name: string): Promise<Error> {
    const hasMarker = (await this.#options.store.get(markerName)) !== null
    return hasMarker
      ? new DamagedRecordError(`its object ${JSON.stringify(name)} is missing in ${this.name}`)
      : new StorageError(`${this.name} does not hold the contents of saved versions`)
  }

  async #call<T>(
    operation: ObjectOperation,
    bytes: number,
    work: (store: ObjectStore) => Promise<T>,
  ): Promise<T> {
    const observe = this.#options.metrics?.objectCallSeconds.startTimer({ operation })
    try {
      const done = await this.#bounded(bytes, work)
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
  async #bounded<T>(bytes: number, work: (store: ObjectStore) => Promise<T>): Promise<T> {
    if (this.#calls === callsMax) throw new StorageError(`${callsMax} calls already wait for ${this.name}`)
    this.#calls += 1
    const running = work(this.#options.store).finally(() => {
      this.#calls -= 1
    })
    const ms = (this.#options.callMs ?? callMsMax.fixed) + bytes / callMsMax.bytesPerMs
    let timer: NodeJS.Timeout | undefined
    let rejection: (error: StorageError) => void = () => undefined
    const rejected = new Promise<never>((_, reject) => {
      rejection = reject
      const error = new StorageError(`${this.name} did not answer within ${Math.round(ms)} ms`)
      timer = setTimeout(() => reject(error), ms)
    })
    this.#rejections.add(rejection)
    try {
      return await Promise.race([running, rejected])
    } finally {
      clearTimeout(timer)
      this.#rejections.delete(rejection)
    }
  }

  #note(problem: string | null): void {
    const hasChanged = (problem === null) !== (this.#problem === null)
    this.#problem = problem
    if (hasChanged) this.#options.onChange?.(problem)
  }
}
