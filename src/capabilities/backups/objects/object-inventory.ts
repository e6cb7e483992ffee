import { errorMessage } from '../../../core/base/errors.ts'
import { DamagedRecordError } from '../../../core/store/damaged-record.ts'
import type { Key } from '../../../core/store/engine.ts'
import { decodeStoredBlob, type ObjectReference } from '../../../core/store/pairs/stored-blob.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import { versionBlobKey } from '../../history/version-keys.ts'
import { objectNameIn } from './object-index.ts'
import { placeIn, type StoredPlace } from './object-place.ts'

/** An object to which a blob refers. */
export interface ReferencedObject {
  readonly reference: ObjectReference
  /** Ids of the versions that have this content. Empty if a crash left the blob without a version. */
  readonly versionIds: string[]
}

/** The objects that the records of a store name. Its memory grows with their number. */
export class ObjectInventory {
  /** By the key of the blob as JSON. */
  readonly #referenced = new Map<string, ReferencedObject>()
  readonly #names = new Set<string>()
  #place: StoredPlace | null = null

  /** Record of the store about its place; null if the store has none. */
  get place(): StoredPlace | null {
    return this.#place
  }

  get count(): number {
    return this.#referenced.size
  }

  /** Returns whether a blob or a record of the index names an object. */
  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Yields the objects with the keys of their blobs. */
  *objects(): Generator<ReferencedObject & { readonly key: Key }> {
    for (const [key, object] of this.#referenced) yield { ...object, key: JSON.parse(key) as Key }
  }

  /**
   * Adds an entry of the store. The blobs must come before the values.
   * @returns the reason why the entry is malformed; null if it is not
   */
  add(entry: Extract<StoredEntry, { is: 'blob' | 'value' }>): string | null {
    try {
      if (entry.is === 'blob') this.#addBlob(entry.key, entry.value)
      else this.#addValue(entry.part, entry.key, entry.value)
      return null
    } catch (error) {
      return errorMessage(error)
    }
  }

  /** @throws DamagedRecordError */
  #addBlob(key: Key, value: Uint8Array): void {
    const stored = decodeStoredBlob(value)
    if (stored.is !== 'reference') return
    const { name, bytes } = stored.reference
    if (this.#names.has(name))
      throw new DamagedRecordError(`another blob also refers to the object ${JSON.stringify(name)}`)
    this.#referenced.set(JSON.stringify(key), { reference: { name, bytes }, versionIds: [] })
    this.#names.add(name)
  }

  /** @throws MalformedJsonError */
  #addValue(part: Key, key: Key, value: Uint8Array): void {
    this.#place = placeIn(part, key, value) ?? this.#place
    const name = objectNameIn(part, key)
    if (name !== null) this.#names.add(name)
    const content = this.#referenced.size === 0 ? null : versionBlobKey(part, key, value)
    if (content !== null) this.#referenced.get(JSON.stringify(content))?.versionIds.push(key.at(-1) ?? '')
  }
}
