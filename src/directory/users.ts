import type { Clock } from '../clock.ts'
import { putGrant, removeExpired, removeGrant, unexpired } from './grants.ts'
import { eachItem, ItemRefused, type Results } from './items.ts'
import { removeSubjects } from './leaving.ts'
import { keys, type OrganizationScope, type Resource } from './organization-keys.ts'
import type { OrganizationStore } from './organization-store.ts'
import { listEntries, type Page, type PageRange } from './page.ts'
import { checkResource } from './places.ts'
import type { Reader } from './reader.ts'
import { decodeRecord, type GrantRecord, type UserRecord } from './records.ts'
import { type Search, type Stored, sift } from './search.ts'
import type { Transaction } from './transaction.ts'
import { describedUser, type UserInput, userSubject } from './user-records.ts'

/** A user as seen from a resource. */
export interface FoundUser {
  readonly user: UserRecord
  /** What is granted on the resource itself; null of users of the organization who have rights only within it. */
  readonly grant: GrantRecord | null
}

export interface UserListing extends PageRange {
  /** Only those in whose id, name or email it is. */
  readonly search?: Search | undefined
}

/**
 * Users of organizations. Whoever has a grant in an organization, or is in one of its groups, has a record there.
 * A resource is the organization itself, or a folder or document of it.
 */
export class Users {
  readonly #store: OrganizationStore
  readonly #clock: Clock

  constructor(store: OrganizationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /**
   * Makes users, or changes those that are there, and gives them a role on the resource. Without `accessRole` that is
   * editor; those who have a role there keep it.
   * @throws ApiError NOT_FOUND when the resource does not exist
   */
  add(scope: OrganizationScope, resource: Resource, inputs: readonly UserInput[]): Promise<Results> {
    return this.#change(scope, resource, inputs, async (transaction, input, { record, grant }) => {
      const now = this.#clock.now()
      const subject = userSubject(input.userId)
      transaction.put(keys.user(input.userId), describedUser(record, input, now))
      await removeExpired(transaction, subject, now)
      if (input.accessRole !== undefined || grant === null)
        await putGrant(transaction, resource, subject, {
          accessRole: input.accessRole ?? 'editor',
          expiresAt: null,
        })
      return record === null ? 'added' : 'was there already, and is changed'
    })
  }

  /**
   * Changes users of the resource. A role changes without its end.
   * @throws ApiError NOT_FOUND when the resource does not exist
   */
  update(scope: OrganizationScope, resource: Resource, inputs: readonly UserInput[]): Promise<Results> {
    return this.#change(scope, resource, inputs, async (transaction, input, { record, grant }) => {
      const { userId, accessRole } = input
      if (record === null || (grant === null && resource.type !== 'organization'))
        throw new ItemRefused(`there is no such user of the ${resource.type}`)
      if (accessRole !== undefined && grant === null)
        throw new ItemRefused('has no role on the organization itself: add the user to it first')
      transaction.put(keys.user(userId), describedUser(record, input, this.#clock.now()))
      if (accessRole !== undefined && grant !== null)
        await putGrant(transaction, resource, userSubject(userId), { ...grant, accessRole })
      return 'updated'
    })
  }

  /**
   * Takes from users their role on a folder or document; or removes them from the organization, with all that they
   * may do in it and their places in its groups.
   * @throws ApiError NOT_FOUND when the resource does not exist
   */
  remove(scope: OrganizationScope, resource: Resource, userIds: readonly string[]): Promise<Results> {
    const ids = [...new Set(userIds)]
    if (resource.type === 'organization') return removeSubjects(this.#store, scope, ids.map(userSubject))
    const inputs = ids.map((userId) => ({ userId }))
    return this.#change(scope, resource, inputs, async (transaction, { userId }, { grant }) => {
      if (grant === null) throw new ItemRefused(`there is no such user of the ${resource.type}`)
      await removeGrant(transaction, resource, userSubject(userId))
      return 'removed'
    })
  }

  /** Those of the named users who are users of the resource. @throws ApiError NOT_FOUND when it does not exist */
  async find(
    scope: OrganizationScope,
    resource: Resource,
    userIds: readonly string[],
  ): Promise<readonly FoundUser[]> {
    const reader = this.#store.read(scope)
    await checkResource(reader, resource)
    return this.#found(reader, resource, [...new Set(userIds)])
  }

  /** Users of the resource in the order of their ids. @throws ApiError NOT_FOUND when it does not exist */
  async list(
    scope: OrganizationScope,
    resource: Resource,
    { search, ...range }: UserListing,
  ): Promise<Page<FoundUser>> {
    const reader = this.#store.read(scope)
    await checkResource(reader, resource)
    const list = (part: PageRange) => listUsers(reader, resource, part)
    const { items, next } =
      search === undefined
        ? await list(range)
        : await sift(list, range, search, ({ userId, name, email }) => search.isIn(userId, name, email))
    const userIds = items.map(({ id }) => id)
    return { items: await this.#found(reader, resource, userIds), next }
  }

  async #found(
    reader: Reader,
    resource: Resource,
    userIds: readonly string[],
  ): Promise<readonly FoundUser[]> {
    const known = await readUsers(reader, resource, userIds, this.#clock.now())
    return known.flatMap(({ record, grant }) =>
      record === null || (grant === null && resource.type !== 'organization')
        ? []
        : [{ user: record, grant }],
    )
  }

  #change<Input extends UserInput>(
    scope: OrganizationScope,
    resource: Resource,
    inputs: readonly Input[],
    work: (transaction: Transaction, input: Input, known: KnownUser) => Promise<string>,
  ): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await checkResource(transaction, resource)
      const userIds = inputs.map(({ userId }) => userId)
      const known = await readUsers(transaction, resource, userIds, this.#clock.now())
      const byId = new Map(known.map((each) => [each.userId, each]))
      return eachItem(
        inputs,
        ({ userId }) => userId,
        (input) => work(transaction, input, byId.get(input.userId) as KnownUser),
      )
    })
  }
}

async function listUsers(
  reader: Reader,
  resource: Resource,
  range: PageRange,
): Promise<Page<Stored<UserRecord>>> {
  const isOfAll = resource.type === 'organization'
  const { items, next } = await listEntries(reader, isOfAll ? keys.users : keys.userGrantsOn(resource), range)
  const ids = items.map(({ key }) => key.at(-1) as string)
  const records = isOfAll
    ? items.map(({ value }) => decodeRecord(value) as UserRecord)
    : await reader.getAll<UserRecord>(ids.map(keys.user))
  return { items: ids.map((id, index) => ({ id, record: records[index] ?? null })), next }
}

interface KnownUser {
  readonly userId: string
  readonly record: UserRecord | null
  /** On the resource, unless it has ended. */
  readonly grant: GrantRecord | null
}

/** In two reads. */
async function readUsers(
  reader: Reader,
  resource: Resource,
  userIds: readonly string[],
  now: number,
): Promise<readonly KnownUser[]> {
  const records = await reader.getAll<UserRecord>(userIds.map(keys.user))
  const grants = await reader.getAll<GrantRecord>(
    userIds.map((userId) => keys.grant(resource, userSubject(userId))),
  )
  return userIds.map((userId, index) => ({
    userId,
    record: records[index] ?? null,
    grant: unexpired(grants[index] ?? null, now),
  }))
}
