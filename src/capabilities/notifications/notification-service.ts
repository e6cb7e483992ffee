import type { Clock } from '../../core/base/clock.ts'
import { invalid } from '../../core/base/errors.ts'
import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import {
  type OrganizationScope,
  keys as organizationKeys,
} from '../../core/directory/organizations/organization-keys.ts'
import {
  type OrganizationStore,
  organizationOf,
} from '../../core/directory/organizations/organization-store.ts'
import {
  type BatchResults,
  emptyBatchResults,
  failedResult,
  forEachItem,
  ItemRejectedError,
  mapInSlices,
} from '../../core/directory/store/batch.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import type { ListPage } from '../../core/directory/store/list-page.ts'
import { patchRecord } from '../../core/directory/store/patch-record.ts'
import { userRecordType } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import { namedUsersMax } from '../../core/model/named-users.ts'
import type { Key } from '../../core/store/engine.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { notificationLimits as limits } from './limits.ts'
import {
  checkFilter,
  existing,
  listNotifications,
  type NotificationFilter,
  type NotificationListing,
  reachabilityOf,
  type Selected,
  select,
} from './list-notifications.ts'
import { notificationKeys as keys } from './notification-keys.ts'
import {
  addNotification,
  dropRecipient,
  type NotificationRecord,
  namesTooMany,
  notificationReadStateType,
  notificationRecordType,
  putReadState,
  removeReadState,
  rewriteNotification,
} from './notification-records.ts'
import { removeWholly } from './notification-removal.ts'
import { renderHeadline } from './template.ts'

/** A notification to add. Its members are the same as in `NotificationRecord`. */
type NewNotification = Omit<NotificationRecord, 'createdAt' | 'lastUpdated'>

/** A change of a notification. Members that are absent stay unchanged. */
interface NotificationChange {
  readonly id: string
  readonly displayHeadlineMessageTemplate?: string
  readonly displayHeadlineMessageTemplateData?: NotificationRecord['displayHeadlineMessageTemplateData']
  readonly displayBodyMessage?: string
  readonly notificationSourceData?: NotificationRecord['notificationSourceData']
  /** Ids of recipients who become readers of the notification. Existing readers stay readers. */
  readonly readByUserIds?: readonly string[]
}

interface NotificationBatch {
  readonly id: string
  /**
   * `added`: the notification was added. `used already`: its id is in use, and the stored notification stays
   * unchanged.
   */
  readonly outcome: 'added' | 'used already'
}

/** A notification with the members that a response contains. */
export interface NotificationView {
  readonly record: NotificationRecord
  /**
   * The headline, rendered for the user of the filter. If the filter specifies no user, it is rendered
   * without a recipient.
   */
  readonly headline: string
  /**
   * Ids of the readers, sorted by id, at most `readersShown`. If the filter specifies a user, the list
   * contains at most this user.
   */
  readonly readByUserIds: readonly string[]
}

/**
 * Manages the notifications of organizations. Each notification belongs to one document. Every method throws
 * ApiError NOT_FOUND if the organization does not exist, or if the document that the call specifies does not
 * exist.
 */
export class NotificationService {
  readonly #store: OrganizationStore
  readonly #clock: Clock

  constructor(store: OrganizationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Returns whether the organization has a notification with this id. */
  async isUsed(scope: OrganizationScope, id: string): Promise<boolean> {
    return (await this.#store.read(scope).get(keys.notification(id))) !== null
  }

  add(scope: OrganizationScope, { id, ...given }: NewNotification): Promise<NotificationBatch> {
    return this.#store.change<NotificationBatch>(scope, async (transaction) => {
      await requireResource(transaction, { type: 'document', id: given.documentId })
      if ((await transaction.get(keys.notification(id))) !== null) return { id, outcome: 'used already' }
      const now = this.#clock.now()
      const record = { ...given, id, createdAt: now, lastUpdated: now }
      if (namesTooMany(record)) throw invalid('notification/too-many-users', tooManyNamed)
      addNotification(transaction, record)
      return { id, outcome: 'added' }
    })
  }

  /**
   * Returns the notifications that have one of the ids `ids` and match the filter, in the order of the ids.
   */
  async find(
    scope: OrganizationScope,
    filter: NotificationFilter,
    ids: readonly string[],
  ): Promise<readonly NotificationView[]> {
    const reader = this.#store.read(scope)
    await checkFilter(reader, filter)
    const records = await existing(reader, [...new Set(ids)])
    return viewsOf(reader, await select(reader, records, filter, 'as wanted'), filter)
  }

  /**
   * Returns a page of notifications, sorted by time. A page that is not the last one may also have fewer than
   * `limit` items.
   */
  async list(scope: OrganizationScope, listing: NotificationListing): Promise<ListPage<NotificationView>> {
    const reader = this.#store.read(scope)
    await checkFilter(reader, listing)
    const { items, next } = await listNotifications(this.#store, scope, listing, 'as wanted')
    return { items: await viewsOf(reader, items, listing), next }
  }

  /**
   * Changes notifications. Each commit contains up to `limits.together` changes, so an interrupted call may
   * have made only the first changes.
   */
  async update(scope: OrganizationScope, changes: readonly NotificationChange[]): Promise<BatchResults> {
    const results = emptyBatchResults()
    for (let at = 0; at < changes.length; at += limits.together)
      Object.assign(results, await this.#updateTogether(scope, changes.slice(at, at + limits.together)))
    return results
  }

  /**
   * Deletes up to `limits.deleted` notifications that match the filter. If the filter specifies a user, the
   * notifications are deleted for this user only. A notification that has no other recipient is then deleted
   * completely.
   * @param ids ids of the notifications to delete; undefined for all matching notifications
   * @returns the result of each notification; `complete` is false if further ones may match
   */
  async delete(
    scope: OrganizationScope,
    filter: NotificationFilter,
    ids: readonly string[] | undefined,
  ): Promise<{ readonly results: BatchResults; readonly complete: boolean }> {
    const { items, next } = await this.#toDelete(scope, filter, ids)
    const results = emptyBatchResults()
    for (const id of ids ?? [])
      results[id] = failedResult(id, 'notification/not-found', 'there is no such notification')
    await mapInSlices(items, async ({ record: { id } }) => {
      if (filter.userId === undefined) await removeWholly(this.#store, scope, id)
      else await this.#deleteFor(scope, id, filter.userId)
      results[id] = { success: true, id, message: 'deleted' }
    })
    return { results, complete: next === null }
  }

  /** Returns the notifications to delete. The result includes notifications that the user's settings hide. */
  async #toDelete(
    scope: OrganizationScope,
    filter: NotificationFilter,
    ids: readonly string[] | undefined,
  ): Promise<ListPage<Selected>> {
    const reader = this.#store.read(scope)
    await checkFilter(reader, filter)
    if (ids === undefined) {
      const listing = { ...filter, order: 'asc', after: undefined, limit: limits.deleted } as const
      return listNotifications(this.#store, scope, listing, 'all')
    }
    const records = await existing(reader, [...new Set(ids)])
    return { items: await select(reader, records, filter, 'all'), next: null }
  }

  async #deleteFor(scope: OrganizationScope, id: string, userId: string): Promise<void> {
    const outcome = await this.#store.change(scope, async (transaction) => {
      const record = await transaction.get(keys.notification(id), notificationRecordType)
      if (record === null) return 'dropped'
      if (record.notifyAll) await putReadState(transaction, id, userId, { gone: true })
      else await removeReadState(transaction, id, userId)
      return dropRecipient(transaction, record, userId)
    })
    if (outcome === 'nobody left') await removeWholly(this.#store, scope, id)
  }

  #updateTogether(scope: OrganizationScope, changes: readonly NotificationChange[]): Promise<BatchResults> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      await transaction.getAll(changes.map(({ id }) => keys.notification(id)))
      return forEachItem(changes, 'id', (change) => this.#update(transaction, change))
    })
  }

  async #update(
    transaction: Transaction,
    { id, readByUserIds = [], ...change }: NotificationChange,
  ): Promise<string> {
    const [record] = await existing(transaction, [id])
    if (record === undefined)
      throw new ItemRejectedError('notification/not-found', 'there is no such notification')
    const readers = [...new Set(readByUserIds)]
    const users = await transaction.getAll(readers.map(organizationKeys.user), userRecordType)
    const stranger = readers.find(
      (userId, index) => reachabilityOf(record, userId, users[index] ?? null) === null,
    )
    if (stranger !== undefined)
      throw new ItemRejectedError('notification/not-addressed', `it is not addressed to ${stranger}`)
    const next = changed(record, change, this.#clock.now())
    if (namesTooMany(next)) throw new ItemRejectedError('notification/too-many-users', tooManyNamed)
    rewriteNotification(transaction, record, next)
    await transaction.getAll(readers.map((userId) => keys.mark(id, userId)))
    for (const userId of readers) await putReadState(transaction, id, userId, { read: true })
    return 'updated'
  }
}

const tooManyNamed = `the notification names more than ${namedUsersMax} users; send several notifications`

/**
 * Returns the record with the changes that are allowed. A change may contain other members, which are
 * ignored.
 */
const changed = (
  record: NotificationRecord,
  {
    displayHeadlineMessageTemplate,
    displayHeadlineMessageTemplateData,
    displayBodyMessage,
    notificationSourceData,
  }: Omit<NotificationChange, 'id'>,
  now: number,
): NotificationRecord =>
  patchRecord<NotificationRecord>(
    record,
    {
      displayHeadlineMessageTemplate,
      displayHeadlineMessageTemplateData,
      displayBodyMessage,
      notificationSourceData,
    },
    now,
  )

const viewsOf = (
  reader: DirectoryReader,
  items: readonly Selected[],
  { userId }: NotificationFilter,
): Promise<readonly NotificationView[]> =>
  mapInSlices(items, async ({ record, recipient, read }) => ({
    record,
    headline: renderHeadline(record, recipient),
    readByUserIds: userId === undefined ? await readersOf(reader, record.id) : read ? [userId] : [],
  }))

async function readersOf(reader: DirectoryReader, id: string): Promise<readonly string[]> {
  const [readers, prefix]: [string[], Key] = [[], keys.marksOn(id)]
  let after: Key | undefined
  for (let scanned = 0; scanned < limits.readersScanned; scanned += limits.readersShown) {
    const marks = await reader.scan({ prefix, limit: limits.readersShown, ...(after && { after }) })
    const read = marks.filter((mark) => readRecord(notificationReadStateType, mark).read)
    readers.push(...read.map(({ key }) => lastSegment(key)))
    if (marks.length < limits.readersShown || readers.length >= limits.readersShown) break
    after = marks.at(-1)?.key
  }
  return readers.slice(0, limits.readersShown)
}
