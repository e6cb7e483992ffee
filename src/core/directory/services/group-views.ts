import { keySchema } from '../../model/address-schemas.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { keys, type Resource, type Subject } from '../organizations/organization-keys.ts'
import { activeGrant, indexedResource } from '../permissions/grants.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { type ListPage, listEntries, type PageRange, readPagePosition } from '../store/list-page.ts'
import { type GrantRecord, type GroupRecord, grantRecordType, groupRecordType } from '../store/records.ts'

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
export async function viewGroups(
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
export async function listGroups(
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
export async function listGranted(
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
