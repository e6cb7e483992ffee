import type { Clock } from '../clock.ts'
import { keys, type OrganizationScope } from '../directory/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../directory/organization-store.ts'
import { pathTo } from '../directory/places.ts'
import type { AccessRole, AccessType } from '../directory/records.ts'
import type { Transaction } from '../directory/transaction.ts'
import { liveRole } from './live-role.ts'
import {
  accessAt,
  documentPlace,
  folderPlace,
  memberGrants,
  organizationPlace,
  type Place,
  type Subjects,
  subjectsOf,
} from './places.ts'

/** What one user may do on one resource. */
export type ResourceReport =
  | { readonly accessRole: AccessRole; readonly accessType?: AccessType; readonly expiresAt?: number }
  | { readonly accessType?: AccessType; readonly error: string; readonly errorCode: ReportProblem }

export type ReportProblem = 'does_not_exist' | 'permission_denied'

type Reports = Readonly<Record<string, ResourceReport>>

/** By the ids of the resources. */
export interface UserReport {
  readonly organization: Reports
  readonly folders: Reports
  readonly documents: Reports
}

export interface PermissionReport {
  /** By the ids of the users. */
  readonly users: Readonly<Record<string, UserReport>>
  /** False: the organization, a folder or a document does not exist. */
  readonly complete: boolean
}

/** What is asked about, within an organization. */
export interface ReportQuery {
  readonly userIds: readonly string[]
  readonly folderIds: readonly string[]
  readonly documentIds: readonly string[]
}

/** A resource with its place; null where it does not exist. */
type Places = ReadonlyMap<string, readonly Place[] | null>

interface Located {
  readonly reader: Transaction
  readonly now: number
  readonly organization: Places
  readonly folders: Places
  readonly documents: Places
}

/** Tells what users may do: the same as they can. */
export class PermissionReader {
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
  reader: Transaction,
  scope: OrganizationScope,
  { folderIds, documentIds }: ReportQuery,
  now: number,
): Promise<Located> {
  const exists = (await findOrganization(reader)) !== null
  const top = organizationPlace(scope)
  const place = (type: 'document' | 'folder', ids: readonly string[]) =>
    exists ? placesOf(reader, type, ids, top) : new Map(ids.map((id) => [id, null]))
  return {
    reader,
    now,
    organization: new Map([[scope.organizationId, exists ? [top] : null]]),
    folders: await place('folder', folderIds),
    documents: await place('document', documentIds),
  }
}

async function placesOf(
  reader: Transaction,
  type: 'document' | 'folder',
  ids: readonly string[],
  top: Place,
): Promise<Places> {
  const places = new Map<string, readonly Place[] | null>()
  for (const id of ids) {
    const path = await pathTo(reader, { type, id })
    const own = type === 'folder' ? [] : [documentPlace(id, await reader.get(keys.document(id)))]
    places.set(id, path === null ? null : [...own, ...path.map(folderPlace), top])
  }
  return places
}

async function reportUser(located: Located, userId: string): Promise<UserReport> {
  const subjects = await subjectsOf(located.reader, userId)
  return {
    organization: await reportEach(located.organization, (places) => reportMember(located, places, subjects)),
    folders: await reportEach(located.folders, (places) => reportResource(located, places, subjects)),
    documents: await reportEach(located.documents, (places) => reportResource(located, places, subjects)),
  }
}

async function reportEach(
  resources: Places,
  report: (places: readonly Place[]) => Promise<ResourceReport>,
): Promise<Reports> {
  const reports: [string, ResourceReport][] = []
  for (const [id, places] of resources) reports.push([id, places === null ? missing : await report(places)])
  return byId(reports)
}

const missing: ResourceReport = { error: 'does not exist', errorCode: 'does_not_exist' }

async function reportResource(
  { reader, now }: Located,
  places: readonly Place[],
  subjects: Subjects,
): Promise<ResourceReport> {
  const { levels, member } = await accessAt(reader, places, subjects)
  const { role, grant, accessType } = liveRole(levels, member, now)
  if (role === null) return { accessType, ...denied }
  return { accessRole: role, accessType, ...endOf(grant) }
}

const denied = { error: 'permission denied', errorCode: 'permission_denied' } as const

/** An organization has no access type: it is open to its members. */
async function reportMember(
  { reader, now }: Located,
  places: readonly Place[],
  subjects: Subjects,
): Promise<ResourceReport> {
  const { levels } = await accessAt(reader, places, subjects)
  const member = await memberGrants(reader, levels, subjects)
  const open = levels.map((level) => ({ ...level, accessType: 'organizationPrivate' }) as const)
  const { role, grant } = liveRole(open, member, now)
  return role === null ? denied : { accessRole: role, ...endOf(grant) }
}

const endOf = (grant: { readonly expiresAt: number | null } | null) =>
  grant === null || grant.expiresAt === null ? {} : { expiresAt: grant.expiresAt }

/** Without a prototype: ids are anything, `__proto__` too. */
function byId<Value>(entries: readonly (readonly [string, Value])[]): Readonly<Record<string, Value>> {
  const all = Object.create(null) as Record<string, Value>
  for (const [id, value] of entries) all[id] = value
  return all
}
