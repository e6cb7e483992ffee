import { effectiveAccessType, type FolderAccess } from '../../directory/documents/folder-tree.ts'
import type { Resource } from '../../directory/organizations/organization-keys.ts'
import { activeGrant, grantExpiry } from '../../directory/permissions/grants.ts'
import {
  type AccessRole,
  type AccessType,
  type GrantRecord,
  roleStrength,
} from '../../directory/store/records.ts'

/**
 * The access settings of a resource, and the grants of one user on the resource. In a list of levels, the
 * resource itself is first. Its folders follow, nearest first. The organization is last.
 */
export interface AccessLevel extends FolderAccess {
  /** The grant to the user on the resource. */
  readonly own: GrantRecord | null
  /** The grants to the groups of the user on the resource. */
  readonly groups: readonly GrantOfGroup[]
  readonly resource?: Resource
}

export interface GrantOfGroup extends GrantRecord {
  readonly groupId?: string
}

/** The reason why a user has, or does not have, a role. */
export interface AccessReason {
  /**
   * Cause of the result: a grant to the user or to a group, the access type, or membership of the
   * organization.
   */
  readonly source: 'user' | 'group' | 'accessType' | 'membership'
  /**
   * The resource on which the grant was made, or which sets the access type. Absent if membership decided, or
   * if no resource sets the access type.
   */
  readonly resource?: Resource | undefined
  readonly groupId?: string | undefined
}

interface DirectoryRole {
  /** The role of the user. Null: the resource must look to this user as if it did not exist. */
  readonly role: AccessRole | null
  /** The grant that gives the role. Null if the role does not come from a grant but from the access type. */
  readonly grant: GrantRecord | null
  /** The effective access type. It applies to users without a grant. */
  readonly accessType: AccessType
  /** Time at which a relevant grant expires, in epoch milliseconds. Infinity if no relevant grant expires. */
  readonly until: number
  readonly reason: AccessReason
}

/**
 * Returns the rights of a user on a resource at `now` (epoch milliseconds). Does not consider the limits of a
 * token. The most specific level that has an unexpired grant decides. On one level, the user's own grant has
 * precedence over grants to groups. If several groups of the user have grants, the strongest grant counts.
 * Without a grant, the access type decides: `public` allows every user of the tenant. `organizationPrivate`
 * allows members of the organization, with the role that they have there. `restricted` allows no user.
 * @param member grants that make the user a member of the organization; the first unexpired grant determines
 * the role
 */
export function directoryRole(
  levels: readonly AccessLevel[],
  member: readonly GrantRecord[],
  now: number,
): DirectoryRole {
  const reached = reachedLevels(levels)
  const accessType = effectiveAccessType(levels)
  const until = nextEnd(reached, member, now)
  for (const level of reached) {
    const { grant, ...reason } = grantAt(level, now)
    if (grant !== null) return { role: grant.accessRole, grant, accessType, until, reason }
  }
  const { resource } = reached.find((level) => level.accessType !== null) ?? {}
  const reason = { source: 'accessType', resource } as const
  if (accessType === 'public') return { role: 'editor', grant: null, accessType, until, reason }
  const grant = accessType === 'organizationPrivate' ? firstUnexpired(member, now) : null
  if (grant === null) return { role: null, grant, accessType, until, reason }
  return { role: grant.accessRole, grant, accessType, until, reason: { source: 'membership' } }
}

/** Sorts grants: strongest role first, and grants of the same role by expiry, latest first. */
export const strongestFirst = <Grant extends GrantRecord>(grants: readonly Grant[]): readonly Grant[] =>
  grants.toSorted(
    (a, b) =>
      roleStrength(b.accessRole) - roleStrength(a.accessRole) || (grantExpiry(a) < grantExpiry(b) ? 1 : -1),
  )

/** Returns the levels up to and including the first level that does not inherit access from its parent. */
function reachedLevels(levels: readonly AccessLevel[]): readonly AccessLevel[] {
  const end = levels.findIndex(({ inheritAccessFromParent }) => !inheritAccessFromParent)
  return end === -1 ? levels : levels.slice(0, end + 1)
}

function grantAt(
  { own, groups, resource }: AccessLevel,
  now: number,
): AccessReason & { readonly grant: GrantRecord | null } {
  const ofUser = activeGrant(own, now)
  if (ofUser !== null) return { source: 'user', resource, grant: ofUser }
  const ofGroup = firstUnexpired(strongestFirst(groups), now)
  return { source: 'group', resource, groupId: ofGroup?.groupId, grant: ofGroup }
}

const firstUnexpired = <Grant extends GrantRecord>(grants: readonly Grant[], now: number): Grant | null =>
  grants.find((grant) => activeGrant(grant, now) !== null) ?? null

function nextEnd(levels: readonly AccessLevel[], member: readonly GrantRecord[], now: number): number {
  let end = Number.POSITIVE_INFINITY
  const add = (grant: GrantRecord | null): void => {
    if (grant !== null && activeGrant(grant, now) !== null) end = Math.min(end, grantExpiry(grant))
  }
  for (const { own, groups } of levels) {
    add(own)
    groups.forEach(add)
  }
  member.forEach(add)
  return end
}
