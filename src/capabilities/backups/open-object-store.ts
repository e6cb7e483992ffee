import { resolve } from 'node:path'
import type { Clock } from '../../core/base/clock.ts'
import { readS3Settings } from '../../core/config/s3-settings.ts'
import { FolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'
import { StorageError } from './storage/storage-error.ts'

/** Returns whether a text is the URL of a bucket. */
export const isBucketUrl = (location: string): boolean => location.startsWith('s3://')

/**
 * Opens the place of a backup repository.
 * @param location path of a folder, or `s3://bucket/prefix` with the settings in the variables of AWS
 * @throws StorageError for a URL of another kind; ConfigError if settings of the bucket are missing
 */
export async function openObjectStore(location: string, clock: Clock): Promise<ObjectStore> {
  if (isBucketUrl(location)) {
    const { parseS3Location, S3Store } = await import('./s3-store.ts')
    return new S3Store(parseS3Location(location), readS3Settings())
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(location))
    throw new StorageError('a URL of this kind is not the place of a backup repository', {
      hint: 'name a folder, or s3://bucket/prefix',
    })
  return new FolderStore(resolve(location), clock)
}
