import type { Clock } from '../../base/clock.ts'
import { memoized } from '../../base/maps.ts'
import { folderPath } from '../../directory/documents/folder-tree.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
  rootFolderId,
} from '../../directory/organizations/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../../directory/organizations/organization-store.ts'
import { activeGrant } from '../../directory/permissions/grants.ts'
import { mapInSlices } from '../../directory/store/batch.ts'
import type { DirectoryReader } from '../../directory/store/directory-reader.ts'
import { type AccessRole, type AccessType, documentRecordType } from '../../directory/store/records.ts'
import { type AccessReason, directoryRole } from './directory-role.ts'
import {
  type AccessResource,
  documentResource,
  folderResource,
  type GrantSelector,
  organizationResource,
  UserAccess,
} from './user-access.ts'

/** The rights of one user on one resource. */
type ResourceReport =
  | {
      readonly accessRole: AccessRole
      readonly accessType?: AccessType
      readonly expiresAt?: number
      readonly reason: ReportedReason
    }
  | {
      readonly accessType?: AccessType
      readonly error: string
      readonly errorCode: ReportProblem
      /** The reason for the role. Absent if the resource does not exist. */
      readonly reason?: ReportedReason
    }

interface ReportedReason {
  readonly source: AccessReason['source']
  readonly resourceType?: Resource['type']
  readonly resourceId?: string
  readonly groupId?: string
}

type ReportProblem = 'does_not_exist' | 'permission_denied'

type Reports = Readonly<Record<string, ResourceReport>>

/** The rights of one user, by resource id. */
interface UserReport {
  readonly organization: Reports
  readonly folders: Reports
  readonly documents: Reports
}

interface PermissionReport {
  readonly users: Readonly<Record<string, UserReport>>
  /** False if the organization, or a folder or document of the query, does not exist. */
  readonly complete: boolean
}

/** The users and the resources that a report covers, all in one organization. */
interface ReportQuery {
  readonly userIds: readonly string[]
  readonly folderIds: readonly string[]
  readonly documentIds: readonly string[]
}

/** The path of each resource, by the id of the resource. Null if the resource does not exist. */
type ResourcesByDocument = ReadonlyMap<string, readonly AccessResource[] | null>

interface Located {
  readonly reader: DirectoryReader
  readonly now: number
  readonly organization: ResourcesByDocument
  readonly folders: ResourcesByDocument
  readonly documents: ResourcesByDocument
}

/** Reports the rights of users, computed in the same way as when the server applies them. */
export class PermissionReporter {
  readonly #store: OrganizationStore
  readonly #clock: Clock

  constructor(store: OrganizationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async read(scope: OrganizationScope, query: ReportQuery): Promise<PermissionReport> {
    const located = await locate(this.#store.read(scope), scope, query, this.#clock.now())
    const { organization, folders, documents } = located
    const places = [organization, folders, documents].flatMap((each) => [...each.values()])
    const users: [string, UserReport][] = []
    for (const userId of new Set(query.userIds)) users.push([userId, await reportUser(located, userId)])
    return { users: byId(users), complete: places.every((each) => each !== null) }
  }
}

async function locate(
  reader: DirectoryReader,
  scope: OrganizationScope,
  { folderIds, documentIds }: ReportQuery,
  now: number,
): Promise<Located> {
  const exists = (await findOrganization(reader)) !== null
  const top = organizationResource(scope)
  const paths = new FolderPaths(reader, top)
  const located = async (
    ids: readonly string[],
    locateOne: (id: string) => Promise<readonly AccessResource[] | null>,
  ) => {
    const distinct = [...new Set(ids)]
    const places = exists ? await mapInSlices(distinct, locateOne) : []
    return new Map(distinct.map((id, index) => [id, places[index] ?? null]))
  }
  return {
    reader,
    now,
    organization: new Map([[scope.organizationId, exists ? [top] : null]]),
    folders: await located(folderIds, (id) => (id === rootFolderId ? Promise.resolve(null) : paths.from(id))),
    documents: await located(documentIds, (id) => paths.ofDocument(id)),
  }
}

async function reportUser(located: Located, userId: string): Promise<UserReport> {
  const { reader, now, organization, folders, documents } = located
  // A report describes one moment. Therefore the strongest unexpired grant is sufficient.
  const choose: GrantSelector = (grants) =>
    grants.filter((grant) => activeGrant(grant, now) !== null).slice(0, 1)
  const access = await UserAccess.open({ reader, userId, choose })
  return {
    organization: await reportEach(organization, (places) => reportMember(access, places, now)),
    folders: await reportEach(folders, (places) => reportResource(access, places, now)),
    documents: await reportEach(documents, (places) => reportResource(access, places, now)),
  }
}

async function reportEach(
  resources: ResourcesByDocument,
  report: (places: readonly AccessResource[]) => Promise<ResourceReport>,
): Promise<Reports> {
  const reports = await mapInSlices(
    [...resources],
    async ([id, places]) => [id, places === null ? missing : await report(places)] as const,
  )
  return byId(reports)
}

const missing: ResourceReport = { error: 'does not exist', errorCode: 'does_not_exist' }

async function reportResource(
  access: UserAccess,
  places: readonly AccessResource[],
  now: number,
): Promise<ResourceReport> {
  const { levels, member } = await access.at(places)
  const { role, grant, accessType, reason } = directoryRole(levels, member, now)
  if (role === null) return { accessType, ...denied, reason: reported(reason) }
  return { accessRole: role, accessType, ...endOf(grant), reason: reported(reason) }
}

const reported = ({ source, resource, groupId }: AccessReason): ReportedReason => ({
  source,
  ...(resource && { resourceType: resource.type, resourceId: resource.id }),
  ...(groupId !== undefined && { groupId }),
})

const denied = { error: 'permission denied', errorCode: 'permission_denied' } as const

/**
 * Reports the rights of a user on the organization. An organization has no access type. It is open to its
 * members.
 */
async function reportMember(
  access: UserAccess,
  places: readonly AccessResource[],
  now: number,
): Promise<ResourceReport> {
  const { levels } = await access.at(places)
  const member = await access.memberAt(levels)
  const open = levels.map((level) => ({ ...level, accessType: 'organizationPrivate' }) as const)
  const { role, grant, reason } = directoryRole(open, member, now)
  if (role === null) return { ...denied, reason: { source: 'membership' } }
  return { accessRole: role, ...endOf(grant), reason: reported(reason) }
}

const endOf = (grant: { readonly expiresAt: number | null } | null) =>
  grant === null || grant.expiresAt === null ? {} : { expiresAt: grant.expiresAt }

/**
 * Returns an object with the entries. The object has no prototype, because any text may be an id, even
 * `__proto__`.
 */
function byId<Value>(entries: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  const all: Record<string, Value> = Object.create(null)
  for (const [id, value] of entries) all[id] = value
  return all
}

/**
 * Reads the paths from resources up to the organization. The path of a folder is read only once for all
 * resources in the folder.
 */
class FolderPaths {
  readonly #reader: DirectoryReader
  readonly #top: AccessResource
  readonly #fromFolders = new Map<string, Promise<readonly AccessResource[] | null>>()

  constructor(reader: DirectoryReader, top: AccessResource) {
    this.#reader = reader
    this.#top = top
  }

  /** Returns the path from the document up to the organization; null if the document does not exist. */
  async ofDocument(documentId: string): Promise<readonly AccessResource[] | null> {
    const document = await this.#reader.get(keys.document(documentId), documentRecordType)
    if (document === null || document.deleting === true) return null
    const above = await this.from(document.folderId)
    return above && [documentResource(documentId, document), ...above]
  }

  /** Returns the path from the folder up to the organization; null if the folder does not exist. */
  from(folderId: string): Promise<readonly AccessResource[] | null> {
    return memoized(this.#fromFolders, folderId, () => this.#read(folderId))
  }

  async #read(folderId: string): Promise<readonly AccessResource[] | null> {
    const folders = await folderPath(this.#reader, folderId)
    return folders && [...folders.map(folderResource), this.#top]
  }
}
