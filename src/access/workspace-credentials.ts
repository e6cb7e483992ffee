import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../clock.ts'
import type { WorkspaceRecord } from '../directory/records.ts'
import type { Tenants } from '../directory/tenants.ts'
import type { Tenant } from '../model/address.ts'
import { headerOf, type OnRefusal, requireHeader, wrongCredentials } from './credential-headers.ts'
import { timingSafeIndexOf } from './secrets.ts'

/** A backend that has shown a workspace's id and token: manages its API keys and their tokens. */
export interface WorkspaceCaller {
  readonly level: 'workspace'
  readonly workspaceId: string
}

export const workspaceIdHeader = { name: 'x-service-workspace-id', what: 'workspace id' } as const
export const workspaceAuthTokenHeader = {
  name: 'x-service-workspace-auth-token',
  what: 'workspace auth token',
} as const

export interface WorkspaceOptions {
  readonly tenants: Tenants
  readonly clock: Clock
  /** Whom a call without credentials acts as; null where credentials are required. */
  readonly defaultTenant: Tenant | null
  readonly onRefusal: OnRefusal
}

/** @throws ApiError INVALID_ARGUMENT, UNAUTHENTICATED: see `Authenticator` */
export async function workspaceCallerOf(
  headers: IncomingHttpHeaders,
  { tenants, clock, defaultTenant, onRefusal }: WorkspaceOptions,
): Promise<WorkspaceCaller> {
  const given = [workspaceIdHeader, workspaceAuthTokenHeader].map((header) => headerOf(headers, header))
  if (defaultTenant !== null && given.every((value) => value === null))
    return { level: 'workspace', workspaceId: defaultTenant.workspaceId }
  const id = requireHeader(headers, workspaceIdHeader, onRefusal)
  const token = requireHeader(headers, workspaceAuthTokenHeader, onRefusal)
  const workspace = await tenants.workspace(id)
  // Compared also when there is none, so that both take equally long.
  const matches = timingSafeIndexOf(validTokens(workspace, clock.now()), token) !== -1
  if (workspace !== null && matches) return { level: 'workspace', workspaceId: id }
  throw wrongCredentials('the workspace id or the workspace auth token is not valid', onRefusal)
}

/** Replaced ones included. */
function validTokens(workspace: WorkspaceRecord | null, now: number): readonly string[] {
  if (workspace === null) return ['']
  const retired = (workspace.retiredTokens ?? []).filter(({ validUntil }) => validUntil > now)
  return [workspace.authToken, ...retired.map(({ token }) => token)]
}
