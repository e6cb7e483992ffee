import { tenantKeys, tenantPart } from '../directory/organizations/organization-keys.ts'
import type { Kv } from '../engine/engine.ts'
import type { UserDataScope } from './user-data-source.ts'

/** Returns the organization after `before`, or the first one if `before` is null. Returns null if there is none. */
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
