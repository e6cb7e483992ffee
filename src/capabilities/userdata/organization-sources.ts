import { branchKeys } from '../../core/directory/branches/branch-records.ts'
import { anonymizeBranches, listBranchesByUser } from '../../core/directory/branches/user-branches.ts'
import { keys } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { userSubject } from '../../core/directory/organizations/user-records.ts'
import { indexedExpiry, indexedResource } from '../../core/directory/permissions/grants.ts'
import { removeSomeGrants, removeSomeMemberships } from '../../core/directory/removal/subject-removal.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { grantRecordType, userRecordType } from '../../core/directory/store/records.ts'
import { rangeSource, type ShownEntry, type UserRanges } from '../../core/directory/user-data/range-source.ts'
import { activityRecordType } from '../../core/events/activity.ts'
import { activityKeys, positionIn } from '../../core/events/activity-keys.ts'
import { activityRangesOf, anonymizeActivities } from '../../core/events/anonymize-activities.ts'
import type { Key, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { anonymizeVersions, listVersionsByUser } from '../history/user-versions.ts'
import { versionKeys } from '../history/version-keys.ts'
import { notificationKeys } from '../notifications/notification-keys.ts'
import {
  notificationConfigType,
  notificationReadStateType,
  notificationRecordType,
} from '../notifications/notification-records.ts'
import {
  anonymizeNotifications,
  removeSomeConfigs,
  removeSomeReadStates,
  removeSomeRecipients,
} from '../notifications/notification-removal.ts'
import { mentions } from './comment-source.ts'

/** Maximum number of records that one commit changes. */
const sliceMax = 100
/** Maximum number of activities that one commit changes. Each activity has about 12 index entries. */
const activitiesMax = 25

/**
 * Returns the sources of user data in organizations. The source of the grants is first, so that an erasure
 * removes the rights of the user before other data.
 */
export const organizationSources = (store: OrganizationStore) =>
  [
    grants,
    memberships,
    users,
    mentions,
    activities,
    versions,
    branches,
    notifications,
    notificationMarks,
    notificationConfigs,
  ].map((ranges) => rangeSource(store, ranges))

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

const versions: UserRanges = {
  name: 'versions',
  kind: 'version',
  ranges: (userId) => [versionKeys.allBy(userId)],
  show: listVersionsByUser,
  erase: (transaction, userId) => anonymizeVersions(transaction, userId, sliceMax),
}

const branches: UserRanges = {
  name: 'branches',
  kind: 'branch',
  ranges: (userId) => [branchKeys.allBy(userId)],
  show: listBranchesByUser,
  erase: (transaction, userId) => anonymizeBranches(transaction, userId, sliceMax),
}

const addressed = (userId: string): Key => notificationKeys.list({ kind: 'user', id: userId })

const notifications: UserRanges = {
  name: 'notifications',
  kind: 'notification',
  ranges: (userId) => [addressed(userId), notificationKeys.naming(userId)],
  show: (reader, entries, userId) => showNotifications(reader, entries, userId),
  async erase(transaction, userId) {
    // Only one of the two functions runs in each commit, because each function writes records that the other
    // one has read.
    const count = await removeSomeRecipients(transaction, userId, sliceMax)
    return count > 0 ? count : anonymizeNotifications(transaction, userId, sliceMax)
  },
}

/**
 * Returns the notifications in a form without other recipients. A notification that is in both index ranges
 * of the user appears only once.
 */
async function showNotifications(
  reader: DirectoryReader,
  entries: readonly KvEntry[],
  userId: string,
): Promise<readonly (ShownEntry | null)[]> {
  const records = await reader.getAll(
    entries.map((entry) => notificationKeys.notification(lastOf(entry))),
    notificationRecordType,
  )
  const [naming] = notificationKeys.naming(userId)
  return entries.map(({ key }, at) => {
    const record = records[at] ?? null
    if (record === null) return null
    const own = record.notifyUsers.filter((user) => user.userId === userId)
    if (key[0] === naming && own.length > 0) return null
    return { documentId: record.documentId, data: { ...record, notifyUsers: own } }
  })
}

const notificationMarks: UserRanges = {
  name: 'notificationMarks',
  kind: 'notificationMark',
  ranges: (userId) => [notificationKeys.marksOf(userId)],
  async show(reader, entries, userId) {
    const ids = entries.map(lastOf)
    const marks = await reader.getAll(
      ids.map((id) => notificationKeys.mark(id, userId)),
      notificationReadStateType,
    )
    return ids.map((notificationId, at) => ({ documentId: null, data: { notificationId, ...marks[at] } }))
  },
  erase: (transaction, userId) => removeSomeReadStates(transaction, userId, sliceMax),
}

const notificationConfigs: UserRanges = {
  name: 'notificationConfigs',
  kind: 'notificationConfig',
  ranges: (userId) => [notificationKeys.configsOf(userId)],
  show: async (_, entries) =>
    entries.map((entry) => ({
      documentId: entry.key[3] ?? null,
      data: readRecord(notificationConfigType, entry),
    })),
  erase: (transaction, userId) => removeSomeConfigs(transaction, userId, sliceMax),
}
