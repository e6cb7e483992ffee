import { decodeStoredBlob } from '../../../core/store/pairs/stored-blob.ts'
import { StorageError } from '../storage/storage-error.ts'
import { notConfigured } from './object-blobs.ts'
import type { SealedObjects } from './sealed-objects.ts'

/**
 * Returns the content of a blob from the value that the engine stores.
 * @throws DamagedRecordError if the value or the object is damaged; StorageError if the object cannot be read
 */
export async function readStoredBlob(value: Uint8Array, objects: SealedObjects | null): Promise<Uint8Array> {
  const stored = decodeStoredBlob(value)
  if (stored.is === 'content') return stored.content
  if (objects === null) throw new StorageError(notConfigured)
  return objects.get(stored.reference)
}
