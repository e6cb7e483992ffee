import type { Clock } from '../../../core/base/clock.ts'
import { ApiError } from '../../../core/base/errors.ts'
import { environmentOf } from '../../../core/config/config.ts'
import type { JobDisposition } from '../../../core/jobs/job-consumer.ts'
import { type Blobs, CorruptRecordError, type Key } from '../../../core/store/engine.ts'
import {
  decodeStoredBlob,
  encodeBlobContent,
  encodeObjectReference,
  type ObjectReference,
  type StoredBlob,
} from '../../../core/store/pairs/stored-blob.ts'
import { withRecordName } from '../../../core/store/stored-record.ts'
import { StorageError } from '../storage/storage-error.ts'
import type { ObjectCheck, ObjectIndex } from './object-index.ts'
import type { SealedObjects } from './sealed-objects.ts'

/**
 * Size in bytes from which a content becomes an object. A smaller one is hardly larger than the records that its
 * object would need, and a bucket charges each request.
 */
const objectBytesMin = 4_096
/** Maximum time in ms from the record of an object to the reference to it. Much shorter than `settleMs`. */
const writeMsMax = 3_600_000
const retryAfterSeconds = 5

/**
 * Blobs whose large contents are objects of a bucket or a folder. The engine has a reference to each object. An
 * object is durable before the reference to it, and is deleted only after the reference.
 */
export class ObjectBlobs implements Blobs {
  /** The blobs of the engine. */
  readonly #blobs: Blobs
  readonly #index: ObjectIndex
  /** null: new contents stay in the engine. */
  readonly #objects: SealedObjects | null
  readonly #clock: Clock

  constructor(blobs: Blobs, index: ObjectIndex, objects: SealedObjects | null, clock: Clock) {
    this.#blobs = blobs
    this.#index = index
    this.#objects = objects
    this.#clock = clock
  }

  /** @throws ApiError UNAVAILABLE if the object storage cannot be used */
  async put(key: Key, bytes: Uint8Array): Promise<void> {
    const content = new Uint8Array(bytes)
    const objects = this.#objects
    if (objects === null || content.length < objectBytesMin)
      return this.#replace(key, encodeBlobContent(content))
    const startedAt = this.#clock.now()
    const reference = { name: objects.newName(), bytes: content.length }
    await this.#index.recordObject(key, reference)
    try {
      await whileAvailable(() => objects.put(reference.name, content))
    } catch (error) {
      await this.#index.recordRemoval(key, reference)
      throw error
    }
    if (this.#clock.now() - startedAt > writeMsMax) throw unavailable('writing the object took too long')
    return this.#replace(key, encodeObjectReference(reference))
  }

  /** @throws ApiError UNAVAILABLE if the object storage cannot be used; CorruptRecordError */
  async get(key: Key): Promise<Uint8Array | null> {
    const stored = await this.#read(key)
    if (stored?.is !== 'reference') return stored?.content ?? null
    const objects = this.#objects
    if (objects === null) throw unavailable(notConfigured)
    return withRecordName('blob', key, () => whileAvailable(() => objects.get(stored.reference)))
  }

  async delete(key: Key): Promise<void> {
    const reference = await this.#referenceAt(key)
    if (reference !== null) await this.#index.recordRemoval(key, reference)
    await this.#blobs.delete(key)
  }

  list(prefix: Key, options: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return this.#blobs.list(prefix, options)
  }

  /** Deletes an object to which its blob does not refer. @throws StorageError, CorruptRecordError */
  async sweep(check: ObjectCheck, objects: SealedObjects): Promise<JobDisposition> {
    const againAfterMs = await this.#index.settlesInMs(check)
    if (againAfterMs === null) return 'done'
    if (againAfterMs > 0) return { againAfterMs }
    const stored = await this.#read(check.key)
    if (stored?.is === 'reference' && stored.reference.name === check.name) return 'done'
    await objects.delete(check.name)
    await this.#index.remove(check)
    return 'done'
  }

  async #replace(key: Key, value: Uint8Array): Promise<void> {
    const earlier = await this.#referenceAt(key)
    if (earlier !== null) await this.#index.recordRemoval(key, earlier)
    await this.#blobs.put(key, value)
  }

  #read(key: Key): Promise<StoredBlob | null> {
    return withRecordName('blob', key, async () => {
      const value = await this.#blobs.get(key)
      return value === null ? null : decodeStoredBlob(value)
    })
  }

  /** Returns the reference at a key; null without one, or if the record is damaged, which can still be deleted. */
  async #referenceAt(key: Key): Promise<ObjectReference | null> {
    const stored = await this.#read(key).catch((error: unknown) => {
      if (error instanceof CorruptRecordError) return null
      throw error
    })
    return stored?.is === 'reference' ? stored.reference : null
  }
}

/** Problem of a reference without an object storage. */
export const notConfigured = `contents of saved versions are in object storage, and ${environmentOf('versionsTo')} is not set; set it and ${environmentOf('versionsKey')} as before`

const unavailable = (problem: string, cause?: unknown): ApiError =>
  new ApiError('version/content-unavailable', problem, { retryAfterSeconds, cause })

/** The error has no name of a bucket, because callers get it. The log has the reason. */
async function whileAvailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    throw unavailable('the object storage of saved versions is not available; try again', error)
  }
}
