import type { KvEntry } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { readRecord } from '../../store/stored-record.ts'
import { keys, type Resource, type ResourceType, type Subject } from '../organizations/organization-keys.ts'
import { type GrantRecord, grantExpiryType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/**
 * The latest possible expiry of a grant, in epoch seconds (year 9999). A time that was given in milliseconds
 * by mistake exceeds this limit.
 */
export const expiresAtMax = 253_402_300_799
/**
 * Maximum number of expired grants of a user or group that are removed when a new grant is added. The number
 * is greater than 1, so that expired grants do not accumulate.
 */
const expiredRemovedMax = 20

/** Returns the expiry of a grant in epoch milliseconds; Infinity if the grant does not expire. */
export const grantExpiry = ({ expiresAt }: GrantRecord): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt * 1000

const hasEnded = (expiresAt: number | null, now: number): boolean =>
  expiresAt !== null && expiresAt * 1000 <= now

/** Returns the grant if it has not expired at `now` (epoch milliseconds); otherwise null. */
export const activeGrant = (grant: GrantRecord | null, now: number): GrantRecord | null =>
  grant === null || hasEnded(grant.expiresAt, now) ? null : grant

/** Writes a grant. Replaces an earlier grant to the same subject on the same resource. */
export async function putGrant(
  transaction: Transaction,
  resource: Resource,
  subject: Subject,
  grant: GrantRecord,
): Promise<void> {
  const old = await transaction.get(keys.grant(resource, subject), grantExpiryType)
  transaction.put(keys.grant(resource, subject), grant)
  if (old !== null && old.expiresAt === grant.expiresAt) return
  if (old !== null) transaction.delete(keys.grantOf(subject, resource, old.expiresAt))
  transaction.put(keys.grantOf(subject, resource, grant.expiresAt), { expiresAt: grant.expiresAt })
}

/** Removes a grant. Does nothing if the grant does not exist. */
export async function removeGrant(
  transaction: Transaction,
  resource: Resource,
  subject: Subject,
): Promise<void> {
  const key = keys.grant(resource, subject)
  const grant = await transaction.get(key, grantExpiryType)
  if (grant === null) return
  transaction.delete(key)
  transaction.delete(keys.grantOf(subject, resource, grant.expiresAt))
}

/** Removes up to `expiredRemovedMax` expired grants of a user or a group. */
export async function removeExpired(transaction: Transaction, subject: Subject, now: number): Promise<void> {
  const index = await transaction.scan({ prefix: keys.grantsOf(subject), limit: expiredRemovedMax })
  for (const entry of index) {
    if (!hasEnded(indexedExpiry(entry), now)) return
    const resource = indexedResource(entry)
    // The role may have been granted again since the index was read, so the grant itself is checked.
    const grant = await transaction.get(keys.grant(resource, subject), grantExpiryType)
    if (grant !== null && hasEnded(grant.expiresAt, now)) await removeGrant(transaction, resource, subject)
  }
}

/** Returns the resource to which the grant of an index entry (`keys.grantsOf`) applies. */
export const indexedResource = ({ key }: KvEntry): Resource => ({
  type: key.at(-2) as ResourceType,
  id: lastSegment(key),
})

/**
 * Returns the expiry that an index entry (`keys.grantsOf`) contains, in epoch seconds; null if the grant does
 * not expire.
 */
export const indexedExpiry = (entry: KvEntry): number | null => readRecord(grantExpiryType, entry).expiresAt
