import type { Config } from '../../config.ts'
import type { StoreLocation } from '../../storage/offline-store.ts'
import { configOf } from '../command-line/command-io.ts'

/**
 * Returns the store in the given data directory, or the configured store.
 * @throws ConfigError
 */
export function storeLocation(data: string | undefined): StoreLocation {
  if (data !== undefined) return data
  return configuredStore(configOf({}).config)
}

export function configuredStore(config: Config): StoreLocation {
  if (config.engine !== 'postgres' || config.postgresUrl === null) return config.dataDir
  return {
    url: config.postgresUrl,
    schema: config.postgresSchema,
    directory: config.dataDir,
  }
}
