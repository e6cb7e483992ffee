import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import type { TenantStore } from '../../directory/tenants/tenant-store.ts'
import type { Tenant } from '../../model/address.ts'
import { IdentityProvider, type IdentityProviderOptions } from './identity-provider.ts'

/**
 * Creates the configured identity provider. Returns null if none is configured. Tokens that do not contain an
 * API key get that of `first`.
 */
export function createIdentityProvider(
  { jwtJwksUrl, jwtIssuer, jwtAudience, jwtClaims }: Config,
  first: Tenant,
  tenants: TenantStore,
  clock: Clock,
  onMisspelledClaim: IdentityProviderOptions['onMisspelledClaim'],
): IdentityProvider | null {
  if (jwtJwksUrl === null || jwtIssuer === null || jwtAudience === null) return null
  return new IdentityProvider({
    jwksUrl: jwtJwksUrl,
    issuer: jwtIssuer,
    audience: jwtAudience,
    claims: jwtClaims,
    apiKey: first.apiKey,
    tenantOf: (apiKey) => tenants.tenantOf(apiKey),
    clock,
    onMisspelledClaim,
  })
}
