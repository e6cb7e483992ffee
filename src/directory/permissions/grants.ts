import type { KvEntry } from '../../engine/engine.ts'
import { keys, type Resource, type ResourceType, type Subject } from '../organizations/organization-keys.ts'
import { decodeRecord, type GrantRecord } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** The last moment that a grant can end at, in epoch seconds: the year 9999. Milliseconds taken for seconds are later. */
export const expiresAtMax = 253_402_300_799
/** Expired grants that go when one is added to their user or group: more than one, so that they do not pile up. */
const expiredRemovedMax = 20

/** Epoch milliseconds at which a grant ends; Infinity when it does not. */
export const grantExpiry = ({ expiresAt }: GrantRecord): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt * 1000

const hasEnded = (expiresAt: number | null, now: number): boolean =>
  expiresAt !== null && expiresAt * 1000 <= now

/** The grant if there is one and it has not ended at `now` (epoch milliseconds). */
export const activeGrant = (grant: GrantRecord | null, now: number): GrantRecord | null =>
  grant === null || hasEnded(grant.expiresAt, now) ? null : grant

/** Grants, over the grant on that resource, if any. */
export async function putGrant(
  transaction: Transaction,
  resource: Resource,
  subject: Subject,
  grant: GrantRecord,
): Promise<void> {
  const old = await transaction.get<GrantRecord>(keys.grant(resource, subject))
  transaction.put(keys.grant(resource, subject), grant)
  if (old !== null && old.expiresAt === grant.expiresAt) return
  if (old !== null) transaction.delete(keys.grantOf(subject, resource, old.expiresAt))
  transaction.put(keys.grantOf(subject, resource, grant.expiresAt), { expiresAt: grant.expiresAt })
}

/** Does nothing when there is no such grant. */
export async function removeGrant(
  transaction: Transaction,
  resource: Resource,
  subject: Subject,
): Promise<void> {
  const key = keys.grant(resource, subject)
  const grant = await transaction.get<GrantRecord>(key)
  if (grant === null) return
  transaction.delete(key)
  transaction.delete(keys.grantOf(subject, resource, grant.expiresAt))
}

/** Removes some of the grants of a user or a group that have ended. */
export async function removeExpired(transaction: Transaction, subject: Subject, now: number): Promise<void> {
  const index = await transaction.scan({ prefix: keys.grantsOf(subject), limit: expiredRemovedMax })
  for (const entry of index) {
    if (!hasEnded(indexedExpiry(entry), now)) return
    const resource = indexedResource(entry)
    // It may have been granted anew since the index was read.
    const grant = await transaction.get<GrantRecord>(keys.grant(resource, subject))
    if (grant !== null && hasEnded(grant.expiresAt, now)) await removeGrant(transaction, resource, subject)
  }
}

/** The resource that an entry of `keys.grantsOf` is about. */
export const indexedResource = ({ key }: KvEntry): Resource => ({
  type: key.at(-2) as ResourceType,
  id: key.at(-1) as string,
})

/** When the grant ends that an entry of `keys.grantsOf` is about: epoch seconds, or null. */
export const indexedExpiry = ({ value }: KvEntry): number | null =>
  (decodeRecord(value) as Pick<GrantRecord, 'expiresAt'>).expiresAt
