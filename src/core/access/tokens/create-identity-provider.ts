import type { Config } from '../../config/config.ts'
import type { TenantStore } from '../../directory/tenants/tenant-store.ts'
import type { Tenant } from '../../model/address.ts'
import { IdentityProvider, type IdentityProviderOptions } from './identity-provider.ts'

interface ProviderDependencies extends Pick<IdentityProviderOptions, 'clock' | 'onMisspelledClaim'> {
  readonly first: Tenant
  readonly tenants: TenantStore
}

/**
 * Creates the configured identity provider. Returns null if none is configured. Tokens that do not contain an
 * API key get the configured one (`jwtApiKey`), otherwise the API key of `first`.
 */
export function createIdentityProvider(
  { jwtJwksUrl, jwtIssuer, jwtAudience, jwtClaims, jwtApiKey }: Config,
  { first, tenants, clock, onMisspelledClaim }: ProviderDependencies,
): IdentityProvider | null {
  if (jwtJwksUrl === null || jwtIssuer === null || jwtAudience === null) return null
  return new IdentityProvider({
    jwksUrl: jwtJwksUrl,
    issuer: jwtIssuer,
    audience: jwtAudience,
    claims: jwtClaims,
    apiKey: jwtApiKey ?? first.apiKey,
    tenantOf: (apiKey) => tenants.tenantOf(apiKey),
    clock,
    onMisspelledClaim,
  })
}
