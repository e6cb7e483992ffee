import { createHash } from 'node:crypto'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'
import { keys } from './organization-keys.ts'

/** Marks that the data of a user were deleted from an organization. */
interface ErasedRecord {
  /** Epoch milliseconds: what the user did until then is recorded without the user. */
  readonly until: number
}

/** Names something without saying it. */
export const userDigest = (...parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** What the user has done until then (epoch milliseconds), and is recorded later, is the deleted user's. */
export async function markErased(transaction: Transaction, userId: string, until: number): Promise<void> {
  const key = keys.erased(userDigest(userId))
  const earlier = await transaction.get<ErasedRecord>(key)
  transaction.put(key, { until: Math.max(until, earlier?.until ?? 0) })
}

/** Something that a user did. */
export interface UserAction {
  readonly userId: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Of each deed whether the data of its user were deleted since then. */
export async function areUsersErased(
  reader: DirectoryReader,
  deeds: readonly UserAction[],
): Promise<readonly boolean[]> {
  const records = await reader.getAll<ErasedRecord>(
    deeds.map(({ userId }) => keys.erased(userDigest(userId))),
  )
  return deeds.map(({ at }, index) => {
    const record = records[index] ?? null
    return record !== null && at <= record.until
  })
}

/** The same of one; `at` in epoch milliseconds. */
export async function isUserErased(reader: DirectoryReader, userId: string, at: number): Promise<boolean> {
  return (await areUsersErased(reader, [{ userId, at }])).includes(true)
}
