import type { DocumentAddress } from '../model/address.ts'
import type { Grant, Identity } from './identity.ts'

export type Role = 'editor' | 'viewer'

export interface RoleOnDocument {
  /** Null: the document does not exist for this user. */
  readonly role: Role | null
  /** Epoch milliseconds at which to ask again, because a grant or the token ends then; Infinity when never. */
  readonly until: number
}

/**
 * What an identity may do on a document at `now` (epoch milliseconds): the lesser of what its token grants and what
 * the document's access type gives. Another tenant's documents are absent; an admin edits all of its own.
 */
export function roleOn(identity: Identity, address: DocumentAddress, now: number): RoleOnDocument {
  const until = identity.expiresAt
  if (!ownsAddress(identity, address) || now >= until) return { role: null, until: Number.POSITIVE_INFINITY }
  if (identity.admin) return { role: 'editor', until }
  const live = liveRole()
  if (identity.grants === null) return { role: live, until }
  return lesser(grantedRole(identity.grants, address, now, until), live)
}

/** Access types are `public` throughout: any user of the tenant edits. */
const liveRole = (): Role | null => 'editor'

const ownsAddress = ({ tenant }: Identity, address: DocumentAddress): boolean =>
  tenant.workspaceId === address.workspaceId && tenant.apiKey === address.apiKey

/**
 * The most specific unexpired grant decides: document, else organization. It is valid until it or the token ends.
 * Folder grants say nothing about a document as long as documents are in no folder.
 */
function grantedRole(
  grants: readonly Grant[],
  address: DocumentAddress,
  now: number,
  tokenEnd: number,
): RoleOnDocument {
  for (const type of ['document', 'organization'] as const) {
    const grant = strongest(
      grants.filter((each) => each.type === type && covers(each, address) && endOf(each) > now),
    )
    if (grant !== null) return { role: grant.accessRole, until: Math.min(endOf(grant), tokenEnd) }
  }
  return { role: null, until: Number.POSITIVE_INFINITY }
}

const covers = (grant: Grant, address: DocumentAddress): boolean =>
  grant.organizationId === address.organizationId &&
  grant.id === (grant.type === 'document' ? address.documentId : address.organizationId)

const endOf = (grant: Grant): number =>
  grant.expiresAt === undefined ? Number.POSITIVE_INFINITY : grant.expiresAt * 1000

/** Of several grants on one resource: an editor's before a viewer's, then the one that lasts longest. */
const strongest = (grants: readonly Grant[]): Grant | null =>
  grants.toSorted((a, b) => rank(b.accessRole) - rank(a.accessRole) || endOrder(b) - endOrder(a))[0] ?? null

/** An end without which two grants cannot be subtracted. */
const endOrder = (grant: Grant): number => Math.min(endOf(grant), Number.MAX_SAFE_INTEGER)

const rank = (role: Role | null): number => (role === null ? 0 : role === 'viewer' ? 1 : 2)

function lesser(granted: RoleOnDocument, live: Role | null): RoleOnDocument {
  return rank(live) < rank(granted.role) ? { role: live, until: granted.until } : granted
}
