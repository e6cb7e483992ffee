import type { NotificationRecord, NotifiedUser } from '../directory/notification-records.ts'
import { organizationOf } from '../directory/organization-store.ts'
import { checkResource } from '../directory/places.ts'
import type { Reader } from '../directory/reader.ts'
import { type InboxRule, seenBy } from './visibility.ts'

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
  reader: Reader,
  records: readonly NotificationRecord[],
  { documentId, userId }: NotificationFilter,
  rule: InboxRule,
): Promise<readonly Selected[]> {
  const fitting = records.filter((record) => documentId === undefined || record.documentId === documentId)
  if (userId !== undefined) return seenBy(reader, userId, fitting, rule)
  return fitting.map((record) => ({ record, recipient: null, read: false }))
}

/** @throws ApiError NOT_FOUND when the organization, or the document asked for, does not exist */
export async function checkFilter(reader: Reader, { documentId }: NotificationFilter): Promise<void> {
  if (documentId === undefined) await organizationOf(reader)
  else await checkResource(reader, { type: 'document', id: documentId })
}
