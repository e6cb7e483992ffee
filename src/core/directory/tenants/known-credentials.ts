import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/error.ts'
import { readCredentials } from './credentials-file.ts'

/** The options that decide which credentials of a workspace are known. */
type ConfiguredWorkspace = Pick<Config, 'workspaceId' | 'workspaceAuthToken' | 'bootstrap' | 'dataDir'>

/** The options that decide which credentials are known. */
export type ConfiguredTenant = Pick<Config, 'workspaceId' | 'apiKey' | 'authToken' | 'jwtSecret' | 'dataDir'>

/** Flags that override the configured credentials. */
export interface TenantFlags {
  readonly workspace?: string
  readonly apiKey?: string
}

/**
 * Returns the known credentials for a server. They come from flags, from the configuration, or from the data
 * directory.
 */
export async function credentialsOf(config: ConfiguredTenant, flags: TenantFlags = {}) {
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
export async function restCredentialsOf(config: ConfiguredTenant, flags: TenantFlags = {}) {
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

/** Returns the configured token of a workspace; undefined if no such token is configured. */
export function configuredWorkspaceToken(
  { workspaceId, workspaceAuthToken, bootstrap }: ConfiguredWorkspace,
  id: string,
): string | undefined {
  const own = workspaceId === null || workspaceId === id ? workspaceAuthToken : null
  return bootstrap.find((each) => each.workspaceId === id)?.workspaceAuthToken ?? own ?? undefined
}

/**
 * Returns the credentials of a workspace for REST calls. They come from a flag, from the configuration, or from the
 * data directory.
 * @throws ConfigError
 */
export async function workspaceCredentialsOf(
  config: ConfiguredWorkspace,
  flags: Pick<TenantFlags, 'workspace'>,
) {
  const kept = (await readCredentials(config.dataDir)) ?? {}
  const workspaceId = flags.workspace ?? config.workspaceId ?? kept.workspaceId
  if (workspaceId === undefined)
    throw new ConfigError(`${config.dataDir} has no credentials`, {
      hint: 'name the data directory of the server (--data-dir), or set WEFT_WORKSPACE_ID and WEFT_WORKSPACE_AUTH_TOKEN',
    })
  const stored = workspaceId === kept.workspaceId ? kept.workspaceAuthToken : undefined
  const workspaceAuthToken = configuredWorkspaceToken(config, workspaceId) ?? stored
  if (workspaceAuthToken !== undefined) return { workspaceId, workspaceAuthToken }
  throw new ConfigError(`no token of the workspace ${JSON.stringify(workspaceId)} is configured`, {
    hint: 'set WEFT_WORKSPACE_AUTH_TOKEN, or name the data directory of the server (--data-dir)',
  })
}
