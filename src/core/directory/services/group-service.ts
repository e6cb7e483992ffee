import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import { keySchema } from '../../model/address-schemas.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { requireResource } from '../documents/resource-lookup.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
  type Subject,
} from '../organizations/organization-keys.ts'
import { type OrganizationStore, organizationOf } from '../organizations/organization-store.ts'
import { ensureUsers, putMembership, removeMembership } from '../organizations/user-records.ts'
import { activeGrant, indexedResource } from '../permissions/grants.ts'
import type { SubjectRemoval } from '../removal/subject-removal.ts'
import { type BatchResults, emptyBatchResults, forEachItem, ItemRejectedError } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { type ListPage, listEntries, type PageRange, readPagePosition } from '../store/list-page.ts'
import { type GrantRecord, type GroupRecord, grantRecordType, groupRecordType } from '../store/records.ts'
import type { Transaction } from '../store/transaction.ts'

/**
 * Maximum number of groups to which one user belongs in one organization. Each check of a user's access reads
 * all groups of the user.
 */
export const groupsOfUserMax = 200
/** Maximum number of members of a group that one commit removes. */
const sliceMax = 500
/**
 * Maximum number of members that one call removes. The number is limited because the response has an entry
 * for each member.
 */
export const removedMembersMax = 10_000

interface GroupInput {
  readonly groupId: string
  readonly groupName?: string
}

/** The results of adding members to a group, and whether the call has created the group. */
interface AddedMembers {
  readonly results: BatchResults
  readonly groupCreated: boolean
}

/** The results of removing the members of a group. */
interface RemovedMembers {
  readonly results: BatchResults
  /** False if members remain, because the group had more members than one call removes. */
  readonly complete: boolean
}

/**
 * Groups of users. A group belongs to one organization. All methods throw ApiError NOT_FOUND if the group or
 * its organization does not exist.
 */
export class GroupService {
  readonly #store: OrganizationStore
  readonly #clock: Clock
  readonly #removal: SubjectRemoval

  constructor(store: OrganizationStore, clock: Clock, removal: SubjectRemoval) {
    this.#store = store
    this.#clock = clock
    this.#removal = removal
  }

  /** Creates groups. A group that already exists is renamed to the given name. */
  add(scope: OrganizationScope, inputs: readonly GroupInput[]): Promise<BatchResults> {
    return this.#store.changeExisting(scope, async (transaction) => {
      await transaction.getAll(inputs.map(({ groupId }) => keys.group(groupId)))
      return forEachItem(inputs, 'groupId', (input) => putGroup(transaction, input, this.#clock.now()))
    })
  }

  /** Returns the groups with the given ids that are groups of the resource; see `viewGroups`. */
  async find(
    scope: OrganizationScope,
    resource: Resource,
    groupIds: readonly string[],
  ): Promise<readonly FoundGroup[]> {
    const reader = this.#store.read(scope)
    await requireResource(reader, resource)
    return viewGroups(reader, resource, [...new Set(groupIds)], this.#clock.now())
  }

  /** Returns the groups of the resource in the order of their ids; see `listGroups`. */
  async list(scope: OrganizationScope, resource: Resource, range: PageRange): Promise<ListPage<FoundGroup>> {
    const reader = this.#store.read(scope)
    await requireResource(reader, resource)
    return listGroups(reader, resource, range, this.#clock.now())
  }

  /** Returns the grants of a group on all resources of the organization. */
  async granted(
    scope: OrganizationScope,
    groupId: string,
    range: PageRange,
  ): Promise<ListPage<GroupGrant> & { readonly group: GroupRecord }> {
    const reader = this.#store.read(scope)
    const group = await groupOf(reader, groupId)
    return { group, ...(await listGranted(reader, groupId, range, this.#clock.now())) }
  }

  /** Returns the members of a group in the order of their ids. */
  async members(
    scope: OrganizationScope,
    groupId: string,
    range: PageRange,
  ): Promise<ListPage<string> & { readonly group: GroupRecord }> {
    const reader = this.#store.read(scope)
    const group = await groupOf(reader, groupId)
    const { items, next } = await listEntries(reader, keys.membersOf(groupId), range)
    return { group, items: items.map(({ key }) => lastSegment(key)), next }
  }

  /** Deletes groups, with all grants to them. */
  remove(scope: OrganizationScope, groupIds: readonly string[]): Promise<BatchResults> {
    const groups = [...new Set(groupIds)].map((id) => ({ type: 'group', id }) as const)
    return this.#removal.remove(scope, groups)
  }

  /** Adds users to a group. Creates the group if it is missing, and a record for each user without one. */
  addUsers(scope: OrganizationScope, groupId: string, userIds: readonly string[]): Promise<AddedMembers> {
    const ids = [...new Set(userIds)]
    return this.#store.changeExisting(scope, async (transaction) => {
      const isMissing = (await transaction.get(keys.group(groupId))) === null
      let groupCreated = false
      await transaction.getAll([
        ...ids.map((userId) => keys.member(groupId, userId)),
        ...ids.map((userId) => keys.user(userId)),
      ])
      const results = await forEachItem(ids, null, async (userId) => {
        if ((await transaction.get(keys.member(groupId, userId))) !== null) return 'was in the group already'
        await checkGroupsOf(transaction, userId)
        if (isMissing && !groupCreated) await putGroup(transaction, { groupId }, this.#clock.now())
        groupCreated = isMissing
        await ensureUsers(transaction, [userId], this.#clock.now())
        putMembership(transaction, { groupId, userId })
        return 'added'
      })
      return { results, groupCreated }
    })
  }

  removeUsers(scope: OrganizationScope, groupId: string, userIds: readonly string[]): Promise<BatchResults> {
    const ids = [...new Set(userIds)]
    return this.#store.change(scope, async (transaction) => {
      await groupOf(transaction, groupId)
      await transaction.getAll(ids.map((userId) => keys.member(groupId, userId)))
      return forEachItem(ids, null, async (userId) => {
        if ((await transaction.get(keys.member(groupId, userId))) === null)
          throw new ItemRejectedError('group/user-not-found', 'is not in the group')
        removeMembership(transaction, { groupId, userId })
        return 'removed'
      })
    })
  }

  /** Removes up to `removedMembersMax` members of a group, in several bounded commits. */
  async removeAllUsers(scope: OrganizationScope, groupId: string): Promise<RemovedMembers> {
    const results = emptyBatchResults()
    for (let removed = 0; removed < removedMembersMax; removed += sliceMax) {
      const { items, next } = await this.members(scope, groupId, { after: undefined, limit: sliceMax })
      Object.assign(results, await this.removeUsers(scope, groupId, items))
      if (next === null) return { results, complete: true }
    }
    return { results, complete: false }
  }
}

/** Returns the group. @throws ApiError NOT_FOUND if the group or its organization does not exist */
async function groupOf(reader: DirectoryReader, groupId: string): Promise<GroupRecord> {
  await organizationOf(reader)
  const group = await reader.get(keys.group(groupId), groupRecordType)
  if (group === null) throw new ApiError('group/not-found', 'the group does not exist; check its id')
  return group
}

async function putGroup(transaction: Transaction, input: GroupInput, now: number): Promise<string> {
  const { groupId } = input
  const old = await transaction.get(keys.group(groupId), groupRecordType)
  const groupName = input.groupName ?? old?.groupName ?? groupId
  if (old?.groupName !== groupName)
    transaction.put(keys.group(groupId), {
      groupId,
      groupName,
      createdAt: old?.createdAt ?? now,
      lastUpdated: now,
    })
  return old === null ? 'added' : 'existed already; the name is up to date'
}

async function checkGroupsOf(transaction: Transaction, userId: string): Promise<void> {
  const groups = await transaction.scan({ prefix: keys.groupsOf(userId), limit: groupsOfUserMax })
  if (groups.length >= groupsOfUserMax)
    throw new ItemRejectedError(
      'group/too-many-of-user',
      `is already in ${groupsOfUserMax} groups, the maximum`,
    )
}

/** A group, and its role on the requested resource. */
export interface FoundGroup {
  readonly group: GroupRecord
  /**
   * The grant to the group on the requested resource itself. Null only if the resource is the organization
   * and the group has no grant on the organization as a whole.
   */
  readonly grant: GrantRecord | null
}

/** A grant, and the resource to which it applies. */
export interface GroupGrant {
  readonly resource: Resource
  readonly grant: GrantRecord
}

const groupSubject = (id: string): Subject => ({ type: 'group', id })

/**
 * Returns the groups with the given ids that exist. If the resource is a folder or document, returns only
 * groups that have a role on it.
 */
async function viewGroups(
  reader: DirectoryReader,
  resource: Resource,
  groupIds: readonly string[],
  now: number,
): Promise<readonly FoundGroup[]> {
  const groups = await reader.getAll(groupIds.map(keys.group), groupRecordType)
  const grants = await reader.getAll(
    groupIds.map((groupId) => keys.grant(resource, groupSubject(groupId))),
    grantRecordType,
  )
  return groups.flatMap((group, index) => {
    const grant = activeGrant(grants[index] ?? null, now)
    const isThere = group !== null && (grant !== null || resource.type === 'organization')
    return isThere ? [{ group, grant }] : []
  })
}

/**
 * Returns groups in the order of their ids. For an organization, returns all its groups; for a folder or
 * document, only the groups that have a role on it.
 */
async function listGroups(
  reader: DirectoryReader,
  resource: Resource,
  range: PageRange,
  now: number,
): Promise<ListPage<FoundGroup>> {
  const prefix = resource.type === 'organization' ? keys.groups : keys.groupGrantsOn(resource)
  const { items, next } = await listEntries(reader, prefix, range)
  const ids = items.map(({ key }) => lastSegment(key))
  return { items: await viewGroups(reader, resource, ids, now), next }
}

/**
 * Returns the grants of a group, sorted by expiry, earliest first. A page may have fewer items than
 * requested.
 */
async function listGranted(
  reader: DirectoryReader,
  groupId: string,
  { after, limit }: PageRange,
  now: number,
): Promise<ListPage<GroupGrant>> {
  const subject = groupSubject(groupId)
  const prefix = keys.grantsOf(subject)
  const from = after === undefined ? {} : { after: [...prefix, ...readPagePosition(keySchema, after)] }
  const entries = await reader.scan({ prefix, limit: limit + 1, ...from })
  const items = entries.slice(0, limit)
  const resources = items.map(indexedResource)
  const grants = await reader.getAll(
    resources.map((resource) => keys.grant(resource, subject)),
    grantRecordType,
  )
  const granted = resources.flatMap((resource, index) => {
    const grant = activeGrant(grants[index] ?? null, now)
    return grant === null ? [] : [{ resource, grant }]
  })
  const last = items.at(-1)?.key.slice(prefix.length) ?? null
  return { items: granted, next: entries.length > limit ? JSON.stringify(last) : null }
}
