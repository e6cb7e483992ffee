import * as s from '../../core/base/schema.ts'
import { emptyValue } from '../../core/directory/store/records.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import {
  findNamedUsers,
  type NamedUser,
  namedUserSchema,
  namedUsersMax,
  withoutUser,
} from '../../core/model/named-users.ts'
import { lastSegment } from '../../core/store/key-encoding.ts'
import { notificationKeys as keys, type NotificationList } from './notification-keys.ts'

/** A user as the caller describes the user. The user need not belong to the organization. */
export type NotifiedUser = NamedUser

const metadata = s.map(s.unknown)

export const notificationRecordType = {
  name: 'notification',
  schema: s.object({
    /** Id of the notification. It consists of ASCII letters, digits, `_` and `-`. */
    id: s.string,
    documentId: s.string,
    actionUser: namedUserSchema,
    displayHeadlineMessageTemplate: s.string,
    displayHeadlineMessageTemplateData: metadata,
    displayBodyMessage: s.string,
    /** The listed recipients. If `notifyAll` is true, there are further recipients. */
    notifyUsers: s.array(namedUserSchema),
    /** If true, all users who were in the organization at `createdAt` are also recipients. */
    notifyAll: s.boolean,
    notificationSourceData: metadata,
    /** Time of the creation in epoch milliseconds. `lastUpdated` is the time of the last change. */
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}
export type NotificationRecord = s.TypeOf<typeof notificationRecordType.schema>

/**
 * State of a notification. This record changes with every read state. A read state can therefore not be set
 * while the notification is being deleted, because the transactions conflict.
 */
export const notificationStateType = {
  name: 'state of a notification',
  schema: s.object({
    /** Number of users who have a read state. */
    marks: s.number,
  }),
}
type NotificationState = s.TypeOf<typeof notificationStateType.schema>

/** Read state of a notification for one user. */
export const notificationReadStateType = {
  name: 'read state of a notification',
  schema: s.object({
    read: s.boolean,
    /** True if the notification was removed for this user only. */
    gone: s.boolean,
  }),
}
type NotificationReadState = s.TypeOf<typeof notificationReadStateType.schema>

/**
 * Selects the notifications that reach a user: `ALL` notifications, only those that address the user
 * (`MINE`), or `NONE`.
 */
export type NotificationLevel = 'ALL' | 'MINE' | 'NONE'

// A newer version of Weft may store levels that this version does not know.
const levelSchema = s.trusted<NotificationLevel>(s.string)

/**
 * The level of each channel. If the config of a document has no level for a channel, the level of the
 * organization applies. If the organization has none either, the level is `ALL`.
 */
export const notificationConfigType = {
  name: 'notification config',
  schema: s.object({}, { inbox: levelSchema, email: levelSchema, slack: levelSchema }),
}
export type NotificationConfig = s.TypeOf<typeof notificationConfigType.schema>

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

/** Maximum number of read states or list entries that one commit removes. */
const sliceMax = 500

function listsOf({ documentId, notifyUsers, notifyAll }: NotificationRecord): readonly NotificationList[] {
  return [
    { kind: 'organization' },
    { kind: 'document', id: documentId },
    ...(notifyAll ? [{ kind: 'everybody' } as const] : []),
    ...notifyUsers.map(({ userId: id }) => ({ kind: 'user', id }) as const),
  ]
}

/** Returns the ids of the users who appear in a notification in another role than recipient. */
const namedIn = (record: NotificationRecord): ReadonlySet<string> =>
  findNamedUsers([
    record.actionUser,
    record.displayHeadlineMessageTemplateData,
    record.notificationSourceData,
  ])

/** Returns whether a notification mentions more users than can be indexed. */
export const namesTooMany = (record: NotificationRecord): boolean => namedIn(record).size > namedUsersMax

/**
 * Writes a notification whose content has changed. The recipients and the creation time of the notification
 * must be the same as before.
 */
export function rewriteNotification(
  transaction: Transaction,
  before: NotificationRecord,
  record: NotificationRecord,
): void {
  transaction.put(keys.notification(record.id), record)
  for (const userId of namedIn(before)) transaction.delete(keys.namingIn(userId, record.id))
  for (const userId of namedIn(record)) transaction.put(keys.namingIn(userId, record.id), emptyValue)
}

/**
 * Returns the notification with the deleted user in place of the user `userId`. The recipients stay
 * unchanged.
 */
export function withoutNamed(record: NotificationRecord, userId: string): NotificationRecord {
  const known = record.actionUser.userId === userId ? record.actionUser : { userId }
  return {
    ...record,
    actionUser: withoutUser(record.actionUser, known),
    displayHeadlineMessageTemplateData: withoutUser(record.displayHeadlineMessageTemplateData, known),
    notificationSourceData: withoutUser(record.notificationSourceData, known),
  }
}

/** Adds a notification. The id of the notification must be unused. */
export function addNotification(transaction: Transaction, record: NotificationRecord): void {
  const { id, createdAt } = record
  rewriteNotification(transaction, record, record)
  transaction.put(keys.state(id), { marks: 0 } satisfies NotificationState)
  for (const list of listsOf(record)) transaction.put(keys.inList(list, createdAt, id), emptyValue)
}

/**
 * Removes a notification. If it has more read states than one commit can remove, only some read states are
 * removed.
 * @returns true if nothing of the notification remains
 */
export async function removeNotification(transaction: Transaction, id: string): Promise<boolean> {
  const record = await transaction.get(keys.notification(id), notificationRecordType)
  if (record === null) return true
  // The state must be read before the scan. If another transaction sets a read state after the scan, it also
  // changes the state, so this commit fails.
  const state = await transaction.get(keys.state(id), notificationStateType)
  const marks = await transaction.scan({ prefix: keys.marksOn(id), limit: sliceMax })
  for (const { key } of marks) deleteMark(transaction, id, lastSegment(key))
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

/**
 * Removes a recipient from a notification. If the notification has no other recipient, it stays unchanged,
 * and the result is not `dropped`.
 */
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

/** Changes the read state of a notification for a user. The notification must exist. */
export async function putReadState(
  transaction: Transaction,
  id: string,
  userId: string,
  change: Partial<NotificationReadState>,
): Promise<void> {
  const old = await transaction.get(keys.mark(id, userId), notificationReadStateType)
  transaction.put(keys.mark(id, userId), { read: false, gone: false, ...old, ...change })
  if (old !== null) return
  transaction.put(keys.markOf(userId, id), emptyValue)
  await countMarks(transaction, id, 1)
}

/** Removes the read state of a notification for a user. Does nothing if the user has no read state. */
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
  const state = await transaction.get(keys.state(id), notificationStateType)
  if (state !== null) transaction.put(keys.state(id), { marks: state.marks + more })
}

/**
 * Changes the given channels in a user's settings for a document.
 * @param documentId id of the document; null for the settings that apply to the organization
 */
export async function putConfig(
  transaction: Transaction,
  { userId, documentId }: { userId: string; documentId: string | null },
  change: NotificationConfig,
): Promise<void> {
  const key = keys.config(userId, documentId)
  transaction.put(key, { ...(await transaction.get(key, notificationConfigType)), ...change })
  if (documentId !== null) transaction.put(keys.configOn(documentId, userId), emptyValue)
}
