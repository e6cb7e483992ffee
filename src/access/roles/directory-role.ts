import { effectiveAccessType, type FolderAccess } from '../../directory/documents/folder-tree.ts'
import type { Resource } from '../../directory/organizations/organization-keys.ts'
import { activeGrant, grantExpiry } from '../../directory/permissions/grants.ts'
import type { AccessRole, AccessType, GrantRecord } from '../../directory/store/records.ts'

/** What is known about one user's access to a resource: the resource first, then its folders upwards, the organization last. */
export interface AccessLevel extends FolderAccess {
  /** The user's own grant. */
  readonly own: GrantRecord | null
  /** Grants of the groups that the user is in. */
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
  /** The resource that has the grant or sets the access type; absent for a membership, and if no resource sets it. */
  readonly resource?: Resource | undefined
  readonly groupId?: string | undefined
}

export interface DirectoryRole {
  /** Null: the resource does not exist for this user. */
  readonly role: AccessRole | null
  /** The grant that the role comes from; null when it comes from the access type. */
  readonly grant: GrantRecord | null
  /** What holds for those to whom nothing is granted. */
  readonly accessType: AccessType
  /** Epoch milliseconds at which a grant that matters here ends; Infinity when none does. */
  readonly until: number
  readonly reason: AccessReason
}

/**
 * What a user may do on a resource at `now` (epoch milliseconds), whatever their token says. The most specific unexpired
 * grant decides, a user's before those of groups, of these the strongest. Without one the access type does: `public` is
 * for every user of the tenant; `organizationPrivate` for its members, in the role that they have in the organization;
 * `restricted` for nobody.
 * @param member what makes the user a member of the organization; the first that has not ended says in which role
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

/** An editor's before a viewer's, of equal ones those that last longer before the others. */
export const strongestFirst = <Grant extends GrantRecord>(grants: readonly Grant[]): readonly Grant[] =>
  grants.toSorted(
    (a, b) => a.accessRole.localeCompare(b.accessRole) || (grantExpiry(a) < grantExpiry(b) ? 1 : -1),
  )

/** Up to and including the first that does not inherit. */
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
