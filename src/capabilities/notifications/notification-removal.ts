import type { CascadeHandler } from '../../core/directory/organizations/cascade-handler.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../core/directory/store/batch.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ShownEntry, UserRanges } from '../../core/directory/user-data/user-data-source.ts'
import type { Key, KvEntry } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { notificationKeys as keys, notificationKeys } from './notification-keys.ts'
import {
  dropRecipient,
  notificationConfigType,
  notificationReadStateType,
  notificationRecordType,
  removeNotification,
  removeReadState,
  rewriteNotification,
  withoutNamed,
} from './notification-records.ts'

/**
 * Returns the handler that removes notifications, read states and settings when their documents or users are
 * removed. Groups have no such data.
 */
export const createNotificationCascade = (store: OrganizationStore): CascadeHandler => ({
  async removeDocuments(scope, documentIds, goOn) {
    await mapInSlices(documentIds, (id) => removeDocumentNotifications(store, scope, id, goOn))
  },
  subjects: {
    ranges: ({ type, id }) => (type === 'user' ? notificationIndexRanges(id) : []),
    removeSome: async (transaction, { type, id }, limit) =>
      type === 'user' ? removeSomeNotifications(transaction, id, limit) : 0,
  },
})

/** Maximum number of list entries in one read. */
const entriesAtOnce = 100

/**
 * Removes the notifications of a document. The document must be marked as being deleted.
 * @param goOn called between commits; throws if the removal must stop
 */
async function removeDocumentNotifications(
  store: OrganizationStore,
  scope: OrganizationScope,
  documentId: string,
  goOn: () => Promise<void>,
): Promise<void> {
  const scan = (prefix: readonly string[]) => store.read(scope).scan({ prefix, limit: entriesAtOnce })
  for (;;) {
    const entries = await scan(keys.list({ kind: 'document', id: documentId }))
    if (entries.length === 0) break
    await mapInSlices(entries, ({ key }) => removeWholly(store, scope, lastSegment(key)))
    await goOn()
  }
  for (;;) {
    const entries = await scan(keys.configsOn(documentId))
    if (entries.length === 0) return
    await store.carryOut(scope, async (transaction) => {
      for (const { key } of entries) {
        transaction.delete(key)
        transaction.delete(keys.config(lastSegment(key), documentId))
      }
    })
    await goOn()
  }
}

/** Removes a notification in as many commits as necessary. */
export async function removeWholly(
  store: OrganizationStore,
  scope: OrganizationScope,
  id: string,
): Promise<void> {
  for (let isGone = false; !isGone; )
    isGone = await store.carryOut(scope, (transaction) => removeNotification(transaction, id))
}

/** Returns the ranges of the indexes that contain a user's notifications, read states and settings. */
const notificationIndexRanges = (userId: string) =>
  [keys.list({ kind: 'user', id: userId }), keys.marksOf(userId), keys.configsOf(userId)] as const

/**
 * Removes up to `limit` entries from each index of a user's notification data. Returns the total number of
 * removed entries.
 */
async function removeSomeNotifications(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  let count = 0
  // The steps run one after the other, because removing a notification also removes its read states.
  for (const cut of [removeSomeRecipients, removeSomeReadStates, removeSomeConfigs])
    count += await cut(transaction, userId, limit)
  return count
}

/**
 * Removes a user from up to `limit` notifications. A notification that has no other recipient is deleted.
 * Returns the number of notifications from which the user was removed, including the deleted ones.
 */
export async function removeSomeRecipients(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const prefix = keys.list({ kind: 'user', id: userId })
  const entries = await transaction.scan({ prefix, limit })
  for (const { key } of entries) {
    const id = lastSegment(key)
    const record = await transaction.get(keys.notification(id), notificationRecordType)
    if (record !== null && dropRecipient(transaction, record, userId) === 'nobody left')
      await removeNotification(transaction, id)
  }
  return entries.length
}

/** Removes up to `limit` read states of a user. Returns the number of read states that were removed. */
async function removeSomeReadStates(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const marks = await transaction.scan({ prefix: keys.marksOf(userId), limit })
  for (const { key } of marks) await removeReadState(transaction, lastSegment(key), userId)
  return marks.length
}

/**
 * Removes up to `limit` notification settings of a user. Returns the number of settings that were removed.
 */
async function removeSomeConfigs(transaction: Transaction, userId: string, limit: number): Promise<number> {
  const configs = await transaction.scan({ prefix: keys.configsOf(userId), limit })
  for (const { key } of configs) {
    transaction.delete(key)
    const [, , kind, documentId] = key
    if (kind === 'document' && documentId !== undefined) transaction.delete(keys.configOn(documentId, userId))
  }
  return configs.length
}

/**
 * Replaces a user with the deleted user in up to `limit` notifications in which the user appears in another
 * role than recipient. Returns the number of these notifications.
 */
export async function anonymizeNotifications(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const entries = await transaction.scan({ prefix: keys.naming(userId), limit })
  for (const { key } of entries) transaction.delete(key)
  const ids = entries.map(({ key }) => lastSegment(key))
  const records = await transaction.getAll(ids.map(keys.notification), notificationRecordType)
  for (const record of records)
    if (record !== null) rewriteNotification(transaction, record, withoutNamed(record, userId))
  return entries.length
}

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

/** Notifications that name a user, with the read states and the settings of the user. */
export const notificationRanges: readonly UserRanges[] = [
  notifications,
  notificationMarks,
  notificationConfigs,
]
