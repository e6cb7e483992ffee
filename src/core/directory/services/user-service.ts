import type { Clock } from '../../base/clock.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { readRecord } from '../../store/stored-record.ts'
import { requireResource } from '../documents/resource-lookup.ts'
import { keys, type OrganizationScope, type Resource } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { describedUser, type UserInput, userSubject } from '../organizations/user-records.ts'
import { activeGrant, putGrant, removeExpired, removeGrant } from '../permissions/grants.ts'
import type { SubjectRemoval } from '../removal/subject-removal.ts'
import { type BatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import {
  filterItems,
  type ListPage,
  listEntries,
  listSlices,
  type PageRange,
  type Search,
  type StoredItem,
} from '../store/list-page.ts'
import { type GrantRecord, grantRecordType, type UserRecord, userRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/** A user, and the user's role on the requested resource. */
export interface FoundUser {
  readonly user: UserRecord
  /**
   * The grant to the user on the requested resource itself. Null if the resource is the organization and the
   * user has rights only on its folders or documents.
   */
  readonly grant: GrantRecord | null
}

interface UserListing extends PageRange {
  /** If set, lists only users whose id, name or email address matches. */
  readonly search?: Search | undefined
}

/**
 * The users of organizations. Every user who has a grant in an organization, or belongs to one of its groups,
 * has a record in the organization. In these methods, a resource is the organization itself, or one of its
 * folders or documents.
 */
export class UserService {
  readonly #store: OrganizationStore
  readonly #clock: Clock
  readonly #removal: SubjectRemoval

  constructor(store: OrganizationStore, clock: Clock, removal: SubjectRemoval) {
    this.#store = store
    this.#clock = clock
    this.#removal = removal
  }

  /**
   * Creates users or changes existing users, and gives them a role on the resource. If `accessRole` is
   * absent, a user who already has a role on the resource keeps it; any other user becomes an editor.
   * @throws ApiError NOT_FOUND if the resource does not exist
   */
  add(scope: OrganizationScope, resource: Resource, inputs: readonly UserInput[]): Promise<BatchResults> {
    return this.#change(scope, resource, inputs, this.#addition(resource))
  }

  /** Returns the results that `add` would return now if the resource exists. Writes nothing. */
  rehearseAdding(
    scope: OrganizationScope,
    resource: Resource,
    inputs: readonly UserInput[],
  ): Promise<BatchResults> {
    return this.#store.rehearse(scope, (transaction) =>
      this.#write(transaction, resource, inputs, this.#addition(resource)),
    )
  }

  #addition(resource: Resource): WriteUser<UserInput> {
    return async (transaction, input, { record, grant }) => {
      const now = this.#clock.now()
      const subject = userSubject(input.userId)
      transaction.put(keys.user(input.userId), describedUser(record, input, now))
      await removeExpired(transaction, subject, now)
      if (input.accessRole !== undefined || grant === null)
        await putGrant(transaction, resource, subject, {
          accessRole: input.accessRole ?? 'editor',
          expiresAt: null,
        })
      return record === null ? 'added' : 'existed already, and was updated'
    }
  }

  /**
   * Changes users of the resource. A changed role keeps its expiry.
   * @throws ApiError NOT_FOUND if the resource does not exist
   */
  update(scope: OrganizationScope, resource: Resource, inputs: readonly UserInput[]): Promise<BatchResults> {
    return this.#change(scope, resource, inputs, async (transaction, input, { record, grant }) => {
      const { userId, accessRole } = input
      if (record === null || (grant === null && resource.type !== 'organization'))
        throw new ItemRejectedError('user/not-found', `there is no such user of the ${resource.type}`)
      if (accessRole !== undefined && grant === null)
        throw new ItemRejectedError(
          'user/no-role',
          'has no role on the organization itself: add the user to it first',
        )
      transaction.put(keys.user(userId), describedUser(record, input, this.#clock.now()))
      if (accessRole !== undefined && grant !== null)
        await putGrant(transaction, resource, userSubject(userId), { ...grant, accessRole })
      return 'updated'
    })
  }

  /**
   * Removes the roles of users on a folder or document. If the resource is the organization, removes the
   * users with all their rights and group memberships in it.
   * @throws ApiError NOT_FOUND if the resource does not exist
   */
  remove(scope: OrganizationScope, resource: Resource, userIds: readonly string[]): Promise<BatchResults> {
    const ids = [...new Set(userIds)]
    if (resource.type === 'organization') return this.#removal.remove(scope, ids.map(userSubject))
    const inputs = ids.map((userId) => ({ userId }))
    return this.#change(scope, resource, inputs, async (transaction, { userId }, { grant }) => {
      if (grant === null)
        throw new ItemRejectedError('user/not-found', `there is no such user of the ${resource.type}`)
      await removeGrant(transaction, resource, userSubject(userId))
      return 'removed'
    })
  }

  /**
   * Returns the users with the given ids who are users of the resource.
   * @throws ApiError NOT_FOUND if the resource does not exist
   */
  async find(
    scope: OrganizationScope,
    resource: Resource,
    userIds: readonly string[],
  ): Promise<readonly FoundUser[]> {
    const reader = this.#store.read(scope)
    await requireResource(reader, resource)
    return this.#found(reader, resource, [...new Set(userIds)])
  }

  /**
   * Returns a page of the users of the resource, in the order of their ids.
   * @throws ApiError NOT_FOUND if the resource does not exist
   */
  async list(
    scope: OrganizationScope,
    resource: Resource,
    { search, ...range }: UserListing,
  ): Promise<ListPage<FoundUser>> {
    const reader = this.#store.read(scope)
    await requireResource(reader, resource)
    const list = (part: PageRange) => listUsers(reader, resource, part)
    const { items, next } =
      search === undefined
        ? await listSlices(list, range)
        : await filterItems(list, range, search, ({ userId, name, email }) =>
            search.isIn(userId, name, email),
          )
    const userIds = items.map(({ id }) => id)
    return { items: await this.#found(reader, resource, userIds), next }
  }

  async #found(
    reader: DirectoryReader,
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
    work: WriteUser<Input>,
  ): Promise<BatchResults> {
    return this.#store.change(scope, async (transaction) => {
      await requireResource(transaction, resource)
      return this.#write(transaction, resource, inputs, work)
    })
  }

  async #write<Input extends UserInput>(
    transaction: Transaction,
    resource: Resource,
    inputs: readonly Input[],
    work: WriteUser<Input>,
  ): Promise<BatchResults> {
    const userIds = inputs.map(({ userId }) => userId)
    const known = await readUsers(transaction, resource, userIds, this.#clock.now())
    const byId = new Map(known.map((each) => [each.userId, each]))
    return forEachItem(inputs, 'userId', (input) =>
      work(transaction, input, byId.get(input.userId) as KnownUser),
    )
  }
}

type WriteUser<Input> = (transaction: Transaction, input: Input, known: KnownUser) => Promise<string>

async function listUsers(
  reader: DirectoryReader,
  resource: Resource,
  range: PageRange,
): Promise<ListPage<StoredItem<UserRecord>>> {
  const isOfAll = resource.type === 'organization'
  const { items, next } = await listEntries(reader, isOfAll ? keys.users : keys.userGrantsOn(resource), range)
  const ids = items.map(({ key }) => lastSegment(key))
  const records = isOfAll
    ? items.map((entry) => readRecord(userRecordType, entry))
    : await reader.getAll(ids.map(keys.user), userRecordType)
  return { items: ids.map((id, index) => ({ id, record: records[index] ?? null })), next }
}

interface KnownUser {
  readonly userId: string
  readonly record: UserRecord | null
  /** The grant to the user, if it has not expired; null if there is none. */
  readonly grant: GrantRecord | null
}

/** Reads users, with the grants to them on a resource. This takes two reads. */
async function readUsers(
  reader: DirectoryReader,
  resource: Resource,
  userIds: readonly string[],
  now: number,
): Promise<readonly KnownUser[]> {
  const records = await reader.getAll(userIds.map(keys.user), userRecordType)
  const grants = await reader.getAll(
    userIds.map((userId) => keys.grant(resource, userSubject(userId))),
    grantRecordType,
  )
  return userIds.map((userId, index) => ({
    userId,
    record: records[index] ?? null,
    grant: activeGrant(grants[index] ?? null, now),
  }))
}
