import type { Key } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import type { CascadeHandler, SubjectDataHandler } from '../organizations/cascade-handler.ts'
import { keys, type OrganizationScope, type Subject } from '../organizations/organization-keys.ts'
import { type OrganizationStore, organizationOf } from '../organizations/organization-store.ts'
import { removeMembership } from '../organizations/user-records.ts'
import { indexedResource, removeGrant } from '../permissions/grants.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'

/** Maximum number of records of each kind that one commit removes, for one user or group. */
const sliceMax = 100

const recordKey = ({ type, id }: Subject): Key => (type === 'user' ? keys.user(id) : keys.group(id))

/** Returns the index ranges that contain the grants and memberships of a subject. */
const tieRanges = (subject: Subject): readonly [Key, Key] => [
  keys.grantsOf(subject),
  subject.type === 'user' ? keys.groupsOf(subject.id) : keys.membersOf(subject.id),
]

/** Removes users and groups from an organization. */
export class SubjectRemoval {
  readonly #store: OrganizationStore
  readonly #cascade: readonly CascadeHandler[]

  /** @param cascade may get further handlers before the first removal */
  constructor(store: OrganizationStore, cascade: readonly CascadeHandler[]) {
    this.#store = store
    this.#cascade = cascade
  }

  get #others(): readonly SubjectDataHandler[] {
    return this.#cascade.flatMap(({ subjects }) => subjects ?? [])
  }

  /**
   * Removes users or groups from an organization, with all their data in it: grants, memberships, data of
   * other modules, and the record. Nearly every subject has little data, and is removed in one commit. If a
   * subject has much data, its data is removed slice by slice, and its record last, so that an interrupted
   * call can be repeated.
   * @throws ApiError NOT_FOUND if the organization does not exist
   */
  async remove(scope: OrganizationScope, subjects: readonly Subject[]): Promise<BatchResults> {
    const reader = this.#store.read(scope)
    await organizationOf(reader)
    for (const subject of subjects)
      if (await this.#hasMuch(reader, subject)) await this.#cutAll(scope, [subject])
    const results = await this.#store.change(scope, (transaction) =>
      this.#removeRecords(transaction, subjects),
    )
    // Removes grants that were added after the last slice and before the removal of the record. Without the
    // record, no further grant can be added.
    await this.#cutAll(
      scope,
      subjects.filter(({ id }) => results[id]?.success === true),
      'unless made anew',
    )
    return results
  }

  async #hasMuch(reader: DirectoryReader, subject: Subject): Promise<boolean> {
    const others = this.#others.flatMap((handler) => handler.ranges(subject))
    const ranges = [...tieRanges(subject), ...others].map((prefix) =>
      reader.scan({ prefix, limit: sliceMax + 1 }),
    )
    return (await Promise.all(ranges)).some((entries) => entries.length > sliceMax)
  }

  async #removeRecords(transaction: Transaction, subjects: readonly Subject[]): Promise<BatchResults> {
    await organizationOf(transaction)
    await transaction.getAll(subjects.map(recordKey))
    return forEachItem(subjects, 'id', async (subject) => {
      const key = recordKey(subject)
      if ((await transaction.get(key)) === null)
        throw new ItemRejectedError(`${subject.type}/not-found`, `there is no such ${subject.type}`)
      await this.#cutSlice(transaction, subject)
      transaction.delete(key)
      return 'deleted'
    })
  }

  async #cutAll(
    scope: OrganizationScope,
    subjects: readonly Subject[],
    condition: 'always' | 'unless made anew' = 'always',
  ): Promise<void> {
    for (let cut = true; cut; )
      cut = await this.#store.carryOut(scope, async (transaction) => {
        let found = false
        for (const subject of subjects) {
          if (condition === 'always' || (await transaction.get(recordKey(subject))) === null)
            found = (await this.#cutSlice(transaction, subject)) || found
        }
        return found
      })
  }

  /** Removes a slice of the data of a subject. Returns false if no data was left. */
  async #cutSlice(transaction: Transaction, subject: Subject): Promise<boolean> {
    let removed = await removeSomeGrants(transaction, subject, sliceMax)
    removed += await removeSomeMemberships(transaction, subject, sliceMax)
    for (const handler of this.#others) removed += await handler.removeSome(transaction, subject, sliceMax)
    return removed > 0
  }
}

/** Removes up to `limit` grants of a user or a group. Returns the number of removed grants. */
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

/** Removes up to `limit` memberships of a user or of a group. Returns the number of removed memberships. */
export async function removeSomeMemberships(
  transaction: Transaction,
  subject: Subject,
  limit: number,
): Promise<number> {
  const [, prefix] = tieRanges(subject)
  const members = await transaction.scan({ prefix, limit })
  for (const { key } of members) {
    const other = lastSegment(key)
    const [groupId, userId] = subject.type === 'user' ? [other, subject.id] : [subject.id, other]
    removeMembership(transaction, { groupId, userId })
  }
  return members.length
}
