import { findMissing } from '../../core/directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { notificationLimits as limits } from './limits.ts'
import { notificationKeys as keys, type NotificationList } from './notification-keys.ts'
import { type NotificationRecord, notificationRecordType } from './notification-records.ts'
import { type InboxRule, type NotificationFilter, type Selected, select } from './visibility.ts'

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
