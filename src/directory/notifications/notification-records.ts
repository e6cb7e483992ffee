import { findNamedUsers, type NamedUser, namedUsersMax, withoutUser } from '../../model/named-users.ts'
import { emptyValue, type Metadata } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { notificationKeys as keys, type NotificationList } from './notification-keys.ts'

/** Somebody as named by whoever notifies; need not be a user of the organization. */
export type NotifiedUser = NamedUser

export interface NotificationRecord {
  /** ASCII letters, digits, `_` and `-`. */
  readonly id: string
  readonly documentId: string
  readonly actionUser: NotifiedUser
  readonly displayHeadlineMessageTemplate: string
  readonly displayHeadlineMessageTemplateData: Metadata
  readonly displayBodyMessage: string
  /** Those who are addressed themselves. */
  readonly notifyUsers: readonly NotifiedUser[]
  /** Whoever was a user of the organization at `createdAt` is addressed, too. */
  readonly notifyAll: boolean
  readonly notificationSourceData: Metadata
  /** Epoch milliseconds, as is `lastUpdated`. */
  readonly createdAt: number
  readonly lastUpdated: number
}

/** Changes with every mark, so that nobody marks what is being deleted. */
export interface NotificationState {
  /** Users who have marked it. */
  readonly marks: number
}

/** What one user has done with a notification. */
export interface NotificationReadState {
  readonly read: boolean
  /** True: it was removed for this user alone. */
  readonly gone: boolean
}

/** Which notifications reach a user: all, those that address the user, none. */
export type NotificationLevel = 'ALL' | 'MINE' | 'NONE'

/** By channel; what is left out is as one level up: document, organization, `ALL`. */
export interface NotificationConfig {
  readonly inbox?: NotificationLevel
  readonly email?: NotificationLevel
  readonly slack?: NotificationLevel
}

/** Marks, or list entries, that are removed in one commit. */
const sliceMax = 500

function listsOf({ documentId, notifyUsers, notifyAll }: NotificationRecord): readonly NotificationList[] {
  return [
    { kind: 'organization' },
    { kind: 'document', id: documentId },
    ...(notifyAll ? [{ kind: 'everybody' } as const] : []),
    ...notifyUsers.map(({ userId: id }) => ({ kind: 'user', id }) as const),
  ]
}

/** Ids of the users that a notification names otherwise than as whom it addresses. */
const namedIn = (record: NotificationRecord): ReadonlySet<string> =>
  findNamedUsers([
    record.actionUser,
    record.displayHeadlineMessageTemplateData,
    record.notificationSourceData,
  ])

/** Does it name more users than may be looked for by? */
export const namesTooMany = (record: NotificationRecord): boolean => namedIn(record).size > namedUsersMax

/** Writes a notification that says something else now. Whom it addresses, and its time, are the same. */
export function rewriteNotification(
  transaction: Transaction,
  before: NotificationRecord,
  record: NotificationRecord,
): void {
  transaction.put(keys.notification(record.id), record)
  for (const userId of namedIn(before)) transaction.delete(keys.namingIn(userId, record.id))
  for (const userId of namedIn(record)) transaction.put(keys.namingIn(userId, record.id), emptyValue)
}

/** The notification with the deleted user instead of this one, whom it may address all the same. */
export function withoutNamed(record: NotificationRecord, userId: string): NotificationRecord {
  const known = record.actionUser.userId === userId ? record.actionUser : { userId }
  return {
    ...record,
    actionUser: withoutUser(record.actionUser, known),
    displayHeadlineMessageTemplateData: withoutUser(record.displayHeadlineMessageTemplateData, known),
    notificationSourceData: withoutUser(record.notificationSourceData, known),
  }
}

/** Adds a notification whose id is free. */
export function addNotification(transaction: Transaction, record: NotificationRecord): void {
  const { id, createdAt } = record
  rewriteNotification(transaction, record, record)
  transaction.put(keys.state(id), { marks: 0 } satisfies NotificationState)
  for (const list of listsOf(record)) transaction.put(keys.inList(list, createdAt, id), emptyValue)
}

/**
 * Removes a notification, or some of its marks where they are too many for one commit.
 * @returns true when there is nothing left of it
 */
export async function removeNotification(transaction: Transaction, id: string): Promise<boolean> {
  const record = await transaction.get<NotificationRecord>(keys.notification(id))
  if (record === null) return true
  // Before the scan: a mark that is set after it changes the state that is checked.
  const state = await transaction.get<NotificationState>(keys.state(id))
  const marks = await transaction.scan({ prefix: keys.marksOn(id), limit: sliceMax })
  for (const { key } of marks) deleteMark(transaction, id, key.at(-1) as string)
  if (marks.length === sliceMax) {
    transaction.put(keys.state(id), { marks: (state?.marks ?? 0) - marks.length })
    return false
  }
  transaction.delete(keys.notification(id))
  transaction.delete(keys.state(id))
  for (const userId of namedIn(record)) transaction.delete(keys.namingIn(userId, id))
  for (const list of listsOf(record)) transaction.delete(keys.inList(list, record.createdAt, id))
  return true
}

/** Takes a user from those whom a notification names; one that would address nobody any more is left as it is. */
export function dropRecipient(
  transaction: Transaction,
  record: NotificationRecord,
  userId: string,
): 'dropped' | 'nobody left' {
  const { id, createdAt, notifyAll } = record
  const notifyUsers = record.notifyUsers.filter((user) => user.userId !== userId)
  if (notifyUsers.length === 0 && !notifyAll) return 'nobody left'
  transaction.put(keys.notification(id), { ...record, notifyUsers })
  transaction.delete(keys.inList({ kind: 'user', id: userId }, createdAt, id))
  return 'dropped'
}

/** Adds to what a user has done with a notification that exists. */
export async function putReadState(
  transaction: Transaction,
  id: string,
  userId: string,
  change: Partial<NotificationReadState>,
): Promise<void> {
  const old = await transaction.get<NotificationReadState>(keys.mark(id, userId))
  transaction.put(keys.mark(id, userId), { read: false, gone: false, ...old, ...change })
  if (old !== null) return
  transaction.put(keys.markOf(userId, id), emptyValue)
  await countMarks(transaction, id, 1)
}

/** Does nothing when there is none. */
export async function removeReadState(transaction: Transaction, id: string, userId: string): Promise<void> {
  if ((await transaction.get(keys.mark(id, userId))) === null) return
  deleteMark(transaction, id, userId)
  await countMarks(transaction, id, -1)
}

function deleteMark(transaction: Transaction, id: string, userId: string): void {
  transaction.delete(keys.mark(id, userId))
  transaction.delete(keys.markOf(userId, id))
}

async function countMarks(transaction: Transaction, id: string, more: 1 | -1): Promise<void> {
  const state = await transaction.get<NotificationState>(keys.state(id))
  if (state !== null) transaction.put(keys.state(id), { marks: state.marks + more })
}

/** Changes what a user wants to see of a document, or with null of the organization, as far as given. */
export async function putConfig(
  transaction: Transaction,
  { userId, documentId }: { userId: string; documentId: string | null },
  change: NotificationConfig,
): Promise<void> {
  const key = keys.config(userId, documentId)
  transaction.put(key, { ...(await transaction.get<NotificationConfig>(key)), ...change })
  if (documentId !== null) transaction.put(keys.configOn(documentId, userId), emptyValue)
}
