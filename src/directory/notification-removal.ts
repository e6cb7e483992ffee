import { inSlices } from './items.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import {
  dropRecipient,
  type NotificationRecord,
  removeMark,
  removeNotification,
} from './notification-records.ts'
import type { OrganizationScope } from './organization-keys.ts'
import type { OrganizationStore } from './organization-store.ts'
import type { Transaction } from './transaction.ts'

/** List entries that are read at a time. */
const entriesAtOnce = 100

/** Removes what belongs to a document that is marked as being deleted. `goOn` throws when the work must end. */
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
    await inSlices(entries, ({ key }) => removeWholly(store, scope, key.at(-1) as string))
    await goOn()
  }
  for (;;) {
    const entries = await scan(keys.configsOn(documentId))
    if (entries.length === 0) return
    await store.carryOut(scope, async (transaction) => {
      for (const { key } of entries) {
        transaction.delete(key)
        transaction.delete(keys.config(key.at(-1) as string, documentId))
      }
    })
    await goOn()
  }
}

/** Removes a notification, in as many commits as it takes. */
export async function removeWholly(
  store: OrganizationStore,
  scope: OrganizationScope,
  id: string,
): Promise<void> {
  for (let isGone = false; !isGone; )
    isGone = await store.carryOut(scope, (transaction) => removeNotification(transaction, id))
}

/** Index ranges of what a user has of notifications. */
export const notificationTies = (userId: string) =>
  [keys.list({ kind: 'user', id: userId }), keys.marksOf(userId), keys.configsOf(userId)] as const

/** Removes up to `limit` of each of those; returns how many there were. */
export async function cutNotifications(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const [addressed, marks, configs] = await Promise.all(
    notificationTies(userId).map((prefix) => transaction.scan({ prefix, limit })),
  )
  for (const { key } of addressed ?? []) await cutAddressed(transaction, key.at(-1) as string, userId)
  for (const { key } of marks ?? []) await removeMark(transaction, key.at(-1) as string, userId)
  for (const { key } of configs ?? []) {
    transaction.delete(key)
    const [, , kind, documentId] = key
    if (kind === 'document' && documentId !== undefined) transaction.delete(keys.configOn(documentId, userId))
  }
  return [addressed, marks, configs].reduce((sum, entries) => sum + (entries?.length ?? 0), 0)
}

async function cutAddressed(transaction: Transaction, id: string, userId: string): Promise<void> {
  const record = await transaction.get<NotificationRecord>(keys.notification(id))
  if (record !== null && dropRecipient(transaction, record, userId) === 'nobody left')
    await removeNotification(transaction, id)
}
