import type { DocumentAddress } from '../../model/address.ts'
import type { Identity, TokenGrant } from '../identity.ts'
import { directoryRole } from './directory-role.ts'
import type { DocumentAccess } from './document-access.ts'

export type Role = 'editor' | 'viewer'

export interface RoleOnDocument {
  /** Null: for this user, the document does not exist. */
  readonly role: Role | null
  /**
   * Time in epoch milliseconds at which the role must be computed again, because a grant or the token
   * expires; Infinity if neither expires.
   */
  readonly until: number
}

/**
 * Returns the rights of an identity on a document at `now` (epoch milliseconds): the lesser of the token's
 * grants and the user's rights in the directory. Documents of another tenant count as not existing. An admin
 * edits all documents of its own tenant, unless they are disabled or deleted.
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
  const live = directoryRole(access.levels, access.member, now)
  if (identity.grants === null) return { role: live.role, until: Math.min(live.until, until) }
  const granted = grantedRole(identity.grants, address, access.folderIds, now)
  const role = rank(live.role) < rank(granted.role) ? live.role : granted.role
  return { role, until: Math.min(granted.until, live.until, until) }
}

/** No role, without a time limit: changes of rights are published. */
const nothing: RoleOnDocument = { role: null, until: Number.POSITIVE_INFINITY }

const ownsAddress = ({ tenant }: Identity, address: DocumentAddress): boolean =>
  tenant.workspaceId === address.workspaceId && tenant.apiKey === address.apiKey

/**
 * Returns the role that the grants of a token give. The most specific unexpired grant decides: on the
 * document, then on its folders from the nearest up, then on the organization. If a resource has several
 * grants, only the last one counts, as in `permissions/add`.
 */
function grantedRole(
  grants: readonly TokenGrant[],
  { organizationId, documentId }: DocumentAddress,
  folderIds: readonly string[],
  now: number,
): RoleOnDocument {
  const resources = [
    { type: 'document', id: documentId },
    ...folderIds.map((id) => ({ type: 'folder', id })),
    { type: 'organization', id: organizationId },
  ]
  const within = grants.filter((grant) => grant.organizationId === organizationId)
  for (const { type, id } of resources) {
    const grant = within.findLast((each) => each.type === type && each.id === id)
    if (grant !== undefined && endOf(grant) > now) return { role: grant.accessRole, until: endOf(grant) }
  }
  return nothing
}

const endOf = (grant: TokenGrant): number =>
  grant.expiresAt === undefined ? Number.POSITIVE_INFINITY : grant.expiresAt * 1000

const rank = (role: Role | null): number => (role === null ? 0 : role === 'viewer' ? 1 : 2)
