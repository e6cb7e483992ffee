import { resolve } from 'node:path'
import { readTokenFile } from '../../capabilities/backups/storage/backup.ts'
import type { StoreLocation } from '../../capabilities/backups/storage/offline-store.ts'
import type { Config } from '../../core/config/config.ts'
import { isLoopbackHost } from '../../core/config/public-url.ts'
import { ConfigError } from '../../core/config/read-config.ts'
import {
  adminTokenOf,
  type ConfiguredTenant,
  credentialsOf,
  readCredentials,
  type TenantFlags,
} from '../../core/directory/tenants/credentials-file.ts'
import type { Tenant } from '../../core/model/address.ts'
import { EngineOpenError } from '../../core/store/engine.ts'
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

function configuredStore(config: Config): StoreLocation {
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
 * Returns the tenant of the documents.
 * @throws ConfigError
 */
export async function tenantOf(config: ConfiguredTenant, flags: TenantFlags): Promise<Tenant> {
  const { workspaceId, apiKey } = await credentialsOf(config, flags)
  if (workspaceId !== undefined && apiKey !== undefined) return { workspaceId, apiKey }
  throw noCredentials(config)
}

/**
 * Checks that the store has the API key for which a command creates a credential without a server. The key in
 * the data directory always exists. Any other key is looked up in the store, unless a running server uses the
 * store.
 * @throws BootstrapError
 */
export async function requireStoredKey(
  config: Config,
  { workspaceId, apiKey }: { readonly [K in keyof Tenant]: Tenant[K] | undefined },
): Promise<void> {
  if (workspaceId === undefined || apiKey === undefined || config.engine === 'memory') return
  const kept = await readCredentials(config.dataDir)
  if (kept?.apiKey === apiKey && kept.workspaceId === workspaceId) return
  const { hasStore } = await import('../../capabilities/backups/storage/offline-store.ts')
  const place = configuredStore(config)
  if (!(await hasStore(place))) return
  const { openTenant } = await import('../../capabilities/backups/storage/offline-store.ts')
  try {
    await (await openTenant(place, { workspaceId, apiKey })).close()
  } catch (error) {
    if (!(error instanceof EngineOpenError && error.reason === 'locked')) throw error
  }
}

/** Option that names a file with the admin token, for `requireAdminToken`. */
export const tokenFileOption = [
  '--token-file <file>',
  'File with the admin token of the server (default: WEFT_ADMIN_TOKEN, else that of the data directory).',
] as const

/**
 * Returns the admin token for a command that needs it. The token of the data directory is sent only to the server of
 * this machine, or at its public URL.
 * @param url URL of the server
 * @throws ConfigError, StorageError
 */
export async function requireAdminToken(url: string, tokenFile: string | undefined): Promise<string> {
  if (tokenFile !== undefined) return readTokenFile(tokenFile)
  const config = readableConfig()
  const isOwn = config !== null && isOwnServer(url, config.publicUrl)
  const token = process.env.WEFT_ADMIN_TOKEN || (isOwn && (await adminTokenOf(config)))
  if (token) return token
  throw new ConfigError('the admin token of the server is missing', {
    hint: 'name a file that contains it: --token-file FILE, or set WEFT_ADMIN_TOKEN, or WEFT_DATA_DIR to the data directory of the server',
  })
}

function isOwnServer(url: string, publicUrl: string | null): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, origin } = new URL(url)
  if (isLoopbackHost(hostname.replace(/^\[|\]$/g, ''))) return true
  return publicUrl !== null && new URL(publicUrl).origin === origin
}

export const noCredentials = ({ dataDir }: Pick<Config, 'dataDir'>): ConfigError =>
  new ConfigError(`${dataDir} has no credentials`, {
    hint: 'start the server once, run weft init, or name its data directory (--data-dir)',
  })
