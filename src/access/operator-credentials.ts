import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../errors.ts'
import { type OnRefusal, requireHeader, wrongCredentials } from './credential-headers.ts'
import { timingSafe } from './secrets.ts'

/** Who runs this server: makes workspaces. */
export interface OperatorCaller {
  readonly level: 'operator'
}

export const adminTokenHeader = { name: 'x-service-admin-token', what: 'admin token' } as const

export interface OperatorOptions {
  /** What the operator has to show; null where nobody can. */
  readonly adminToken: string | null
  readonly onRefusal: OnRefusal
}

/** @throws ApiError FAILED_PRECONDITION, INVALID_ARGUMENT, UNAUTHENTICATED: see `Authenticator` */
export async function operatorCallerOf(
  headers: IncomingHttpHeaders,
  { adminToken, onRefusal }: OperatorOptions,
): Promise<OperatorCaller> {
  if (adminToken === null)
    throw new ApiError('FAILED_PRECONDITION', 'this server has no admin token: WEFT_ADMIN_TOKEN sets it')
  const given = requireHeader(headers, adminTokenHeader, onRefusal)
  if (timingSafe(adminToken, given)) return { level: 'operator' }
  throw wrongCredentials('the admin token is not valid', onRefusal)
}
