import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../base/errors.ts'
import type { AuthTokenRecord } from '../../directory/store/records.ts'
import type { Tenant } from '../../model/address.ts'
import {
  type CredentialOptions,
  invalidCredentials,
  readHeader,
  requireHeader,
} from './credential-headers.ts'
import { timingSafeEqualText, timingSafeIndexOf } from './timing-safe.ts'

/** A backend with a valid API key and a valid auth token. It may do everything within its tenant. */
export interface KeyCaller {
  readonly level: 'key'
  readonly tenant: Tenant
  /** The auth token of the request. Null if the request has no token because none is required. */
  readonly authToken: string | null
  /** Time at which a replaced auth token becomes invalid, in epoch milliseconds. Infinity for a current token. */
  readonly validUntil: number
}

/**
 * Checks the credentials that a request repeats in its body.
 * @throws ApiError UNAUTHENTICATED unless they equal the credentials of the caller. If the caller has no auth
 * token, only the API keys are compared
 */
export function checkBodyCredentials(
  { tenant, authToken }: KeyCaller,
  repeated: { readonly apiKey: string; readonly authToken: string },
): void {
  // Compares both values in every case, so that the duration does not reveal which one differs.
  const same = [
    timingSafeEqualText(tenant.apiKey, repeated.apiKey),
    timingSafeEqualText(authToken ?? repeated.authToken, repeated.authToken),
  ]
  if (same.includes(false))
    throw new ApiError(
      'auth/credentials-mismatch',
      'the credentials in the body differ from those in the headers; send the same ones in both',
    )
}

export const apiKeyHeader = { name: 'x-service-api-key', what: 'API key' } as const
export const authTokenHeader = { name: 'x-service-auth-token', what: 'auth token' } as const

interface Accepted extends Omit<KeyCaller, 'level'> {
  /** Domains whose pages may use the auth token. If empty, pages of all domains may use it. */
  readonly domains: readonly string[]
}

/**
 * Compared with the given token if the API key is unknown. The check then takes about as long as a check with
 * a wrong token.
 */
const noTokens = ['']

/**
 * Authenticates a backend by its API key and auth token.
 * @throws ApiError INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED; see `Authenticator`
 */
export async function authenticateKey(
  headers: IncomingHttpHeaders,
  options: CredentialOptions,
): Promise<KeyCaller> {
  const accepted = await acceptedOf(headers, options)
  const { origin } = headers
  const { tenant, domains } = accepted
  if (origin !== undefined && !(await options.origins.isAllowed(tenant, origin, domains))) {
    options.onRefusal('wrong_origin')
    throw new ApiError(
      'auth/origin-not-allowed',
      'pages of this origin may not use the API key; allow its domain with /v2/workspace/domains/add',
    )
  }
  return { level: 'key', tenant, authToken: accepted.authToken, validUntil: accepted.validUntil }
}

async function acceptedOf(headers: IncomingHttpHeaders, options: CredentialOptions): Promise<Accepted> {
  const { tenants, clock, defaultTenant, onRefusal } = options
  const given = [apiKeyHeader, authTokenHeader].map((header) => readHeader(headers, header))
  if (defaultTenant !== null && given.every((value) => value === null))
    return { tenant: defaultTenant, authToken: null, validUntil: Number.POSITIVE_INFINITY, domains: [] }
  const apiKey = requireHeader(headers, apiKeyHeader, onRefusal)
  const authToken = requireHeader(headers, authTokenHeader, onRefusal)
  const tenant = await tenants.tenantOf(apiKey)
  const records = tenant === null ? [] : await tenants.validTokens(tenant, clock.now())
  const record = matching(records, authToken)
  if (tenant !== null && record !== undefined) {
    const { domains, validUntil = Number.POSITIVE_INFINITY } = record
    return { tenant, authToken, validUntil, domains }
  }
  throw invalidCredentials('the API key or the auth token is not valid; check both headers', onRefusal)
}

function matching<Token extends AuthTokenRecord>(
  records: readonly Token[],
  authToken: string,
): Token | undefined {
  const tokens = records.map(({ token }) => token)
  return records[timingSafeIndexOf(tokens.length === 0 ? noTokens : tokens, authToken)]
}
