import * as s from '../../base/schema.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import type { Tenant } from '../../model/address.ts'
import { keySchema } from '../../model/address-schemas.ts'
import type { Key, KvEntry } from '../../store/engine.ts'
import type { OrganizationScope } from '../organizations/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../organizations/organization-store.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import { type ListPage, type PageRange, readPagePosition } from '../store/list-page.ts'
import type { Transaction } from '../store/transaction.ts'

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
type DataKind = (typeof dataKinds)[number]

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
type UserDataSourceName = (typeof sourceNames)[number]

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

/** The data of one entry in an export. */
export interface ShownEntry {
  readonly documentId: string | null
  readonly data: object
}

/** A kind of user data that is stored in key ranges of an organization's partition. */
export interface UserRanges {
  readonly name: UserDataSourceName
  readonly kind: DataKind
  /** Returns the key prefixes under which the entries of a user are stored. */
  readonly ranges: (userId: string) => readonly Key[]
  /**
   * Returns the data of each entry, in the order of the entries. The result contains null for an entry
   * without data to export.
   */
  readonly show: (
    reader: DirectoryReader,
    entries: readonly KvEntry[],
    userId: string,
  ) => Promise<readonly (ShownEntry | null)[]>
  /** Erases one slice of a user's data, in the same way as `UserDataSource.erase`. */
  readonly erase: (transaction: Transaction, userId: string) => Promise<number>
}

/**
 * Creates a source from key ranges. While an organization is being deleted, the source returns nothing and
 * erases nothing, because the deletion removes all data of the organization.
 */
export function rangeSource(
  store: OrganizationStore,
  { name, kind, ranges, show, erase }: UserRanges,
): UserDataSource<OrganizationScope> {
  return {
    name,
    async list(scope, userId, range) {
      const reader = store.read(scope)
      if ((await findOrganization(reader)) === null) return { items: [], next: null }
      const { items, next } = await listRanges(reader, ranges(userId), range)
      const shown = await show(reader, items, userId)
      return { items: shown.flatMap((one) => (one === null ? [] : [datumOf(kind, scope, one)])), next }
    },
    erase: (scope, userId) =>
      store.carryOut(scope, async (transaction) =>
        (await findOrganization(transaction)) === null ? 0 : erase(transaction, userId),
      ),
  }
}

const datumOf = (kind: DataKind, { organizationId }: OrganizationScope, shown: ShownEntry): UserDatum => ({
  kind,
  organizationId,
  ...shown,
})

/** Returns a page of the entries in all ranges, range by range. */
async function listRanges(
  reader: DirectoryReader,
  prefixes: readonly Key[],
  { after, limit }: PageRange,
): Promise<ListPage<KvEntry>> {
  const [from, key] = after === undefined ? [0, null] : readPagePosition(positionSchema, after)
  const items: KvEntry[] = []
  for (let at = from; at < prefixes.length; at++) {
    const prefix = prefixes[at] as Key
    const start = at === from && key !== null ? { after: key } : {}
    const entries = await reader.scan({ prefix, limit: limit - items.length + 1, ...start })
    for (const entry of entries) {
      // An entry after the last item shows that there is a next page. The next page starts after the last
      // item.
      const last = items.at(-1)
      if (items.length === limit && last !== undefined) return { items, next: writePosition(prefixes, last) }
      items.push(entry)
    }
  }
  return { items, next: null }
}

const writePosition = (prefixes: readonly Key[], { key }: KvEntry): string =>
  JSON.stringify([prefixes.findIndex((prefix) => prefix.every((part, at) => key[at] === part)), key])

/** Schema of a position in the listing: the index of a range, and the key of the last listed entry. */
const positionSchema = s.tuple([s.number, keySchema])
