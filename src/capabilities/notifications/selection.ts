import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import { organizationOf } from '../../core/directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { NotificationRecord, NotifiedUser } from './notification-records.ts'
import { type InboxRule, visibleTo } from './visibility.ts'

/** Filter for notifications. A notification must match all members that are present. */
export interface NotificationFilter {
  readonly documentId?: string | undefined
  /** Id of a user whom the notification must reach. */
  readonly userId?: string | undefined
}

/**
 * A notification that matches a filter. `recipient` is the user of the filter; null if the filter specifies
 * no user.
 */
export interface Selected {
  readonly record: NotificationRecord
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
