import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import type { Transaction } from '../directory/store/transaction.ts'
import { lastSegment } from '../engine/key-encoding.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import {
  dropRecipient,
  type NotificationRecord,
  removeNotification,
  removeReadState,
  rewriteNotification,
  withoutNamed,
} from './notification-records.ts'

/** Maximum number of list entries in one read. */
const entriesAtOnce = 100

/**
 * Removes the notifications of a document that is marked as being deleted.
 * @param goOn called between commits; throws if the work must end
 */
export async function removeDocumentNotifications(
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

/** Returns the index ranges of a user's notification data. */
export const notificationIndexRanges = (userId: string) =>
  [keys.list({ kind: 'user', id: userId }), keys.marksOf(userId), keys.configsOf(userId)] as const

/** Removes up to `limit` entries of each index range. Returns the number of removed entries. */
export async function removeSomeNotifications(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  let count = 0
  // One after the other, because removing a notification also removes its read states.
  for (const cut of [removeSomeRecipients, removeSomeReadStates, removeSomeConfigs])
    count += await cut(transaction, userId, limit)
  return count
}

/**
 * Removes a user from up to `limit` notifications, and deletes those that have no other recipient. Returns
 * the number of notifications.
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
    const record = await transaction.get<NotificationRecord>(keys.notification(id))
    if (record !== null && dropRecipient(transaction, record, userId) === 'nobody left')
      await removeNotification(transaction, id)
  }
  return entries.length
}

/** Removes up to `limit` read states of a user. Returns the number of removed read states. */
export async function removeSomeReadStates(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const marks = await transaction.scan({ prefix: keys.marksOf(userId), limit })
  for (const { key } of marks) await removeReadState(transaction, lastSegment(key), userId)
  return marks.length
}

/** Removes up to `limit` settings of a user. Returns the number of removed settings. */
export async function removeSomeConfigs(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const configs = await transaction.scan({ prefix: keys.configsOf(userId), limit })
  for (const { key } of configs) {
    transaction.delete(key)
    const [, , kind, documentId] = key
    if (kind === 'document' && documentId !== undefined) transaction.delete(keys.configOn(documentId, userId))
  }
  return configs.length
}

/**
 * Replaces the user by the deleted user in up to `limit` notifications that mention the user. Returns the
 * number of notifications.
 */
export async function anonymizeNotifications(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const entries = await transaction.scan({ prefix: keys.naming(userId), limit })
  for (const { key } of entries) transaction.delete(key)
  const ids = entries.map(({ key }) => lastSegment(key))
  const records = await transaction.getAll<NotificationRecord>(ids.map(keys.notification))
  for (const record of records)
    if (record !== null) rewriteNotification(transaction, record, withoutNamed(record, userId))
  return entries.length
}
