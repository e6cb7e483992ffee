import { type AccessPlace, effectiveAccessType } from '../directory/folder-tree.ts'
import { indexedEnd } from '../directory/grants.ts'
import { keys, type OrganizationScope, type Resource, type Subject } from '../directory/organization-keys.ts'
import { findOrganization } from '../directory/organization-store.ts'
import type { DocumentRecord, FolderRecord, GrantRecord } from '../directory/records.ts'
import type { Transaction } from '../directory/transaction.ts'
import { type AccessLevel, strongestFirst } from './live-role.ts'

/** Groups of one user that are looked at. */
const groupsMax = 1_000

/** A resource as far as it matters for access. */
export interface Place extends AccessPlace {
  readonly resource: Resource
}

/** A user and the groups that the user is in. */
export type Subjects = readonly [Subject, ...Subject[]]

export interface Access {
  readonly levels: readonly AccessLevel[]
  /** What makes the user a member of the organization, in the order in which it decides. Empty where that does not matter. */
  readonly member: readonly GrantRecord[]
}

/** Lets nobody in. */
export const closed: Access = {
  levels: [{ accessType: 'restricted', inheritAccessFromParent: false, own: null, groups: [] }],
  member: [],
}

export async function subjectsOf(reader: Transaction, userId: string): Promise<Subjects> {
  const entries = await reader.scan({ prefix: keys.groupsOf(userId), limit: groupsMax })
  const groups = entries.map(({ key }) => ({ type: 'group', id: key.at(-1) as string }) as const)
  return [{ type: 'user', id: userId }, ...groups]
}

export const documentPlace = (documentId: string, record: DocumentRecord | null): Place => ({
  resource: { type: 'document', id: documentId },
  accessType: record?.accessType ?? null,
  inheritAccessFromParent: true,
})

export const organizationPlace = ({ organizationId }: OrganizationScope): Place => ({
  resource: { type: 'organization', id: organizationId },
  accessType: null,
  inheritAccessFromParent: true,
})

export const folderPlace = ({ folderId, accessType, inheritAccessFromParent }: FolderRecord): Place => ({
  resource: { type: 'folder', id: folderId },
  accessType,
  inheritAccessFromParent,
})

/** @param places the resource first, then its folders upwards, the organization last */
export async function accessAt(
  reader: Transaction,
  places: readonly Place[],
  subjects: Subjects,
): Promise<Access> {
  const levels = await levelsAt(reader, places, subjects)
  const isForMembers = effectiveAccessType(levels) === 'organizationPrivate'
  return { levels, member: isForMembers ? await memberGrants(reader, levels, subjects) : [] }
}

async function levelsAt(
  reader: Transaction,
  places: readonly Place[],
  subjects: Subjects,
): Promise<readonly AccessLevel[]> {
  const grants = await reader.getAll<GrantRecord>(
    places.flatMap(({ resource }) => subjects.map((subject) => keys.grant(resource, subject))),
  )
  return places.map(({ accessType, inheritAccessFromParent }, index) => {
    const [own = null, ...groups] = grants.slice(index * subjects.length, (index + 1) * subjects.length)
    return { accessType, inheritAccessFromParent, own, groups: groups.filter((grant) => grant !== null) }
  })
}

/**
 * Grants on the organization make a member in their role, the user's before those of groups; any grant in it makes one
 * who may look.
 */
export async function memberGrants(
  reader: Transaction,
  levels: readonly AccessLevel[],
  subjects: Subjects,
): Promise<readonly GrantRecord[]> {
  if ((await findOrganization(reader)) === null) return []
  const { own = null, groups = [] } = levels.at(-1) ?? {}
  const within = await Promise.all(subjects.map((subject) => longestGrant(reader, subject)))
  return [own, ...strongestFirst(groups), ...strongestFirst(within.filter((grant) => grant !== null))].filter(
    (grant) => grant !== null,
  )
}

/** The longest of all grants in the organization, as what it is worth there: looking. */
async function longestGrant(reader: Transaction, subject: Subject): Promise<GrantRecord | null> {
  const [entry] = await reader.scan({ prefix: keys.grantsOf(subject), reverse: true, limit: 1 })
  return entry === undefined ? null : { accessRole: 'viewer', expiresAt: indexedEnd(entry) }
}
