import { ConfigError } from '../config/read.ts'
import type { Config } from '../config.ts'
import { readCredentials } from '../directory/credentials-file.ts'
import type { Tenant } from '../model/address.ts'

type Configured = Pick<Config, 'workspaceId' | 'apiKey' | 'authToken' | 'jwtSecret' | 'data'>

/** Instead of what is configured. */
export interface TenantFlags {
  readonly workspace?: string
  readonly apiKey?: string
}

/** What is known of the credentials of a server: given, configured, or kept in its data directory. */
export async function credentialsOf(config: Configured, flags: TenantFlags = {}) {
  const kept = (await readCredentials(config.data)) ?? {}
  return {
    workspaceId: flags.workspace ?? config.workspaceId ?? kept.workspaceId,
    apiKey: flags.apiKey ?? config.apiKey ?? kept.apiKey,
    authToken: config.authToken ?? kept.authToken,
    jwtSecret: config.jwtSecret ?? kept.jwtSecret,
  }
}

/** What calls by REST need. @throws ConfigError */
export async function callKeyOf(config: Configured, flags: TenantFlags = {}) {
  const { apiKey, authToken } = await credentialsOf(config, flags)
  if (apiKey !== undefined && authToken !== undefined) return { apiKey, authToken }
  throw new ConfigError(`${config.data} has no credentials`, {
    hint: 'name the data directory of the server (--data), or set WEFT_API_KEY and WEFT_AUTH_TOKEN',
  })
}

/** Whose documents are meant. @throws ConfigError */
export async function tenantOf(config: Configured, flags: TenantFlags): Promise<Tenant> {
  const { workspaceId, apiKey } = await credentialsOf(config, flags)
  if (workspaceId !== undefined && apiKey !== undefined) return { workspaceId, apiKey }
  throw noCredentials(config)
}

export const noCredentials = ({ data }: Pick<Config, 'data'>): ConfigError =>
  new ConfigError(`${data} has no credentials`, {
    hint: 'start the server once, run weft init, or name its data directory (--data)',
  })
