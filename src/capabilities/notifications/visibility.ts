import { keys as organizationKeys } from '../../core/directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { type UserRecord, userRecordType } from '../../core/directory/store/records.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import {
  type NotificationConfig,
  type NotificationRecord,
  type NotifiedUser,
  notificationConfigType,
  notificationReadStateType,
} from './notification-records.ts'

/** How a notification reaches a user; null if the notification does not reach the user. */
type Reachability = 'direct' | 'everybody' | null

/**
 * Returns how a notification reaches a user.
 * @param user record of the user in the organization; null if the organization has no such user
 */
export function reachabilityOf(
  record: NotificationRecord,
  userId: string,
  user: UserRecord | null,
): Reachability {
  if (record.notifyUsers.some((each) => each.userId === userId)) return 'direct'
  return record.notifyAll && user !== null && user.createdAt <= record.createdAt ? 'everybody' : null
}

/**
 * Returns the config that takes effect for a document. For each channel, the level of the document takes
 * precedence over the level of the organization.
 */
export const effectiveConfig = (
  ofOrganization: NotificationConfig | null,
  ofDocument: NotificationConfig | null,
): Required<NotificationConfig> => ({
  inbox: 'ALL',
  email: 'ALL',
  slack: 'ALL',
  ...ofOrganization,
  ...ofDocument,
})

/**
 * Whether the notification config of the user applies. `as wanted` applies the config, and `all` ignores it.
 */
export type InboxRule = 'as wanted' | 'all'

/** A notification in the inbox of a user. */
interface VisibleNotification {
  readonly record: NotificationRecord
  /**
   * The user whose inbox it is. The name comes from the notification, or else from the user record. The name
   * is empty if neither has one.
   */
  readonly recipient: NotifiedUser
  readonly read: boolean
}

/**
 * Returns the notifications that are in the inbox of a user. A notification is in the inbox if it reaches the
 * user, the user has not removed it, and the user's config shows it.
 */
export async function visibleTo(
  reader: DirectoryReader,
  userId: string,
  records: readonly NotificationRecord[],
  rule: InboxRule,
): Promise<readonly VisibleNotification[]> {
  const user = await reader.get(organizationKeys.user(userId), userRecordType)
  const marks = await reader.getAll(
    records.map(({ id }) => keys.mark(id, userId)),
    notificationReadStateType,
  )
  const ofOrganization = await reader.get(keys.config(userId, null), notificationConfigType)
  const ofDocuments = await reader.getAll(
    records.map(({ documentId }) => keys.config(userId, documentId)),
    notificationConfigType,
  )
  return records.flatMap((record, index) => {
    const reach = reachabilityOf(record, userId, user)
    const { inbox } = effectiveConfig(ofOrganization, ofDocuments[index] ?? null)
    const isWanted = rule === 'all' || inbox === 'ALL' || (inbox === 'MINE' && reach === 'direct')
    if (reach === null || !isWanted || marks[index]?.gone === true) return []
    const recipient = recipientOf(record, userId, user)
    return [{ record, recipient, read: marks[index]?.read === true }]
  })
}

function recipientOf(record: NotificationRecord, userId: string, user: UserRecord | null): NotifiedUser {
  const named = record.notifyUsers.find((each) => each.userId === userId)
  return { userId, name: named?.name || user?.name || '' }
}
