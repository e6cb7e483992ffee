import type { Config } from '../../core/config/config.ts'
import { ConfigError } from '../../core/config/read-config.ts'
import {
  type ConfiguredTenant,
  credentialsOf,
  readCredentials,
  type TenantFlags,
} from '../../core/directory/tenants/credentials-file.ts'
import type { Tenant } from '../../core/model/address.ts'
import { EngineOpenError } from '../../core/store/engine.ts'
import { configuredStore } from './store-location.ts'

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
  const { openTenant } = await import('../../capabilities/backups/storage/open-tenant.ts')
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
