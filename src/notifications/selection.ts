import { requireResource } from '../directory/documents/resource-lookup.ts'
import type { NotificationRecord, NotifiedUser } from '../directory/notifications/notification-records.ts'
import { organizationOf } from '../directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import { type InboxRule, visibleTo } from './visibility.ts'

/** What notifications are asked for; several filters hold together. */
export interface NotificationFilter {
  readonly documentId?: string | undefined
  /** Those that reach this user. */
  readonly userId?: string | undefined
}

/** A notification, and for whom: null for nobody in particular. */
export interface Selected {
  readonly record: NotificationRecord
  readonly recipient: NotifiedUser | null
  /** By the recipient. */
  readonly read: boolean
}

/** Those records that fit. */
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

/** @throws ApiError NOT_FOUND when the organization, or the document asked for, does not exist */
export async function checkFilter(
  reader: DirectoryReader,
  { documentId }: NotificationFilter,
): Promise<void> {
  if (documentId === undefined) await organizationOf(reader)
  else await requireResource(reader, { type: 'document', id: documentId })
}
