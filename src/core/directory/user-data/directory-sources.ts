import { activityRecordType } from '../../events/activity.ts'
import { activityKeys, positionIn } from '../../events/activity-keys.ts'
import { activityRangesOf, anonymizeActivities } from '../../events/activity-store.ts'
import { deletedUserId } from '../../model/deleted-user.ts'
import type { KvEntry } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { readRecord } from '../../store/stored-record.ts'
import {
  type BranchPlace,
  type BranchRecord,
  branchKeys,
  branchRecordType,
  writeBranch,
} from '../branches/branch-records.ts'
import { anonymizeVisits } from '../documents/cluster-visits.ts'
import { keys, type OrganizationScope } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { userSubject } from '../organizations/user-records.ts'
import { indexedExpiry, indexedResource } from '../permissions/grants.ts'
import { removeSomeGrants, removeSomeMemberships } from '../removal/subject-removal.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { grantRecordType, userRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { rangeSource, type UserDataSource, type UserRanges } from './user-data-source.ts'

/** Maximum number of records that one commit changes. */
const sliceMax = 100
/** Maximum number of activities that one commit changes. Each activity has about 12 index entries. */
const activitiesMax = 25

/** Returns the sources of the data of users that the directory stores. */
export const directorySources = (store: OrganizationStore): readonly UserDataSource<OrganizationScope>[] =>
  [grants, memberships, users, activities, branches, visits].map((ranges) => rangeSource(store, ranges))

const lastOf = ({ key }: KvEntry): string => lastSegment(key)

const grants: UserRanges = {
  name: 'grants',
  kind: 'grant',
  ranges: (userId) => [keys.grantsOf(userSubject(userId))],
  async show(reader, entries, userId) {
    const resources = entries.map(indexedResource)
    const found = await reader.getAll(
      resources.map((resource) => keys.grant(resource, userSubject(userId))),
      grantRecordType,
    )
    return entries.map((entry, at) => {
      const { type, id } = indexedResource(entry)
      const documentId = type === 'document' ? id : null
      const accessRole = found[at]?.accessRole
      const data = { type, id, expiresAt: indexedExpiry(entry), ...(accessRole && { accessRole }) }
      return { documentId, data }
    })
  },
  erase: (transaction, userId) => removeSomeGrants(transaction, userSubject(userId), sliceMax),
}

const memberships: UserRanges = {
  name: 'memberships',
  kind: 'membership',
  ranges: (userId) => [keys.groupsOf(userId)],
  show: async (_, entries) =>
    entries.map((entry) => ({ documentId: null, data: { groupId: lastOf(entry) } })),
  erase: (transaction, userId) => removeSomeMemberships(transaction, userSubject(userId), sliceMax),
}

const users: UserRanges = {
  name: 'users',
  kind: 'user',
  ranges: (userId) => [keys.user(userId)],
  show: async (_, entries) =>
    entries.map((entry) => ({ documentId: null, data: readRecord(userRecordType, entry) })),
  async erase(transaction, userId) {
    if ((await transaction.get(keys.user(userId))) === null) return 0
    transaction.delete(keys.user(userId))
    return 1
  },
}

const activities: UserRanges = {
  name: 'activities',
  kind: 'activity',
  ranges: activityRangesOf,
  async show(reader, entries) {
    const positions = entries.map(({ key }) => activityKeys.activity(positionIn(key)))
    return (await reader.getAll(positions, activityRecordType)).map((activity) => {
      if (activity === null) return null
      const { documentId, place: _, ...data } = activity
      return { documentId, data }
    })
  },
  erase: (transaction, userId) => anonymizeActivities(transaction, userId, activitiesMax),
}

const branches: UserRanges = {
  name: 'branches',
  kind: 'branch',
  ranges: (userId) => [branchKeys.allBy(userId)],
  show: listBranchesByUser,
  erase: (transaction, userId) => anonymizeBranches(transaction, userId, sliceMax),
}

/** The visits that have not ended. An export leaves them out, because it has the presence. */
const visits: UserRanges = {
  name: 'visits',
  kind: 'presence',
  ranges: () => [],
  show: () => Promise.resolve([]),
  erase: (transaction, userId) => anonymizeVisits(transaction, userId, sliceMax),
}

/** A branch that a user has created or decided. */
interface UserBranch {
  readonly documentId: string
  readonly data: Partial<BranchRecord>
}

/**
 * Returns the branches to which index entries of a user refer, without other users. The result contains null
 * for a branch that was deleted meanwhile.
 */
async function listBranchesByUser(
  reader: DirectoryReader,
  entries: readonly KvEntry[],
  userId: string,
): Promise<readonly (UserBranch | null)[]> {
  const places = entries.map(placeIn)
  const records = await reader.getAll(places.map(branchKeys.branch), branchRecordType)
  return places.map(({ documentId }, at) => {
    const record = records[at] ?? null
    if (record === null) return null
    const { createdBy, decidedBy, accepting: _, deletion: _deletion, ...data } = record
    const own = { ...(createdBy === userId && { createdBy }), ...(decidedBy === userId && { decidedBy }) }
    return { documentId, data: { ...data, ...own } }
  })
}

/**
 * Replaces a user with the deleted user in up to `limit` branches. Returns the number of index entries that
 * were processed.
 */
async function anonymizeBranches(transaction: Transaction, userId: string, limit: number): Promise<number> {
  const entries = await transaction.scan({ prefix: branchKeys.allBy(userId), limit })
  const places = entries.map(placeIn)
  const records = await transaction.getAll(places.map(branchKeys.branch), branchRecordType)
  const replaced = (id: string): string => (id === userId ? deletedUserId : id)
  for (const [at, place] of places.entries()) {
    const record = records[at] ?? null
    if (record === null) transaction.delete(branchKeys.by(userId, place))
    else {
      const [createdBy, decidedBy] = [replaced(record.createdBy), replaced(record.decidedBy)]
      await writeBranch(transaction, place, { ...record, createdBy, decidedBy })
    }
  }
  return entries.length
}

const placeIn = ({ key: [, , documentId = '', editorId = '', name = ''] }: KvEntry): BranchPlace => ({
  documentId,
  editorId,
  name,
})
