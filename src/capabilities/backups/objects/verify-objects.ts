import { errorMessage } from '../../../core/base/errors.ts'
import type { Damage } from '../../../core/store/damage.ts'
import type { Key } from '../../../core/store/engine.ts'
import { decodeStoredBlob, type ObjectReference } from '../../../core/store/pairs/stored-blob.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import { DamagedRecordError } from '../../../core/store/stored-record.ts'
import { versionBlobKey } from '../../history/version-keys.ts'
import { mapInOrder } from '../map-in-order.ts'
import { type Progress, StorageError } from '../storage/storage-error.ts'
import { notConfigured } from './object-blobs.ts'
import { objectNameIn, placeIn, type StoredPlace } from './object-index.ts'
import { objectsAhead } from './resolve-dump.ts'
import type { SealedObjects } from './sealed-objects.ts'

/** An object to which a blob refers. */
interface ReferencedObject {
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

/** Maximum number of versions in the name of a damage. */
const versionsShownMax = 10

/** Objects that no record of the store names. */
interface UnnamedObjects {
  readonly objects: number
  /** Size in the place, in bytes. */
  readonly bytes: number
  /** Whether the place belongs to another store, which may need the objects. */
  readonly isOfOtherStore: boolean
}

export interface CheckedObjects {
  readonly state: 'checked'
  /** Path or URL of the place, without credentials. */
  readonly place: string
  /** Number of objects that the store names. `bytes` is the total size of their contents that could be read. */
  readonly objects: number
  readonly bytes: number
  /** null: the store is damaged, so its records do not show all objects that it needs. */
  readonly unnamed: UnnamedObjects | null
  readonly damages: readonly Damage[]
}

/** The place is not configured, belongs to another store or key, or cannot be used. */
export interface UncheckedObjects {
  readonly state: 'unchecked'
  readonly problem: string
}

/**
 * Reads and checks each object that a store names, and counts the objects of the place that it does not name. Does not
 * stop at damage, and changes nothing. Returns null if the store names no object and no object storage is configured.
 * @param objects null: no object storage is configured
 * @param isStoreSound whether all records of the store could be read
 */
export async function verifyObjects(
  inventory: ObjectInventory,
  objects: SealedObjects | null,
  isStoreSound: boolean,
  onProgress: Progress,
): Promise<CheckedObjects | UncheckedObjects | null> {
  if (objects === null) return inventory.count === 0 ? null : { state: 'unchecked', problem: notConfigured }
  const damages: Damage[] = []
  try {
    await checkOwner(inventory, objects)
    const bytes = await readAll(inventory, objects, damages, onProgress)
    // The place may have become unavailable meanwhile, for example if its disk is not mounted any more.
    const owner = await checkOwner(inventory, objects)
    const unnamed = isStoreSound ? await countUnnamed(inventory, objects, owner) : null
    return { state: 'checked', place: objects.name, objects: inventory.count, bytes, unnamed, damages }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    return { state: 'unchecked', problem: error.message }
  }
}

/**
 * Returns the id of the store to which the place belongs; null if it belongs to none.
 * @throws StorageError if the objects of this store are at another place
 */
async function checkOwner({ place }: ObjectInventory, objects: SealedObjects): Promise<string | null> {
  const owner = await objects.owner()
  if (place?.isReserved !== true || owner === place.id) return owner
  throw new StorageError(
    owner === null
      ? `${objects.name} does not hold the contents of the saved versions of this store`
      : `${objects.name} holds the saved versions of another store`,
  )
}

/** Adds the damages. Returns the total size of the undamaged contents in bytes. */
async function readAll(
  inventory: ObjectInventory,
  objects: SealedObjects,
  damages: Damage[],
  onProgress: Progress,
): Promise<number> {
  const reads = mapInOrder(
    inventory.objects(),
    async (object) => ({ object, problem: await problemOf(object, objects) }),
    { ...objectsAhead, bytesOf: ({ reference }) => reference.bytes },
  )
  let [done, bytes] = [0, 0]
  for await (const { object, problem } of reads) {
    onProgress('objects', ++done / inventory.count)
    if (problem === null) bytes += object.reference.bytes
    else damages.push({ kind: 'object', what: nameOf(object), problem })
  }
  return bytes
}

async function problemOf({ reference }: ReferencedObject, objects: SealedObjects): Promise<string | null> {
  try {
    await objects.getForBackup(reference)
    return null
  } catch (error) {
    if (error instanceof DamagedRecordError) return error.message
    throw error
  }
}

/** Names the editor by the key of its log, like other damages, and the versions by their ids. */
function nameOf({ key, versionIds }: ReferencedObject & { readonly key: readonly string[] }): string {
  const editor = JSON.stringify(key.slice(1, -1))
  if (versionIds.length === 0) return `${editor}, content without a version`
  const more = versionIds.length - versionsShownMax
  const shown = versionIds.slice(0, versionsShownMax).join(', ')
  return `${editor}, version ${shown}${more > 0 ? ` and ${more} more` : ''}`
}

async function countUnnamed(
  inventory: ObjectInventory,
  objects: SealedObjects,
  owner: string | null,
): Promise<UnnamedObjects> {
  let [count, bytes] = [0, 0]
  for await (const { name, size } of objects.list()) {
    if (inventory.has(name)) continue
    count += 1
    bytes += size
  }
  return { objects: count, bytes, isOfOtherStore: owner !== null && owner !== inventory.place?.id }
}
