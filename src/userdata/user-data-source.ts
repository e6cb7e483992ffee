import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import type { ListPage, PageRange } from '../directory/store/list-page.ts'
import type { Tenant } from '../model/address.ts'

/** What data of users are, as callers are told. */
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

/** Something that is kept of a user. */
export interface UserDatum {
  readonly kind: DataKind
  /** Null: it is of no organization. */
  readonly organizationId: string | null
  /** Null: it is of no document. */
  readonly documentId: string | null
  readonly data: object
}

/** One organization of a tenant, or with null all that the tenant has. */
export interface UserDataScope extends Tenant {
  readonly organizationId: string | null
}

/** Somewhere where data of users are kept. */
export interface UserDataSource<Place> {
  /** Names what is removed here in the report, such as `activities`. */
  readonly name: string
  /** What is kept of a user, in an order that stays. */
  list(place: Place, userId: string, range: PageRange): Promise<ListPage<UserDatum>>
  /** Takes the user out of some, as much as one slice of work is; returns of how many: 0 when there are none left. */
  erase(place: Place, userId: string): Promise<number>
}

/** Everywhere where data of users are kept. They are listed, and erased, in this order: the tenant's first. */
export interface UserDataSourceList {
  /** Asked once, for all organizations. */
  readonly ofTenant: readonly UserDataSource<UserDataScope>[]
  /** Asked for each organization. */
  readonly ofOrganization: readonly UserDataSource<OrganizationScope>[]
}
