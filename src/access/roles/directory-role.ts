import { effectiveAccessType, type FolderAccess } from '../../directory/documents/folder-tree.ts'
import type { Resource } from '../../directory/organizations/organization-keys.ts'
import { activeGrant, grantExpiry } from '../../directory/permissions/grants.ts'
import type { AccessRole, AccessType, GrantRecord } from '../../directory/store/records.ts'

/**
 * The access settings of a resource, and one user's grants on it. A list of levels begins with the resource,
 * continues with its folders from the nearest up, and ends with the organization.
 */
export interface AccessLevel extends FolderAccess {
  /** The user's own grant on the resource. */
  readonly own: GrantRecord | null
  /** The grants of the user's groups on the resource. */
  readonly groups: readonly GrantOfGroup[]
  readonly resource?: Resource
}

export interface GrantOfGroup extends GrantRecord {
  readonly groupId?: string
}

/** The cause of a role, or of its absence. */
export interface AccessReason {
  /** A grant to the user or to a group, the access type, or membership of the organization. */
  readonly source: 'user' | 'group' | 'accessType' | 'membership'
  /**
   * The resource that has the grant or sets the access type. Absent for a membership, and if no resource sets
   * the access type.
   */
  readonly resource?: Resource | undefined
  readonly groupId?: string | undefined
}

export interface DirectoryRole {
  /** Null: for this user, the resource does not exist. */
  readonly role: AccessRole | null
  /** The grant that gives the role; null if the role comes from the access type. */
  readonly grant: GrantRecord | null
  /** The effective access type, which applies to users without a grant. */
  readonly accessType: AccessType
  /** Time in epoch milliseconds at which a relevant grant expires; Infinity if none does. */
  readonly until: number
  readonly reason: AccessReason
}

/**
 * Returns the rights of a user on a resource at `now` (epoch milliseconds). Ignores the limits of a token.
 * The most specific level with an unexpired grant decides. On one level, the user's own grant takes
 * precedence over those of groups, and the strongest grant of the groups counts. Without a grant, the access
 * type decides. `public` allows every user of the tenant. `organizationPrivate` allows members of the
 * organization, in the role that they have there. `restricted` allows no user.
 * @param member grants that make the user a member of the organization; the first unexpired one determines
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

/** Sorts editors before viewers, and grants of the same role from the latest expiry to the earliest. */
export const strongestFirst = <Grant extends GrantRecord>(grants: readonly Grant[]): readonly Grant[] =>
  grants.toSorted(
    (a, b) => a.accessRole.localeCompare(b.accessRole) || (grantExpiry(a) < grantExpiry(b) ? 1 : -1),
  )

/** Returns the levels up to and including the first that does not inherit access from its parent. */
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
  const grants = [...levels.flatMap(({ own, groups }) => [own, ...groups]), ...member]
  const valid = grants.filter((grant) => grant !== null).filter((grant) => activeGrant(grant, now) !== null)
  return Math.min(...valid.map(grantExpiry), Number.POSITIVE_INFINITY)
}
