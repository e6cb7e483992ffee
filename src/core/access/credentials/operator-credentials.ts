import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../base/errors.ts'
import { type CredentialOptions, invalidCredentials, requireHeader } from './credential-headers.ts'
import { timingSafeEqualText } from './timing-safe.ts'

/** The operator of this server. Only this caller may create workspaces. */
export interface OperatorCaller {
  readonly level: 'operator'
}

export const adminTokenHeader = { name: 'x-service-admin-token', what: 'admin token' } as const

/**
 * Authenticates the operator.
 * @throws ApiError FAILED_PRECONDITION, INVALID_ARGUMENT, UNAUTHENTICATED; see `Authenticator`
 */
export async function authenticateOperator(
  headers: IncomingHttpHeaders,
  { adminToken, onRefusal }: Pick<CredentialOptions, 'adminToken' | 'onRefusal'>,
): Promise<OperatorCaller> {
  if (adminToken === null)
    throw new ApiError(
      'auth/admin-token-unset',
      'this server has no admin token; start it with WEFT_ADMIN_TOKEN',
    )
  const given = requireHeader(headers, adminTokenHeader, onRefusal)
  if (timingSafeEqualText(adminToken, given)) return { level: 'operator' }
  throw invalidCredentials('the admin token is not valid; it is the value of WEFT_ADMIN_TOKEN', onRefusal)
}
