import type { Key } from '../../engine/engine.ts'
import { notificationIndexRanges, removeSomeNotifications } from '../notifications/notification-removal.ts'
import { removeMembership } from '../organizations/memberships.ts'
import { keys, type OrganizationScope, type Subject } from '../organizations/organization-keys.ts'
import { type OrganizationStore, organizationOf } from '../organizations/organization-store.ts'
import { indexedResource, removeGrant } from '../permissions/grants.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'

/** Grants, memberships and notifications of one user or group that one commit removes. */
const sliceMax = 100

const recordKey = ({ type, id }: Subject): Key => (type === 'user' ? keys.user(id) : keys.group(id))

/**
 * Removes users or groups from an organization with all of their data there: grants, memberships,
 * notifications and the record. A subject with little data, which is nearly every one, is removed in one
 * commit. Others lose their data slice by slice first, and then the record, so that an interrupted call can
 * be repeated.
 * @throws ApiError NOT_FOUND if the organization does not exist
 */
export async function removeSubjects(
  store: OrganizationStore,
  scope: OrganizationScope,
  subjects: readonly Subject[],
): Promise<BatchResults> {
  const reader = store.read(scope)
  await organizationOf(reader)
  for (const subject of subjects) if (await hasMuch(reader, subject)) await cutAll(store, scope, [subject])
  const results = await store.change(scope, (transaction) => removeRecords(transaction, subjects))
  // Removes grants that were added between the last read and the removal of the record. No grant can be added
  // after that.
  await cutAll(
    store,
    scope,
    subjects.filter(({ id }) => results[id]?.success === true),
    'unless made anew',
  )
  return results
}

async function hasMuch(reader: DirectoryReader, subject: Subject): Promise<boolean> {
  const others = subject.type === 'user' ? notificationIndexRanges(subject.id) : []
  const ranges = [...tieRanges(subject), ...others].map((prefix) =>
    reader.scan({ prefix, limit: sliceMax + 1 }),
  )
  return (await Promise.all(ranges)).some((entries) => entries.length > sliceMax)
}

/** Index ranges of grants and memberships. */
const tieRanges = (subject: Subject): readonly [Key, Key] => [
  keys.grantsOf(subject),
  subject.type === 'user' ? keys.groupsOf(subject.id) : keys.membersOf(subject.id),
]

async function removeRecords(transaction: Transaction, subjects: readonly Subject[]): Promise<BatchResults> {
  await organizationOf(transaction)
  await transaction.getAll(subjects.map(recordKey))
  return forEachItem(
    subjects,
    ({ id }) => id,
    async (subject) => {
      const key = recordKey(subject)
      if ((await transaction.get(key)) === null)
        throw new ItemRejectedError(`${subject.type}/not-found`, `there is no such ${subject.type}`)
      await cutSlice(transaction, subject)
      transaction.delete(key)
      return 'deleted'
    },
  )
}

async function cutAll(
  store: OrganizationStore,
  scope: OrganizationScope,
  subjects: readonly Subject[],
  condition: 'always' | 'unless made anew' = 'always',
): Promise<void> {
  for (let cut = true; cut; )
    cut = await store.carryOut(scope, async (transaction) => {
      let found = false
      for (const subject of subjects) {
        if (condition === 'always' || (await transaction.get(recordKey(subject))) === null)
          found = (await cutSlice(transaction, subject)) || found
      }
      return found
    })
}

/** Returns false if nothing was left. */
async function cutSlice(transaction: Transaction, subject: Subject): Promise<boolean> {
  const granted = await removeSomeGrants(transaction, subject, sliceMax)
  const members = await removeSomeMemberships(transaction, subject, sliceMax)
  const notified =
    subject.type === 'user' ? await removeSomeNotifications(transaction, subject.id, sliceMax) : 0
  return granted + members + notified > 0
}

/** Removes up to `limit` grants of a user or a group; returns how many. */
export async function removeSomeGrants(
  transaction: Transaction,
  subject: Subject,
  limit: number,
): Promise<number> {
  const granted = await transaction.scan({ prefix: keys.grantsOf(subject), limit })
  for (const entry of granted) {
    await removeGrant(transaction, indexedResource(entry), subject)
    transaction.delete(entry.key)
  }
  return granted.length
}

/** Removes up to `limit` memberships of a user or of a group; returns how many. */
export async function removeSomeMemberships(
  transaction: Transaction,
  subject: Subject,
  limit: number,
): Promise<number> {
  const [, prefix] = tieRanges(subject)
  const members = await transaction.scan({ prefix, limit })
  for (const { key } of members) {
    const other = key.at(-1) as string
    const [groupId, userId] = subject.type === 'user' ? [other, subject.id] : [subject.id, other]
    removeMembership(transaction, { groupId, userId })
  }
  return members.length
}
