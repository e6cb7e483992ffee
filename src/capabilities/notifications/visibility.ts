import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import { keys as organizationKeys } from '../../core/directory/organizations/organization-keys.ts'
import { organizationOf } from '../../core/directory/organizations/organization-store.ts'
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

/**
 * Returns the notifications that are in the inbox of a user. A notification is in the inbox if it reaches the
 * user, the user has not removed it, and the user's config shows it.
 */
async function visibleTo(
  reader: DirectoryReader,
  userId: string,
  records: readonly NotificationRecord[],
  rule: InboxRule,
): Promise<readonly Selected[]> {
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

/** Filter for notifications. A notification must match all members that are present. */
export interface NotificationFilter {
  readonly documentId?: string | undefined
  /** Id of a user whom the notification must reach. */
  readonly userId?: string | undefined
}

/** A notification that matches a filter. */
export interface Selected {
  readonly record: NotificationRecord
  /**
   * The user of the filter; null if the filter specifies no user. The name comes from the notification, or else
   * from the user record. The name is empty if neither has one.
   */
  readonly recipient: NotifiedUser | null
  /** True if the recipient has read the notification. Always false without a recipient. */
  readonly read: boolean
}

/** Returns the notifications that match the filter. */
export async function select(
  reader: DirectoryReader,
  records: readonly NotificationRecord[],
  { documentId, userId }: NotificationFilter,
  rule: InboxRule,
): Promise<readonly Selected[]> {
  const fitting = records.filter((record) => documentId === undefined || record.documentId === documentId)
  if (userId !== undefined) return visibleTo(reader, userId, fitting, rule)
  return fitting.map((record) => ({ record, recipient: null, read: false }))
}

/**
 * Checks that the organization exists, and that the document of the filter exists.
 * @throws ApiError NOT_FOUND if one of them does not exist
 */
export async function checkFilter(
  reader: DirectoryReader,
  { documentId }: NotificationFilter,
): Promise<void> {
  if (documentId === undefined) await organizationOf(reader)
  else await requireResource(reader, { type: 'document', id: documentId })
}
