import type { StorePlace } from '../storage/stopped.ts'
import { configOf } from './options.ts'

/** The store that is meant: the one in the data directory that is named, else the configured one. @throws ConfigError */
export function storePlace(data: string | undefined): StorePlace {
  if (data !== undefined) return data
  const { config } = configOf({})
  if (config.engine !== 'postgres' || config.postgresUrl === null) return config.data
  return {
    url: config.postgresUrl,
    schema: config.postgresSchema,
    statementTimeoutMs: config.postgresStatementSeconds * 1000,
    connectTimeoutMs: config.postgresConnectSeconds * 1000,
    directory: config.data,
  }
}
