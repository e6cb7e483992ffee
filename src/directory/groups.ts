import type { Clock } from '../clock.ts'
import { ApiError } from '../errors.ts'
import { type FoundGroup, type Granted, listGranted, listGroups, viewGroups } from './group-views.ts'
import { eachItem, ItemRefused, noResults, type Results } from './items.ts'
import { removeSubjects } from './leaving.ts'
import { putMembership, removeMembership } from './memberships.ts'
import { keys, type OrganizationScope, type Resource } from './organization-keys.ts'
import { type OrganizationStore, organizationOf } from './organization-store.ts'
import { listEntries, type Page, type PageRange } from './page.ts'
import { checkResource } from './places.ts'
import type { Reader } from './reader.ts'
import type { GroupRecord } from './records.ts'
import type { Transaction } from './transaction.ts'
import { ensureUsers } from './user-records.ts'

/** Groups that one user is in, in one organization: each is looked at when the user's access is. */
export const groupsOfUserMax = 200
/** Members of a group that are removed in one commit. */
const sliceMax = 500
/** Members of a group that one call removes: each has a line in its answer. */
export const removedMembersMax = 10_000

export interface GroupInput {
  readonly groupId: string
  readonly groupName?: string
}

/** What became of the members of a group. */
export interface RemovedMembers {
  readonly results: Results
  /** False: there are more than one call removes. */
  readonly complete: boolean
}

/** Groups of users, each within one organization. All of this throws ApiError NOT_FOUND where there is none such. */
export class Groups {
  readonly #store: OrganizationStore
  readonly #clock: Clock

  constructor(store: OrganizationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Makes groups; those that are there get the name that is given. */
  add(scope: OrganizationScope, inputs: readonly GroupInput[]): Promise<Results> {
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      await transaction.getAll(inputs.map(({ groupId }) => keys.group(groupId)))
      return eachItem(
        inputs,
        ({ groupId }) => groupId,
        (input) => putGroup(transaction, input, this.#clock.now()),
      )
    })
  }

  /** Those of the named groups that are groups of the resource: see `viewGroups`. */
  async find(
    scope: OrganizationScope,
    resource: Resource,
    groupIds: readonly string[],
  ): Promise<readonly FoundGroup[]> {
    const reader = this.#store.read(scope)
    await checkResource(reader, resource)
    return viewGroups(reader, resource, [...new Set(groupIds)], this.#clock.now())
  }

  /** Groups of the resource in the order of their ids: see `listGroups`. */
  async list(scope: OrganizationScope, resource: Resource, range: PageRange): Promise<Page<FoundGroup>> {
    const reader = this.#store.read(scope)
    await checkResource(reader, resource)
    return listGroups(reader, resource, range, this.#clock.now())
  }

  /** What is granted to a group, on anything in the organization. */
  async granted(
    scope: OrganizationScope,
    groupId: string,
    range: PageRange,
  ): Promise<Page<Granted> & { readonly group: GroupRecord }> {
    const reader = this.#store.read(scope)
    const group = await groupOf(reader, groupId)
    return { group, ...(await listGranted(reader, groupId, range, this.#clock.now())) }
  }

  /** A group's users, in the order of their ids. */
  async members(
    scope: OrganizationScope,
    groupId: string,
    range: PageRange,
  ): Promise<Page<string> & { readonly group: GroupRecord }> {
    const reader = this.#store.read(scope)
    const group = await groupOf(reader, groupId)
    const { items, next } = await listEntries(reader, keys.membersOf(groupId), range)
    return { group, items: items.map(({ key }) => key.at(-1) as string), next }
  }

  /** Removes groups with all that was granted to them. */
  remove(scope: OrganizationScope, groupIds: readonly string[]): Promise<Results> {
    const groups = [...new Set(groupIds)].map((id) => ({ type: 'group', id }) as const)
    return removeSubjects(this.#store, scope, groups)
  }

  /** Adds users to a group, which is made if it is missing. Users of whom nothing is known get a record. */
  addUsers(scope: OrganizationScope, groupId: string, userIds: readonly string[]): Promise<Results> {
    const ids = [...new Set(userIds)]
    return this.#store.change(scope, async (transaction) => {
      await organizationOf(transaction)
      if ((await transaction.get(keys.group(groupId))) === null)
        await putGroup(transaction, { groupId }, this.#clock.now())
      await transaction.getAll([
        ...ids.map((userId) => keys.member(groupId, userId)),
        ...ids.map((userId) => keys.user(userId)),
      ])
      return eachItem(
        ids,
        (userId) => userId,
        async (userId) => {
          if ((await transaction.get(keys.member(groupId, userId))) !== null)
            return 'was in the group already'
          await checkGroupsOf(transaction, userId)
          await ensureUsers(transaction, [userId], this.#clock.now())
          putMembership(transaction, { groupId, userId })
          return 'added'
        },
      )
    })
  }

  removeUsers(scope: OrganizationScope, groupId: string, userIds: readonly string[]): Promise<Results> {
    const ids = [...new Set(userIds)]
    return this.#store.change(scope, async (transaction) => {
      await groupOf(transaction, groupId)
      await transaction.getAll(ids.map((userId) => keys.member(groupId, userId)))
      return eachItem(
        ids,
        (userId) => userId,
        async (userId) => {
          if ((await transaction.get(keys.member(groupId, userId))) === null)
            throw new ItemRefused('is not in the group')
          removeMembership(transaction, { groupId, userId })
          return 'removed'
        },
      )
    })
  }

  /** Removes everybody, in bounded commits; at most `removedMembersMax` in one call. */
  async removeAllUsers(scope: OrganizationScope, groupId: string): Promise<RemovedMembers> {
    const results = noResults()
    for (let removed = 0; removed < removedMembersMax; removed += sliceMax) {
      const { items, next } = await this.members(scope, groupId, { after: undefined, limit: sliceMax })
      Object.assign(results, await this.removeUsers(scope, groupId, items))
      if (next === null) return { results, complete: true }
    }
    return { results, complete: false }
  }
}

/** @throws ApiError NOT_FOUND */
async function groupOf(reader: Reader, groupId: string): Promise<GroupRecord> {
  await organizationOf(reader)
  const group = await reader.get<GroupRecord>(keys.group(groupId))
  if (group === null) throw new ApiError('NOT_FOUND', 'the group does not exist')
  return group
}

async function putGroup(transaction: Transaction, input: GroupInput, now: number): Promise<string> {
  const { groupId } = input
  const old = await transaction.get<GroupRecord>(keys.group(groupId))
  const groupName = input.groupName ?? old?.groupName ?? groupId
  if (old?.groupName !== groupName)
    transaction.put(keys.group(groupId), {
      groupId,
      groupName,
      createdAt: old?.createdAt ?? now,
      lastUpdated: now,
    })
  return old === null ? 'added' : 'was there already, and has its name'
}

async function checkGroupsOf(transaction: Transaction, userId: string): Promise<void> {
  const groups = await transaction.scan({ prefix: keys.groupsOf(userId), limit: groupsOfUserMax })
  if (groups.length >= groupsOfUserMax)
    throw new ItemRefused(`is in ${groupsOfUserMax} groups already, which is the most`)
}
