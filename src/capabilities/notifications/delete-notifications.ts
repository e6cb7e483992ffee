import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import {
  type BatchResults,
  emptyBatchResults,
  failedResult,
  mapInSlices,
} from '../../core/directory/store/batch.ts'
import type { ListPage } from '../../core/directory/store/list-page.ts'
import { notificationLimits as limits } from './limits.ts'
import { existing, listNotifications } from './list-notifications.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import {
  dropRecipient,
  notificationRecordType,
  putReadState,
  removeReadState,
} from './notification-records.ts'
import { removeWholly } from './notification-removal.ts'
import { checkFilter, type NotificationFilter, type Selected, select } from './selection.ts'

export interface DeleteRequest {
  readonly results: BatchResults
  /** Whether all matching notifications are deleted; false if some may remain. */
  readonly complete: boolean
}

/**
 * Deletes up to `limits.deleted` notifications that match the filter. If the filter specifies a user, the
 * notifications are deleted for this user only. A notification that has no other recipient is then deleted
 * completely.
 * @param ids ids of the notifications to delete; undefined for all matching notifications
 * @throws ApiError NOT_FOUND if the organization does not exist, or if the document of the filter does not
 */
export async function deleteNotifications(
  store: OrganizationStore,
  scope: OrganizationScope,
  filter: NotificationFilter,
  ids: readonly string[] | undefined,
): Promise<DeleteRequest> {
  const { items, next } = await toDelete(store, scope, filter, ids)
  const results = emptyBatchResults()
  for (const id of ids ?? [])
    results[id] = failedResult(id, 'notification/not-found', 'there is no such notification')
  await mapInSlices(items, async ({ record: { id } }) => {
    if (filter.userId === undefined) await removeWholly(store, scope, id)
    else await deleteFor(store, scope, id, filter.userId)
    results[id] = { success: true, id, message: 'deleted' }
  })
  return { results, complete: next === null }
}

/** Returns the notifications to delete. The result includes notifications that the user's settings hide. */
async function toDelete(
  store: OrganizationStore,
  scope: OrganizationScope,
  filter: NotificationFilter,
  ids: readonly string[] | undefined,
): Promise<ListPage<Selected>> {
  const reader = store.read(scope)
  await checkFilter(reader, filter)
  if (ids === undefined) {
    const listing = { ...filter, order: 'asc', after: undefined, limit: limits.deleted } as const
    return listNotifications(store, scope, listing, 'all')
  }
  const records = await existing(reader, [...new Set(ids)])
  return { items: await select(reader, records, filter, 'all'), next: null }
}

async function deleteFor(
  store: OrganizationStore,
  scope: OrganizationScope,
  id: string,
  userId: string,
): Promise<void> {
  const outcome = await store.change(scope, async (transaction) => {
    const record = await transaction.get(keys.notification(id), notificationRecordType)
    if (record === null) return 'dropped'
    if (record.notifyAll) await putReadState(transaction, id, userId, { gone: true })
    else await removeReadState(transaction, id, userId)
    return dropRecipient(transaction, record, userId)
  })
  if (outcome === 'nobody left') await removeWholly(store, scope, id)
}
