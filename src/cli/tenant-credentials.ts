import { ConfigError } from '../config/read-config.ts'
import type { Config } from '../config.ts'
import { readCredentials } from '../directory/tenants/credentials-file.ts'
import { EngineOpenError } from '../engine/engine.ts'
import type { Tenant } from '../model/address.ts'
import { configuredStore } from './storage/store-location.ts'

type Configured = Pick<Config, 'workspaceId' | 'apiKey' | 'authToken' | 'jwtSecret' | 'dataDir'>

/** Flags that override the configured credentials. */
export interface TenantFlags {
  readonly workspace?: string
  readonly apiKey?: string
}

/**
 * Returns the known credentials for a server. They come from flags, from the configuration, or from the data
 * directory.
 */
export async function credentialsOf(config: Configured, flags: TenantFlags = {}) {
  const kept = (await readCredentials(config.dataDir)) ?? {}
  const apiKey = flags.apiKey ?? config.apiKey ?? kept.apiKey
  return {
    workspaceId: flags.workspace ?? config.workspaceId ?? kept.workspaceId,
    apiKey,
    // The file in the data directory contains the token of only one API key, which is also in the file.
    authToken: config.authToken ?? (apiKey === kept.apiKey ? kept.authToken : undefined),
    jwtSecret: config.jwtSecret ?? kept.jwtSecret,
  }
}

/**
 * Returns the credentials for REST calls.
 * @throws ConfigError
 */
export async function restCredentialsOf(config: Configured, flags: TenantFlags = {}) {
  const { apiKey, authToken } = await credentialsOf(config, flags)
  if (apiKey !== undefined && authToken !== undefined) return { apiKey, authToken }
  if (apiKey !== undefined)
    throw new ConfigError(`no auth token of the API key ${JSON.stringify(apiKey)} is configured`, {
      hint: 'set WEFT_AUTH_TOKEN, or set WEFT_API_KEY to one that `weft keys list` shows',
    })
  throw new ConfigError(`${config.dataDir} has no credentials`, {
    hint: 'name the data directory of the server (--data-dir), or set WEFT_API_KEY and WEFT_AUTH_TOKEN',
  })
}

/**
 * Returns the tenant of the documents.
 * @throws ConfigError
 */
export async function tenantOf(config: Configured, flags: TenantFlags): Promise<Tenant> {
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
  const { hasStore } = await import('../storage/offline-store.ts')
  const place = configuredStore(config)
  if (!(await hasStore(place))) return
  const { openTenant } = await import('../storage/open-tenant.ts')
  try {
    await (await openTenant(place, { workspaceId, apiKey })).close()
  } catch (error) {
    if (!(error instanceof EngineOpenError && error.reason === 'locked')) throw error
  }
}

export const noCredentials = ({ dataDir }: Pick<Config, 'dataDir'>): ConfigError =>
  new ConfigError(`${dataDir} has no credentials`, {
    hint: 'start the server once, run weft init, or name its data directory (--data-dir)',
  })
