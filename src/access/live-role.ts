import { type AccessPlace, effectiveAccessType } from '../directory/folder-tree.ts'
import { endOfGrant, unexpired } from '../directory/grants.ts'
import type { AccessRole, AccessType, GrantRecord } from '../directory/records.ts'

/** What is known about one user's access to a resource: the resource first, then its folders upwards, the organization last. */
export interface AccessLevel extends AccessPlace {
  /** The user's own grant. */
  readonly own: GrantRecord | null
  /** Grants of the groups that the user is in. */
  readonly groups: readonly GrantRecord[]
}

export interface LiveRole {
  /** Null: the resource does not exist for this user. */
  readonly role: AccessRole | null
  /** The grant that the role comes from; null when it comes from the access type. */
  readonly grant: GrantRecord | null
  /** What holds for those to whom nothing is granted. */
  readonly accessType: AccessType
  /** Epoch milliseconds at which a grant that matters here ends; Infinity when none does. */
  readonly until: number
}

/**
 * What a user may do on a resource at `now` (epoch milliseconds), whatever their token says. The most specific unexpired
 * grant decides, a user's before those of groups, of these the strongest. Without one the access type does: `public` is
 * for every user of the tenant; `organizationPrivate` for its members, in the role that they have in the organization;
 * `restricted` for nobody.
 * @param member what makes the user a member of the organization; the first that has not ended says in which role
 */
export function liveRole(
  levels: readonly AccessLevel[],
  member: readonly GrantRecord[],
  now: number,
): LiveRole {
  const reached = reachedLevels(levels)
  const accessType = effectiveAccessType(levels)
  const until = nextEnd(reached, member, now)
  for (const level of reached) {
    const grant = grantAt(level, now)
    if (grant !== null) return { role: grant.accessRole, grant, accessType, until }
  }
  if (accessType === 'public') return { role: 'editor', grant: null, accessType, until }
  const grant = accessType === 'organizationPrivate' ? firstUnexpired(member, now) : null
  return { role: grant?.accessRole ?? null, grant, accessType, until }
}

/** An editor's before a viewer's, of equal ones those that last longer before the others. */
export const strongestFirst = (grants: readonly GrantRecord[]): readonly GrantRecord[] =>
  grants.toSorted(
    (a, b) => a.accessRole.localeCompare(b.accessRole) || (endOfGrant(a) < endOfGrant(b) ? 1 : -1),
  )

/** Up to and including the first that does not inherit. */
function reachedLevels(levels: readonly AccessLevel[]): readonly AccessLevel[] {
  const end = levels.findIndex(({ inheritAccessFromParent }) => !inheritAccessFromParent)
  return end === -1 ? levels : levels.slice(0, end + 1)
}

const grantAt = ({ own, groups }: AccessLevel, now: number): GrantRecord | null =>
  unexpired(own, now) ?? firstUnexpired(strongestFirst(groups), now)

const firstUnexpired = (grants: readonly GrantRecord[], now: number): GrantRecord | null =>
  grants.find((grant) => unexpired(grant, now) !== null) ?? null

function nextEnd(levels: readonly AccessLevel[], member: readonly GrantRecord[], now: number): number {
  const grants = [...levels.flatMap(({ own, groups }) => [own, ...groups]), ...member]
  const valid = grants.filter((grant) => grant !== null).filter((grant) => unexpired(grant, now) !== null)
  return Math.min(...valid.map(endOfGrant), Number.POSITIVE_INFINITY)
}
