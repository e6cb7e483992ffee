import { memoized } from '../../base/maps.ts'
import { effectiveAccessType, type FolderAccess } from '../../directory/documents/folder-tree.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
  type Subject,
} from '../../directory/organizations/organization-keys.ts'
import { findOrganization } from '../../directory/organizations/organization-store.ts'
import { indexedExpiry } from '../../directory/permissions/grants.ts'
import { mapInSlices } from '../../directory/store/batch.ts'
import type { DirectoryReader } from '../../directory/store/directory-reader.ts'
import {
  type DocumentRecord,
  type FolderRecord,
  type GrantRecord,
  grantRecordType,
} from '../../directory/store/records.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { readRecord } from '../../store/stored-record.ts'
import { type AccessLevel, type GrantOfGroup, strongestFirst } from './directory-role.ts'

/** A resource, and the access settings that are stored for it. */
export interface AccessResource extends FolderAccess {
  readonly resource: Resource
}

export const documentResource = (
  documentId: string,
  { accessType }: Pick<DocumentRecord, 'accessType'>,
): AccessResource => ({
  resource: { type: 'document', id: documentId },
  accessType,
  inheritAccessFromParent: true,
})

export const organizationResource = ({ organizationId }: OrganizationScope): AccessResource => ({
  resource: { type: 'organization', id: organizationId },
  accessType: null,
  inheritAccessFromParent: true,
})

export const folderResource = ({
  folderId,
  accessType,
  inheritAccessFromParent,
}: FolderRecord): AccessResource => ({
  resource: { type: 'folder', id: folderId },
  accessType,
  inheritAccessFromParent,
})

/** Maximum number of groups of one user that are read. It is higher than the current limit of memberships. */
const groupsMax = 1_000
/**
 * Maximum number of groups of a user whose grants on a resource are read one by one. If the user has more
 * groups, all grants on the resource are listed, because one scan costs as much as several reads.
 */
const lookedUpMax = 4
/**
 * Maximum number of grants on a resource that are listed, for each group of the user. One read takes as long
 * as listing this number of grants.
 */
const listedPerGroup = 5

export interface ResourceAccess {
  readonly levels: readonly AccessLevel[]
  /**
   * Grants that make the user a member of the organization, in order of precedence. Empty if membership does
   * not affect the access.
   */
  readonly member: readonly GrantRecord[]
}

/** The access settings and grants of a resource that no user may access. */
export const noAccess: ResourceAccess = {
  levels: [{ accessType: 'restricted', inheritAccessFromParent: false, own: null, groups: [] }],
  member: [],
}

/** Selects the relevant grants from a list of grants, which is in order of precedence. */
export type GrantSelector = <Grant extends GrantRecord>(grants: readonly Grant[]) => readonly Grant[]

interface UserAccessOptions {
  readonly reader: DirectoryReader
  readonly userId: string
  /** Selects the relevant grants to groups, and the relevant grants that give membership. */
  readonly choose: GrantSelector
  /**
   * Returns whether any user of the organization is in a group. Called before the groups of the user are
   * read.
   */
  readonly isGrouped?: () => Promise<boolean>
}

/**
 * The grants of one user and of the user's groups in an organization, at one moment. Each resource is read
 * only once, even if several resources inside it are checked.
 */
export class UserAccess {
  readonly #options: UserAccessOptions
  readonly #groups: readonly Subject[]
  readonly #groupIds: ReadonlySet<string>
  readonly #levels = new Map<Resource['type'], Map<string, Promise<AccessLevel>>>()
  #member: Promise<readonly GrantRecord[]> | null = null

  private constructor(options: UserAccessOptions, groupIds: readonly string[]) {
    this.#options = options
    this.#groupIds = new Set(groupIds)
    this.#groups = groupIds.map((id) => ({ type: 'group', id }) as const)
  }

  static async open(options: UserAccessOptions): Promise<UserAccess> {
    const { reader, userId, isGrouped } = options
    if (isGrouped !== undefined && !(await isGrouped())) return new UserAccess(options, [])
    const entries = await reader.scan({ prefix: keys.groupsOf(userId), limit: groupsMax })
    return new UserAccess(
      options,
      entries.map(({ key }) => lastSegment(key)),
    )
  }

  /**
   * Returns the access of the user to a resource.
   * @param places the resource, then its folders (nearest first), then the organization
   */
  async at(places: readonly AccessResource[]): Promise<ResourceAccess> {
    const levels = await Promise.all(places.map((place) => this.#levelAt(place)))
    const isForMembers = effectiveAccessType(levels) === 'organizationPrivate'
    return { levels, member: isForMembers ? await this.memberAt(levels) : [] }
  }

  /**
   * Returns the grants that make the user a member of the organization, in order of precedence. A grant on
   * the organization itself gives its own role; the user's own grant has precedence over grants to groups. A
   * grant on any other resource in the organization makes the user a viewer.
   * @param levels levels of a resource; the last one is the organization
   */
  memberAt(levels: readonly AccessLevel[]): Promise<readonly GrantRecord[]> {
    this.#member ??= this.#readMember(levels.at(-1))
    return this.#member
  }

  #levelAt(place: AccessResource): Promise<AccessLevel> {
    const { type, id } = place.resource
    const ofType = memoized(this.#levels, type, () => new Map<string, Promise<AccessLevel>>())
    return memoized(ofType, id, () => this.#readLevel(place))
  }

  async #readLevel({ resource, accessType, inheritAccessFromParent }: AccessResource): Promise<AccessLevel> {
    const listed = this.#groups.length > lookedUpMax ? await this.#listGrants(resource) : null
    const [own, groups] = listed ?? (await this.#lookUpGrants(resource))
    const kept = this.#options.choose(strongestFirst(groups))
    return { resource, accessType, inheritAccessFromParent, own, groups: kept }
  }

  /**
   * Lists the grants on a resource. Returns null if there are too many: reading the grants of the user and
   * the groups one by one is then less expensive.
   */
  async #listGrants(resource: Resource): Promise<Grants | null> {
    const { reader } = this.#options
    const limit = this.#groups.length * listedPerGroup
    const entries = await reader.scan({ prefix: keys.groupGrantsOn(resource), limit })
    if (entries.length === limit) return null
    const own = await this.#ownGrant(resource)
    const all = entries.map((entry) => ({
      ...readRecord(grantRecordType, entry),
      groupId: entry.key.at(-1) ?? '',
    }))
    return [own, all.filter(({ groupId }) => this.#groupIds.has(groupId))]
  }

  async #lookUpGrants(resource: Resource): Promise<Grants> {
    if (this.#groups.length === 0) return [await this.#ownGrant(resource), []]
    const subjects = [this.#user, ...this.#groups]
    const [own = null, ...groups] = await this.#options.reader.getAll(
      subjects.map((subject) => keys.grant(resource, subject)),
      grantRecordType,
    )
    const found = groups.map((grant, index) => grant && { ...grant, groupId: this.#groups[index]?.id ?? '' })
    return [own, found.filter((grant) => grant !== null)]
  }

  #ownGrant(resource: Resource): Promise<GrantRecord | null> {
    return this.#options.reader.get(keys.grant(resource, this.#user), grantRecordType)
  }

  async #readMember({ own, groups }: Pick<AccessLevel, 'own' | 'groups'> = nothing) {
    const { reader, choose } = this.#options
    if ((await findOrganization(reader)) === null) return []
    const within = await mapInSlices([this.#user, ...this.#groups], (subject) =>
      longestGrant(reader, subject),
    )
    const all = [own, ...strongestFirst(groups), ...strongestFirst(within.filter((grant) => grant !== null))]
    return choose(all.filter((grant) => grant !== null))
  }

  get #user(): Subject {
    return { type: 'user', id: this.#options.userId }
  }
}

/** The grant to the user on a resource, and the grants to the groups of the user. */
type Grants = readonly [GrantRecord | null, readonly GrantOfGroup[]]

const nothing = { own: null, groups: [] }

/**
 * Returns the grant of the subject that expires last, converted to a viewer's grant on the organization.
 * Returns null if the subject has no grant.
 */
async function longestGrant(reader: DirectoryReader, subject: Subject): Promise<GrantRecord | null> {
  const [entry] = await reader.scan({ prefix: keys.grantsOf(subject), reverse: true, limit: 1 })
  return entry === undefined ? null : { accessRole: 'viewer', expiresAt: indexedExpiry(entry) }
}
