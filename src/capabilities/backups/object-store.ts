import { StorageError } from './storage/storage-error.ts'

export interface StoredObject {
  readonly name: string
  /** Size in bytes. */
  readonly size: number
}

/**
 * The place of a backup repository: a folder or a bucket. Each implementation must pass
 * `test/support/stores/object-store-suite.ts`. Methods throw `StorageError` if the place cannot be used.
 */
export interface ObjectStore {
  /** Path or URL for messages, without credentials. */
  readonly name: string
  /** Writes or replaces an object. At any time, also after a crash, an object is complete or absent. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Returns the bytes of an object of at most `objectBytesMax` bytes; null if it does not exist. */
  get(name: string): Promise<Buffer | null>
  /** Yields the objects whose names start with `prefix`, in any order. */
  list(prefix: string): AsyncIterable<StoredObject>
  /** Deletes an object. Does nothing if it does not exist. */
  delete(name: string): Promise<void>
  /** Deletes the remains of writes that were interrupted more than an hour ago. Returns their number. */
  removeIncomplete(): Promise<number>
}

/** Maximum size of an object in bytes. The largest stored value, with its key, fits. */
export const objectBytesMax = 2 ** 30 + 2 ** 24

/** A part of a name between slashes. It does not start with a dot. */
const segment = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** Returns whether a name cannot leave the folder or the prefix of a store. */
export const isObjectName = (name: string): boolean =>
  name.length <= 200 && name.split('/').every((part) => segment.test(part))

/** @throws StorageError unless `isObjectName` */
export function checkObjectName(name: string): void {
  if (!isObjectName(name))
    throw new StorageError(`${JSON.stringify(name)} is not the name of an object of a backup repository`)
}

/** @throws StorageError for an object that is larger than `objectBytesMax` */
export function checkObjectSize(name: string, size: number): void {
  if (size > objectBytesMax)
    throw new StorageError(`the object ${name} is too large: ${size} bytes of at most ${objectBytesMax}`)
}
