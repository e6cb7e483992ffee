import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { ListPage, PageRange } from '../directory/store/list-page.ts'
import type { Tenant } from '../model/address.ts'

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
  'judgment',
] as const
export type DataKind = (typeof dataKinds)[number]

/** One stored item of a user's data. */
export interface UserDatum {
  readonly kind: DataKind
  /** Null if it does not belong to an organization. */
  readonly organizationId: string | null
  /** Null if it does not belong to a document. */
  readonly documentId: string | null
  readonly data: object
}

/** One organization of a tenant; null for all data of the tenant. */
export interface UserDataScope extends Tenant {
  readonly organizationId: string | null
}

/** A place where user data is stored. */
export interface UserDataSource<Place> {
  /** Name of the source in the report, such as `activities`. */
  readonly name: string
  /** Lists the data of a user in a stable order. */
  list(place: Place, userId: string, range: PageRange): Promise<ListPage<UserDatum>>
  /** Removes the user from one slice of records. Returns the number of changed records; 0 if none remain. */
  erase(place: Place, userId: string): Promise<number>
}

/** All sources of user data. They are listed and erased in this order, the tenant's first. */
export interface UserDataSourceList {
  /** Read once for all organizations. */
  readonly ofTenant: readonly UserDataSource<UserDataScope>[]
  /** Read for each organization. */
  readonly ofOrganization: readonly UserDataSource<OrganizationScope>[]
}
