import type { Key } from '../../core/store/engine.ts'

/**
 * Identifies a list of notifications: all of the organization, those of a document, those for one user, or
 * those for all users.
 */
export type NotificationList =
  | { readonly kind: 'organization' }
  | { readonly kind: 'document'; readonly id: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'everybody' }

/**
 * Keys of notifications and their indexes in the partition of an organization. Lists are indexes without
 * content, sorted by time.
 */
export const notificationKeys = {
  notification: (id: string): Key => ['notifications', id],
  state: (id: string): Key => ['notificationStates', id],
  list: (list: NotificationList): Key =>
    'id' in list ? ['notificationsIn', list.kind, list.id] : ['notificationsIn', list.kind],
  /** Key of a notification in a list. `createdAt` is in epoch milliseconds. */
  inList: (list: NotificationList, createdAt: number, id: string): Key => [
    ...notificationKeys.list(list),
    timeOrder(createdAt),
    id,
  ],
  marksOn: (id: string): Key => ['notificationMarks', id],
  mark: (id: string, userId: string): Key => ['notificationMarks', id, userId],
  /** Index: the notifications for which a user has a read state. */
  marksOf: (userId: string): Key => ['notificationMarksOf', userId],
  markOf: (userId: string, id: string): Key => ['notificationMarksOf', userId, id],
  /** Index: the notifications in which a user appears in another role than recipient. */
  naming: (userId: string): Key => ['notificationsNaming', userId],
  namingIn: (userId: string, id: string): Key => ['notificationsNaming', userId, id],
  /**
   * Notification settings of a user for a document. If `documentId` is null, they apply to the organization.
   */
  config: (userId: string, documentId: string | null): Key =>
    documentId === null
      ? ['notificationConfigs', userId, 'organization']
      : ['notificationConfigs', userId, 'document', documentId],
  configsOf: (userId: string): Key => ['notificationConfigs', userId],
  /** Index: the users who have their own settings for a document. */
  configsOn: (documentId: string): Key => ['notificationConfigsOn', documentId],
  configOn: (documentId: string, userId: string): Key => ['notificationConfigsOn', documentId, userId],
}

/**
 * Returns a time as text that sorts by the time. Times in milliseconds have 15 digits until the year 9999.
 */
const timeOrder = (at: number): string => String(at).padStart(15, '0')
