import type { IncomingHttpHeaders } from 'node:http'
import type { Tenants } from '../directory/tenants.ts'
import { ApiError, invalid } from '../errors.ts'
import type { Tenant } from '../model/address.ts'
import { timingSafeIncludes } from './secrets.ts'

/** A backend that has shown an API key and its auth token: may do everything within its tenant. */
export interface Caller {
  readonly tenant: Tenant
}

export const apiKeyHeader = 'x-service-api-key'
export const authTokenHeader = 'x-service-auth-token'

/** Why credentials were refused: the label of the metric. */
export type CredentialsProblem = 'missing_credentials' | 'wrong_credentials'

export interface CredentialsOptions {
  readonly tenants: Tenants
  /** Whom a call without credentials acts as; null where credentials are required. */
  readonly defaultTenant: Tenant | null
  onRefusal(problem: CredentialsProblem): void
}

/** Compared with when an API key is unknown, so that this takes as long as a wrong token. */
const noTokens = ['']

/** Headers → who is calling. */
export class KeyCredentials {
  readonly #options: CredentialsOptions

  constructor(options: CredentialsOptions) {
    this.#options = options
  }

  /**
   * @throws ApiError INVALID_ARGUMENT when a header is missing, UNAUTHENTICATED when the pair is not valid: one message
   *   for an unknown key and for a wrong token
   */
  async callerOf(headers: IncomingHttpHeaders): Promise<Caller> {
    const apiKey = headerOf(headers, apiKeyHeader)
    const authToken = headerOf(headers, authTokenHeader)
    const { defaultTenant } = this.#options
    if (apiKey === null && authToken === null && defaultTenant !== null) return { tenant: defaultTenant }
    if (apiKey === null) throw this.#missing('API key', apiKeyHeader)
    if (authToken === null) throw this.#missing('auth token', authTokenHeader)
    const tenant = await this.#tenantOf(apiKey, authToken)
    if (tenant !== null) return { tenant }
    this.#options.onRefusal('wrong_credentials')
    throw new ApiError('UNAUTHENTICATED', 'the API key or the auth token is not valid')
  }

  async #tenantOf(apiKey: string, authToken: string): Promise<Tenant | null> {
    const { tenants } = this.#options
    const tenant = await tenants.tenantOf(apiKey)
    const tokens = tenant === null ? [] : (await tenants.authTokens(tenant)).map(({ token }) => token)
    const matches = timingSafeIncludes(tokens.length === 0 ? noTokens : tokens, authToken)
    return matches ? tenant : null
  }

  #missing(what: string, header: string): ApiError {
    this.#options.onRefusal('missing_credentials')
    return invalid(`the ${what} is not found in the headers: send ${header}`)
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}
