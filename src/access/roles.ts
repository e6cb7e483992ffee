import type { DocumentAddress } from '../model/address.ts'
import type { DocumentAccess } from './document-access.ts'
import type { Grant, Identity } from './identity.ts'
import { liveRole } from './live-role.ts'

export type Role = 'editor' | 'viewer'

export interface RoleOnDocument {
  /** Null: the document does not exist for this user. */
  readonly role: Role | null
  /** Epoch milliseconds at which to ask again, because a grant or the token ends then; Infinity when never. */
  readonly until: number
}

/**
 * What an identity may do on a document at `now` (epoch milliseconds): the lesser of what its token grants and what
 * the directory says of its user. Another tenant's documents are absent; an admin edits all of its own, unless they
 * are disabled or deleted.
 */
export function roleOn(
  identity: Identity,
  address: DocumentAddress,
  access: DocumentAccess,
  now: number,
): RoleOnDocument {
  const until = identity.expiresAt
  if (!ownsAddress(identity, address) || now >= until || access.state !== 'open') return nothing
  if (identity.admin) return { role: 'editor', until }
  const live = liveRole(access.levels, access.member, now)
  if (identity.grants === null) return { role: live.role, until: Math.min(live.until, until) }
  const granted = grantedRole(identity.grants, address, access.folderIds, now)
  const role = rank(live.role) < rank(granted.role) ? live.role : granted.role
  return { role, until: Math.min(granted.until, live.until, until) }
}

/** For good, as far as time goes: a change of rights is told. */
const nothing: RoleOnDocument = { role: null, until: Number.POSITIVE_INFINITY }

const ownsAddress = ({ tenant }: Identity, address: DocumentAddress): boolean =>
  tenant.workspaceId === address.workspaceId && tenant.apiKey === address.apiKey

/** The most specific unexpired grant decides: document, its folders from the nearest up, organization. */
function grantedRole(
  grants: readonly Grant[],
  { organizationId, documentId }: DocumentAddress,
  folderIds: readonly string[],
  now: number,
): RoleOnDocument {
  const resources = [
    { type: 'document', id: documentId },
    ...folderIds.map((id) => ({ type: 'folder', id })),
    { type: 'organization', id: organizationId },
  ]
  const valid = grants.filter((grant) => grant.organizationId === organizationId && endOf(grant) > now)
  for (const { type, id } of resources) {
    const grant = strongest(valid.filter((each) => each.type === type && each.id === id))
    if (grant !== null) return { role: grant.accessRole, until: endOf(grant) }
  }
  return nothing
}

const endOf = (grant: Grant): number =>
  grant.expiresAt === undefined ? Number.POSITIVE_INFINITY : grant.expiresAt * 1000

/** Of several grants on one resource: an editor's before a viewer's, then the one that lasts longest. */
const strongest = (grants: readonly Grant[]): Grant | null =>
  grants.toSorted((a, b) => rank(b.accessRole) - rank(a.accessRole) || endOrder(b) - endOrder(a))[0] ?? null

/** An end without which two grants cannot be subtracted. */
const endOrder = (grant: Grant): number => Math.min(endOf(grant), Number.MAX_SAFE_INTEGER)

const rank = (role: Role | null): number => (role === null ? 0 : role === 'viewer' ? 1 : 2)
