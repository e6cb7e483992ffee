import { ItemRejectedError } from '../store/batch.ts'
import { patchRecord } from '../store/patch-record.ts'
import type { AccessRole, Metadata, UserRecord } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'
import { keys, type Subject } from './organization-keys.ts'

/** JSON that is kept with one user: a listing answers a thousand of them. */
export const userMetadataBytesMax = 16_384

/** What is said of a user; what is left out stays as it is, or empty. */
export interface UserInput {
  readonly userId: string
  readonly name?: string
  readonly email?: string
  readonly photoUrl?: string
  readonly color?: string
  readonly metadata?: Metadata
  readonly accessRole?: AccessRole
}

export const userSubject = (id: string): Subject => ({ type: 'user', id })

/** A user of whom nothing is known yet. */
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

/** The record with what `input` says; the same one when that is nothing new. @throws ItemRejectedError */
export function describedUser(record: UserRecord | null, input: UserInput, now: number): UserRecord {
  const { userId, name, email, photoUrl, color, metadata } = input
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > userMetadataBytesMax)
    throw new ItemRejectedError(
      'request/invalid-member',
      `metadata has more than ${userMetadataBytesMax} bytes of JSON; send less`,
    )
  return patchRecord<UserRecord>(
    record ?? newUser(userId, now),
    { name, email, photoUrl, color, metadata },
    now,
  )
}

/** Makes a record of each user who has none: whoever may do something in an organization is listed there. */
export async function ensureUsers(
  transaction: Transaction,
  userIds: readonly string[],
  now: number,
): Promise<void> {
  const records = await transaction.getAll<UserRecord>(userIds.map(keys.user))
  for (const [index, userId] of userIds.entries())
    if (records[index] === null) transaction.put(keys.user(userId), newUser(userId, now))
}
