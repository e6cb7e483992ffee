import { resolve } from 'node:path'
import type { Clock } from '../clock.ts'
import { StorageError } from '../storage/storage-error.ts'
import { FolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Opens the place of a backup repository: the path of a folder.
 * @throws StorageError for a URL of another kind
 */
export async function openObjectStore(location: string, clock: Clock): Promise<ObjectStore> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(location))
    throw new StorageError(`${JSON.stringify(location)} is not the place of a backup repository`, {
      hint: 'name a folder',
    })
  return new FolderStore(resolve(location), clock)
}
