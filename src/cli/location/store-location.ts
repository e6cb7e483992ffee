import { resolve } from 'node:path'
import { ObjectPlace } from '../../capabilities/backups/objects/object-place.ts'
import { openObjects } from '../../capabilities/backups/objects/open-objects.ts'
import { resolveDump } from '../../capabilities/backups/objects/resolve-dump.ts'
import type { SealedObjects } from '../../capabilities/backups/objects/sealed-objects.ts'
import type { DumpResolver } from '../../capabilities/backups/storage/backup.ts'
import type { StoreLocation } from '../../capabilities/backups/storage/offline-store.ts'
import { systemClock } from '../../core/base/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { configOf } from '../command-line/command-io.ts'

/**
 * Returns the store in the given data directory, or the configured store.
 * @throws ConfigError
 */
export function storeLocation(data: string | undefined): StoreLocation {
  if (data !== undefined) return data
  return configuredStore(configOf({}).config)
}

/**
 * Returns the store of a data directory: the database if this is the data directory of the configuration, and the
 * configuration names a database; otherwise the directory itself. A configuration that cannot be read names no
 * database.
 */
export function storeOf(directory: string): StoreLocation {
  const config = readableConfig()
  return config !== null && resolve(directory) === config.dataDir ? configuredStore(config) : directory
}

export function configuredStore(config: Config): StoreLocation {
  if (config.engine !== 'postgres' || config.postgresUrl === null) return config.dataDir
  return {
    url: config.postgresUrl,
    schema: config.postgresSchema,
    directory: config.dataDir,
  }
}

/**
 * Returns the configuration; null if it cannot be read. Commands that need the configuration report the error
 * themselves.
 */
export function readableConfig(file?: string): Config | null {
  try {
    return configOf({ config: file }).config
  } catch {
    return null
  }
}

/**
 * Opens the object storage of the configuration; null if none is configured.
 * @throws StorageError, ConfigError
 */
export async function configuredObjects(): Promise<SealedObjects | null> {
  const config = readableConfig()
  return config === null ? null : openObjects(config, { clock: systemClock })
}

/** Reads the contents of saved versions that are in the configured object storage. */
export const resolveConfigured: DumpResolver = async (dump, kv) => {
  const objects = await configuredObjects()
  objects?.belongTo(new ObjectPlace(kv))
  return resolveDump(dump, objects)
}
