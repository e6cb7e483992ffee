import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ShownEntry, UserRanges } from '../../core/directory/user-data/user-data-source.ts'
import type { Key, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { notificationKeys } from './notification-keys.ts'
import {
  notificationConfigType,
  notificationReadStateType,
  notificationRecordType,
} from './notification-records.ts'
import {
  anonymizeNotifications,
  removeSomeConfigs,
  removeSomeReadStates,
  removeSomeRecipients,
} from './notification-removal.ts'

/** Maximum number of records that one commit changes. */
const sliceMax = 100

const lastOf = ({ key }: KvEntry): string => lastSegment(key)

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

/** Notifications that name a user, what the user has read, and what the user wants to get. */
export const notificationRanges: readonly UserRanges[] = [
  notifications,
  notificationMarks,
  notificationConfigs,
]
