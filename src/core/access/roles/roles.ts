import type { BranchRecord } from '../../directory/branches/branch-records.ts'
import { type AccessRole, roleStrength } from '../../directory/store/records.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { AgentTraits, Identity, TokenGrant } from '../identity.ts'
import { directoryRole } from './directory-role.ts'
import type { DocumentAccess } from './document-access.ts'
import type { RoleDecision } from './role-decision.ts'

export interface RoleOnDocument {
  /** The role of the user. Null: the document must look to this user as if it did not exist. */
  readonly role: AccessRole | null
  /**
   * Time at which the role must be computed again, because a grant or the token expires, in epoch
   * milliseconds. Infinity if neither expires.
   */
  readonly until: number
}

/**
 * Returns the rights of an identity on a document at `now` (epoch milliseconds). These are the lesser of two
 * rights: the rights from the grants of the token, and the rights of the user in the directory. The policies of
 * an agent limit both. A document of another tenant counts as missing. An admin may edit all documents of the admin's tenant, unless they are
 * disabled or deleted.
 * @param decision decision of the backend. It takes the place of the access type
 */
export function roleOn(
  identity: Identity,
  address: DocumentAddress,
  access: DocumentAccess,
  now: number,
  decision: RoleDecision | null = null,
): RoleOnDocument {
  const { role, until } = grantedRoleOn(identity, address, access, now, decision)
  return { role: roleWithinPolicies(identity, role), until }
}

function grantedRoleOn(
  identity: Identity,
  address: DocumentAddress,
  access: DocumentAccess,
  now: number,
  decision: RoleDecision | null,
): RoleOnDocument {
  const until = identity.expiresAt
  if (!ownsAddress(identity, address) || now >= until || access.state !== 'open') return nothing
  if (identity.admin) return { role: 'editor', until }
  const live = directoryRole(access.levels, access.member, now)
  if (decision?.kind === 'role' && isUndecided(identity, address, access, now))
    return { role: decision.role, until: Math.min(live.until, until) }
  if (identity.grants === null) return { role: live.role, until: Math.min(live.until, until) }
  const granted = grantedRole(identity.grants, address, access.folderIds, now)
  const role = roleStrength(live.role) < roleStrength(granted.role) ? live.role : granted.role
  return { role, until: Math.min(granted.until, live.until, until) }
}

/**
 * Returns whether the backend of the API key decides about the role: neither the token nor the directory has a
 * grant that decides. A token with grants always decides.
 */
export function isUndecided(
  identity: Identity,
  address: DocumentAddress,
  access: DocumentAccess,
  now: number,
): boolean {
  if (!ownsAddress(identity, address) || access.state !== 'open') return false
  if (identity.admin || identity.grants !== null) return false
  return directoryRole(access.levels, access.member, now).grant === null
}

/** The members of a branch that decide who may write it. */
export type BranchAccess = Pick<BranchRecord, 'createdBy' | 'status'>

/**
 * Returns whether a role permits a user to write an editor: an editor writes everything, and a suggester
 * writes the own branches. No user writes a branch that was merged or rejected.
 * @param branch null if the editor is not a branch
 */
export function mayWrite(role: AccessRole | null, userId: string, branch: BranchAccess | null): boolean {
  if (branch !== null && branch.status !== 'open') return false
  return role === 'editor' || (role === 'suggester' && branch?.createdBy === userId)
}

/** No role. It is valid without a time limit, because changes of rights are published. */
const nothing: RoleOnDocument = { role: null, until: Number.POSITIVE_INFINITY }

const ownsAddress = ({ tenant }: Identity, address: DocumentAddress): boolean =>
  tenant.workspaceId === address.workspaceId && tenant.apiKey === address.apiKey

/**
 * Returns the role that the grants of a token give. The most specific unexpired grant decides: a grant on the
 * document, otherwise on its folders (nearest first), otherwise on the organization. If a token has several
 * grants on the same resource, only the last one counts, as in `permissions/add`.
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

/** The strongest role that the policies of an agent permit. */
function roleMaxOf({ policies }: AgentTraits): AccessRole {
  if (policies.includes('read-only')) return 'viewer'
  return policies.includes('suggest-only') ? 'suggester' : 'editor'
}

const weaker = (a: AccessRole | null, b: AccessRole): AccessRole | null =>
  roleStrength(a) < roleStrength(b) ? a : b

/** Returns a role as the policies of an agent limit it. The role of a person stays as it is. */
export const roleWithinPolicies = (
  { agent }: Pick<Identity, 'agent'>,
  role: AccessRole | null,
): AccessRole | null => (agent === null ? role : weaker(role, roleMaxOf(agent)))

/** Returns whether the policies of an identity forbid it to delete content. */
export const mustKeepContent = ({ agent }: Pick<Identity, 'agent'>): boolean =>
  agent?.policies.includes('no-delete') === true

/**
 * Returns the role of an identity on a websocket. An agent that must not delete content, or must not change some of it,
 * is a viewer there: the updates of a client can change anything, and the server accepts them as they are. So is a
 * client with an older schema.
 */
export const roleOnSocket = (
  identity: Pick<Identity, 'agent'>,
  role: AccessRole | null,
  { protects, isOutdated }: { readonly protects: readonly string[]; readonly isOutdated: boolean },
): AccessRole | null =>
  isOutdated || (identity.agent !== null && (mustKeepContent(identity) || protects.length > 0))
    ? weaker(role, 'viewer')
    : role
