import { createHash } from 'node:crypto'
import { keys } from './organization-keys.ts'
import type { Reader } from './reader.ts'
import type { Transaction } from './transaction.ts'

/** Marks that the data of a user were deleted from an organization. */
interface ErasedRecord {
  /** Epoch milliseconds: what the user did until then is recorded without the user. */
  readonly until: number
}

/** Names something without saying it. */
export const digestOf = (...parts: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** What the user has done until then (epoch milliseconds), and is recorded later, is the deleted user's. */
export async function markErased(transaction: Transaction, userId: string, until: number): Promise<void> {
  const key = keys.erased(digestOf(userId))
  const earlier = await transaction.get<ErasedRecord>(key)
  transaction.put(key, { until: Math.max(until, earlier?.until ?? 0) })
}

/** Whether the data of a user were deleted since something that was done at `at` (epoch milliseconds). */
export async function isErasedSince(reader: Reader, userId: string, at: number): Promise<boolean> {
  const record = await reader.get<ErasedRecord>(keys.erased(digestOf(userId)))
  return record !== null && at <= record.until
}
