import type { Kv } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { tenantKeys, tenantPart } from '../organizations/organization-keys.ts'
import { deletionIn, deletionScope, readDeletion } from '../removal/deletion-record.ts'
import type { UserDataScope } from './user-data-source.ts'

/**
 * Returns the id of the organization after `before`. If `before` is null, returns the first one. Returns null
 * if there are no more organizations. The last ones are those that keep deleted data.
 */
export async function nextOrganization(
  kv: Kv,
  place: UserDataScope,
  before: string | null,
): Promise<string | null> {
  const { organizationId } = place
  const deletion = before === null ? null : deletionIn(before)
  if (deletion === null && (organizationId === null || before === null)) {
    if (organizationId !== null) return organizationId
    const after = before === null ? {} : { after: tenantKeys.organization(before) }
    const range = { prefix: tenantKeys.organizations, limit: 1, ...after }
    const [entry] = await kv.scan(tenantPart(place), range)
    if (entry !== undefined) return lastSegment(entry.key)
  }
  for (let after = deletion; ; ) {
    const from = after === null ? {} : { after: tenantKeys.deletion(after) }
    const [entry] = await kv.scan(tenantPart(place), { prefix: tenantKeys.deletions, limit: 1, ...from })
    if (entry === undefined) return null
    const found = readDeletion(entry)
    if (organizationId === null || found.organizationId === organizationId)
      return deletionScope(place, found.deletionId).organizationId
    after = found.deletionId
  }
}

/** Returns the id of the organization to which the data in an organization belongs; null if a restore has moved it. */
export async function shownOrganization(
  kv: Kv,
  place: UserDataScope,
  organizationId: string,
): Promise<string | null> {
  const deletionId = deletionIn(organizationId)
  if (deletionId === null) return organizationId
  const key = tenantKeys.deletion(deletionId)
  const [value = null] = await kv.get(tenantPart(place), [key])
  return value && readDeletion({ key, value }).organizationId
}
