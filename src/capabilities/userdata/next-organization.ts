import { tenantKeys, tenantPart } from '../../core/directory/organizations/organization-keys.ts'
import type { UserDataScope } from '../../core/directory/user-data/user-data-source.ts'
import type { Kv } from '../../core/store/engine.ts'

/**
 * Returns the id of the organization after `before`. If `before` is null, returns the first one. Returns null
 * if there are no more organizations.
 */
export async function nextOrganization(
  kv: Kv,
  place: UserDataScope,
  before: string | null,
): Promise<string | null> {
  if (place.organizationId !== null) return before === null ? place.organizationId : null
  const after = before === null ? {} : { after: tenantKeys.organization(before) }
  const range = { prefix: tenantKeys.organizations, limit: 1, ...after }
  const [entry] = await kv.scan(tenantPart(place), range)
  return entry?.key.at(-1) ?? null
}
