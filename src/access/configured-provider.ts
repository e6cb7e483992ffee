import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Tenants } from '../directory/tenants.ts'
import type { Tenant } from '../model/address.ts'
import { IdentityProvider } from './identity-provider.ts'

/** The provider of the configuration; null when there is none. @param first whose tokens they are unless it is said */
export function configuredProvider(
  { jwtJwksUrl, jwtIssuer, jwtAudience, jwtClaims, jwtApiKey }: Config,
  { first, tenants, clock }: { first: Tenant; tenants: Tenants; clock: Clock },
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
  })
}
