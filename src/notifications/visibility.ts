import { notificationKeys as keys } from '../directory/notifications/notification-keys.ts'
import type {
  NotificationConfig,
  NotificationReadState,
  NotificationRecord,
  NotifiedUser,
} from '../directory/notifications/notification-records.ts'
import { keys as organizationKeys } from '../directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import type { UserRecord } from '../directory/store/records.ts'

/** How a notification reaches somebody; null: not at all. */
export type Reachability = 'direct' | 'everybody' | null

/** @param user record of the user in the organization, if any */
export function reachabilityOf(
  record: NotificationRecord,
  userId: string,
  user: UserRecord | null,
): Reachability {
  if (record.notifyUsers.some((each) => each.userId === userId)) return 'direct'
  return record.notifyAll && user !== null && user.createdAt <= record.createdAt ? 'everybody' : null
}

/** What holds for a document: its own config over that of the organization, channel by channel. */
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

/** Whether it matters what the user wants to see. */
export type InboxRule = 'as wanted' | 'all'

/** A notification as one user has it. */
export interface VisibleNotification {
  readonly record: NotificationRecord
  /** The user, as well as known. */
  readonly recipient: NotifiedUser
  readonly read: boolean
}

/** Those that are in the inbox of a user: they reach the user, were not removed there, and the user wants to see them. */
export async function visibleTo(
  reader: DirectoryReader,
  userId: string,
  records: readonly NotificationRecord[],
  rule: InboxRule,
): Promise<readonly VisibleNotification[]> {
  const user = await reader.get<UserRecord>(organizationKeys.user(userId))
  const marks = await reader.getAll<NotificationReadState>(records.map(({ id }) => keys.mark(id, userId)))
  const ofOrganization = await reader.get<NotificationConfig>(keys.config(userId, null))
  const ofDocuments = await reader.getAll<NotificationConfig>(
    records.map(({ documentId }) => keys.config(userId, documentId)),
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
