import { createHash } from 'node:crypto'
import * as s from '../../base/schema.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'
import { keys } from './organization-keys.ts'

/** Marks that the data of a user was deleted from an organization. */
const erasedRecordType = {
  name: 'erasure of a user',
  schema: s.object({
    /** Time up to which actions of the user are recorded without the user, in epoch milliseconds. */
    until: s.number,
  }),
}

/** Returns a digest of `parts`. The parts cannot be read from the digest. */
export const userDigest = (...parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/**
 * Records the erasure of a user. Actions of the user up to `until` (epoch milliseconds) that are recorded
 * later contain the placeholder of a deleted user instead of the user.
 */
export async function markErased(transaction: Transaction, userId: string, until: number): Promise<void> {
  const key = keys.erased(userDigest(userId))
  const earlier = await transaction.get(key, erasedRecordType)
  transaction.put(key, { until: Math.max(until, earlier?.until ?? 0) })
}

interface UserAction {
  readonly userId: string
  /** Time of the action, in epoch milliseconds. */
  readonly at: number
}

/** Returns, for each action, whether the data of its user was deleted after the action. */
export async function areUsersErased(
  reader: DirectoryReader,
  deeds: readonly UserAction[],
): Promise<readonly boolean[]> {
  const records = await reader.getAll(
    deeds.map(({ userId }) => keys.erased(userDigest(userId))),
    erasedRecordType,
  )
  return deeds.map(({ at }, index) => {
    const record = records[index] ?? null
    return record !== null && at <= record.until
  })
}

/** Like `areUsersErased`, but for one action. @param at time of the action, in epoch milliseconds */
export async function isUserErased(reader: DirectoryReader, userId: string, at: number): Promise<boolean> {
  return (await areUsersErased(reader, [{ userId, at }])).includes(true)
}
