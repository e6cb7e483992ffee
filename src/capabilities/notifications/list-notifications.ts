import { findMissing, requireResource } from '../../core/directory/documents/resource-lookup.ts'
import {
  type OrganizationScope,
  keys as organizationKeys,
} from '../../core/directory/organizations/organization-keys.ts'
import {
  type OrganizationStore,
  organizationOf,
} from '../../core/directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { type UserRecord, userRecordType } from '../../core/directory/store/records.ts'
import { notificationLimits as limits } from './limits.ts'
import { notificationKeys as keys, type NotificationList } from './notification-keys.ts'
import {
  effectiveConfig,
  type NotificationRecord,
  type NotifiedUser,
  notificationConfigType,
  notificationReadStateType,
  notificationRecordType,
} from './notification-records.ts'

/** Maximum number of list entries in one read. */
const chunkSize = limits.together

export interface NotificationListing extends NotificationFilter, PageRange {
  readonly order: 'asc' | 'desc'
}

/**
 * Returns a page of notifications, sorted by time and then by id. A position consists of the time and the id
 * of a notification. So if notifications are added or deleted between two pages, no other notification is
 * left out or repeated. After `scanned` entries or `pageBytes`, the page ends early with the position for the
 * next page.
 */
export async function listNotifications(
  store: OrganizationStore,
  scope: OrganizationScope,
  listing: NotificationListing,
  rule: InboxRule,
): Promise<ListPage<Selected>> {
  const items: Selected[] = []
  let bytes = 0
  let after = listing.after
  for (let scanned = 0; scanned < limits.scanned; scanned += chunkSize) {
    const reader = store.read(scope)
    const chunk = await nextPositions(reader, { ...listing, after })
    const records = await existing(reader, chunk.map(idOf))
    for (const item of await select(reader, records, listing, rule)) {
      bytes += Buffer.byteLength(JSON.stringify(item.record))
      const isFull = items.length === listing.limit || (items.length > 0 && bytes > limits.pageBytes)
      if (isFull) return { items, next: positionOf((items.at(-1) as Selected).record) }
      items.push(item)
    }
    if (chunk.length < chunkSize) return { items, next: null }
    after = chunk.at(-1)
  }
  return { items, next: after ?? null }
}

/**
 * Returns the notifications that have one of the ids `ids` and whose document exists, in the order of the
 * ids.
 */
export async function existing(
  reader: DirectoryReader,
  ids: readonly string[],
): Promise<readonly NotificationRecord[]> {
  const found = await reader.getAll(ids.map(keys.notification), notificationRecordType)
  const records = found.filter((record) => record !== null)
  const documentIds = [...new Set(records.map(({ documentId }) => documentId))]
  const resources = documentIds.map((id) => ({ type: 'document', id }) as const)
  const missing = new Set((await findMissing(reader, resources)).map(({ id }) => id))
  return records.filter(({ documentId }) => !missing.has(documentId))
}

/**
 * Returns the next positions in the lists that the filter selects. If the filter selects two lists, their
 * positions are merged.
 */
async function nextPositions(
  reader: DirectoryReader,
  { after, order, ...filter }: Omit<NotificationListing, 'limit'>,
): Promise<readonly string[]> {
  const reverse = order === 'desc'
  const ranges = listsFor(filter).map(async (list) => {
    const prefix = keys.list(list)
    const from = after === undefined ? {} : { after: [...prefix, ...segmentsOf(after)] }
    return reader.scan({ prefix, limit: chunkSize, reverse, ...from })
  })
  const positions = (await Promise.all(ranges)).flat().map(({ key }) => key.slice(-2).join(' '))
  const sorted = [...new Set(positions)].sort()
  return (reverse ? sorted.toReversed() : sorted).slice(0, chunkSize)
}

/** Returns the shortest lists that together contain all notifications that match the filter. */
function listsFor({ documentId, userId }: NotificationFilter): readonly NotificationList[] {
  if (documentId !== undefined) return [{ kind: 'document', id: documentId }]
  if (userId !== undefined) return [{ kind: 'user', id: userId }, { kind: 'everybody' }]
  return [{ kind: 'organization' }]
}

/**
 * Splits a position into its time and id. In a position, a time of fixed length, a space and an id without
 * spaces follow each other, so positions sort in the same way as keys.
 */
const segmentsOf = (position: string): readonly string[] => position.split(' ')
const idOf = (position: string): string => segmentsOf(position)[1] as string
const positionOf = ({ createdAt, id }: NotificationRecord): string =>
  keys.inList({ kind: 'organization' }, createdAt, id).slice(-2).join(' ')

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
 * Whether the notification config of the user applies. `as wanted` applies the config, and `all` ignores it.
 */
type InboxRule = 'as wanted' | 'all'

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
