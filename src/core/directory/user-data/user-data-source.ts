import type { CheckLease } from '../../jobs/task-worker.ts'
import type { Tenant } from '../../model/address.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import type { ListPage, PageRange } from '../store/list-page.ts'

/** Kinds of user data in responses. */
export const dataKinds = [
  'user',
  'grant',
  'membership',
  'activity',
  'notification',
  'notificationMark',
  'notificationConfig',
  'presence',
  'comment',
  'version',
  'branch',
  'judgment',
  'change',
  'event',
] as const
export type DataKind = (typeof dataKinds)[number]

/**
 * Names of the sources, in the order of a listing and of an erasure. The data of the tenant is first. In an
 * organization the grants are first, so that an erasure removes the rights of the user before other data.
 */
const sourceNames = [
  'presence',
  'judgments',
  'streams',
  'grants',
  'memberships',
  'users',
  'comments',
  'activities',
  'versions',
  'branches',
  'visits',
  'notifications',
  'notificationMarks',
  'notificationConfigs',
  'changes',
  'events',
] as const
export type UserDataSourceName = (typeof sourceNames)[number]

/** One stored item of a user's data. */
export interface UserDatum {
  readonly kind: DataKind
  /** Id of the organization that contains the item; null if the item does not belong to an organization. */
  readonly organizationId: string | null
  /** Id of the document that contains the item; null if the item does not belong to a document. */
  readonly documentId: string | null
  readonly data: object
}

/**
 * Scope of an export or erasure: one organization of a tenant. If `organizationId` is null, the scope is all
 * data of the tenant.
 */
export interface UserDataScope extends Tenant {
  readonly organizationId: string | null
}

/** Lists and erases one kind of user data. */
export interface UserDataSource<Place> {
  /** Name of the source in the report. */
  readonly name: UserDataSourceName
  /** Returns a page of the data of a user, in a stable order. */
  list(place: Place, userId: string, range: PageRange): Promise<ListPage<UserDatum>>
  /**
   * Removes the user from one slice of records. Returns the number of changed records; 0 if no data of the
   * user remains. A source that reads many records must call `goOn` between them.
   */
  erase(place: Place, userId: string, goOn: CheckLease): Promise<number>
}

export interface UserDataSourceList {
  /** Sources that are read once for all organizations together. */
  readonly ofTenant: readonly UserDataSource<UserDataScope>[]
  /** Sources that are read separately for each organization. */
  readonly ofOrganization: readonly UserDataSource<OrganizationScope>[]
}

type NamedSource = Pick<UserDataSource<never>, 'name'>

/** Compares two sources by their order in a listing. */
export const compareSources = (a: NamedSource, b: NamedSource): number =>
  sourceNames.indexOf(a.name) - sourceNames.indexOf(b.name)
