import { ItemRejectedError } from '../store/batch.ts'
import { patchOthers, patchRecord } from '../store/patch-record.ts'
import {
  type AccessRole,
  emptyValue,
  type Metadata,
  type UserRecord,
  userRecordType,
} from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { keys, type Subject } from './organization-keys.ts'

/**
 * Maximum size of the JSON metadata of one user, in bytes. The limit is low because a page of a listing
 * contains up to a thousand users.
 */
export const userMetadataBytesMax = 16_384

/** Content of a user. In a new user, absent members are empty; in an existing user, they stay unchanged. */
export interface UserInput {
  readonly userId: string
  readonly name?: string
  readonly email?: string
  readonly photoUrl?: string
  readonly color?: string
  readonly metadata?: Metadata
  /** Changes of other members; null removes one. */
  readonly others?: Metadata | undefined
  readonly accessRole?: AccessRole
}

export const userSubject = (id: string): Subject => ({ type: 'user', id })

/** Returns the record of a new user, with only its id and times. */
const newUser = (userId: string, now: number): UserRecord => ({
  userId,
  name: '',
  email: '',
  photoUrl: '',
  color: '',
  metadata: {},
  createdAt: now,
  lastUpdated: now,
})

/**
 * Returns the record with the changes of `input`. Returns the same object if nothing changes.
 * @throws ItemRejectedError if the metadata or the other members are too large
 */
export function describedUser(record: UserRecord | null, input: UserInput, now: number): UserRecord {
  const { userId, name, email, photoUrl, color, metadata, others } = input
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > userMetadataBytesMax)
    throw new ItemRejectedError(
      'request/invalid-member',
      `metadata has more than ${userMetadataBytesMax} bytes of JSON; send less`,
    )
  return patchRecord<UserRecord>(
    record ?? newUser(userId, now),
    { name, email, photoUrl, color, metadata, others: patchOthers(record?.others, others) },
    now,
  )
}

/**
 * Creates a record for each user who does not have one. Every user with a right in an organization needs a
 * record there, so that the user is listed.
 */
export async function ensureUsers(
  transaction: Transaction,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  const records = await transaction.getAll(userIds.map(keys.user), userRecordType)
  for (const [index, userId] of userIds.entries())
    if (records[index] === null) transaction.put(keys.user(userId), newUser(userId, now))
}

/** The membership of one user in one group. */
interface GroupMembership {
  readonly groupId: string
  readonly userId: string
}

export function putMembership(transaction: Transaction, { groupId, userId }: GroupMembership): void {
  transaction.put(keys.member(groupId, userId), emptyValue)
  transaction.put(keys.groupOf(userId, groupId), emptyValue)
}

export function removeMembership(transaction: Transaction, { groupId, userId }: GroupMembership): void {
  transaction.delete(keys.member(groupId, userId))
  transaction.delete(keys.groupOf(userId, groupId))
}
