import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../base/errors.ts'
import type { WorkspaceRecord } from '../../directory/store/records.ts'
import {
  type CredentialOptions,
  invalidCredentials,
  readHeader,
  requireHeader,
} from './credential-headers.ts'
import { timingSafeIndexOf } from './timing-safe.ts'

/**
 * A backend with the id and the token of a workspace. It manages the API keys of the workspace, and their
 * tokens.
 */
export interface WorkspaceCaller {
  readonly level: 'workspace'
  readonly workspaceId: string
}

export const workspaceIdHeader = { name: 'x-service-workspace-id', what: 'workspace id' } as const
export const workspaceAuthTokenHeader = {
  name: 'x-service-workspace-auth-token',
  what: 'workspace auth token',
} as const

/**
 * Authenticates a backend by the id and the token of a workspace.
 * @throws ApiError INVALID_ARGUMENT, NOT_FOUND, UNAUTHENTICATED; see `Authenticator`
 */
export async function authenticateWorkspace(
  headers: IncomingHttpHeaders,
  { tenants, clock, defaultTenant, onRefusal }: CredentialOptions,
): Promise<WorkspaceCaller> {
  const given = [workspaceIdHeader, workspaceAuthTokenHeader].map((header) => readHeader(headers, header))
  if (defaultTenant !== null && given.every((value) => value === null))
    return { level: 'workspace', workspaceId: defaultTenant.workspaceId }
  const id = requireHeader(headers, workspaceIdHeader, onRefusal)
  const token = requireHeader(headers, workspaceAuthTokenHeader, onRefusal)
  const workspace = await tenants.workspace(id)
  // The tokens are compared even if the workspace does not exist, so that both cases take equally long.
  const matches = timingSafeIndexOf(validTokens(workspace, clock.now()), token) !== -1
  if (workspace !== null && matches) return { level: 'workspace', workspaceId: id }
  const message = 'the workspace id or the workspace auth token is not valid'
  const refusal = invalidCredentials(message, onRefusal)
  // Both cases have the same message. Only the status differs, as the specification requires.
  throw workspace === null ? new ApiError('workspace/not-found', message) : refusal
}

/** Returns the valid tokens of a workspace, including replaced ones. */
function validTokens(workspace: WorkspaceRecord | null, now: number): readonly string[] {
  if (workspace === null) return ['']
  const retired = (workspace.retiredTokens ?? []).filter(({ validUntil }) => validUntil > now)
  return [workspace.authToken, ...retired.map(({ token }) => token)]
}
