import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import { ApiError, invalid } from '../../base/errors.ts'
import type { TenantStore } from '../../directory/tenants/tenant-store.ts'
import type { Tenant } from '../../model/address.ts'
import type { AllowedOrigins } from '../allowed-origins.ts'

/** Reason why credentials were rejected. It is also the value of the label of the metric. */
type CredentialsProblem = 'missing_credentials' | 'wrong_credentials' | 'wrong_origin'

/** A header that carries a credential. */
export interface CredentialHeader {
  readonly name: string
  /** Noun for messages, such as in "the … is missing". */
  readonly what: string
}

export type OnRejection = (problem: CredentialsProblem) => void

/** What the checks of credentials need. */
export interface CredentialOptions {
  readonly tenants: TenantStore
  readonly origins: AllowedOrigins
  readonly clock: Clock
  /** The token of the operator; null if the server has no such token. */
  readonly adminToken: string | null
  /** Tenant of calls without credentials. Null if credentials are required. */
  readonly defaultTenant: Tenant | null
  readonly onRefusal: OnRejection
}

/** Returns the value of the header. Returns null if the header is missing or empty. */
export function readHeader(headers: IncomingHttpHeaders, { name }: CredentialHeader): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * Returns the value of the header, which must exist.
 * @throws ApiError INVALID_ARGUMENT if the header is missing or empty
 */
export function requireHeader(
  headers: IncomingHttpHeaders,
  header: CredentialHeader,
  onRefusal: OnRejection,
): string {
  const value = readHeader(headers, header)
  if (value !== null) return value
  onRefusal('missing_credentials')
  const instead = headers.authorization === undefined ? '' : '; authorization is only for tokens of agents'
  throw invalid(
    'auth/missing-credentials',
    `the ${header.what} is missing: send the header ${header.name}${instead}`,
  )
}

/**
 * Returns an UNAUTHENTICATED error, and counts the rejection. The message must be the same for an unknown
 * name and for a wrong secret.
 */
export function invalidCredentials(message: string, onRefusal: OnRejection): ApiError {
  onRefusal('wrong_credentials')
  return new ApiError('auth/invalid-credentials', message)
}

const bearer = /^Bearer +(\S+)$/i

/** Returns the token of the header `Authorization: Bearer`; null if there is none. */
export const readBearer = ({ authorization = '' }: IncomingHttpHeaders): string | null =>
  bearer.exec(authorization)?.[1] ?? null
