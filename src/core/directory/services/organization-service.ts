import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import type { Tenant } from '../../model/address.ts'
import type { Kv } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { encodeRecord } from '../../store/stored-record.ts'
import { requireExisting } from '../documents/resource-lookup.ts'
import {
  keys,
  type OrganizationScope,
  type Resource,
  tenantKeys,
  tenantPart,
} from '../organizations/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../organizations/organization-store.ts'
import type { RemovalService } from '../removal/removal-service.ts'
import { removalJob } from '../removal/removal-task.ts'
import { type BatchResults, forEachItemConcurrently, ItemRejectedError, mapInSlices } from '../store/batch.ts'
import {
  filterItems,
  type ListPage,
  listEntries,
  listSlices,
  nearMissAmong,
  type PageRange,
  type Search,
  type StoredItem,
} from '../store/list-page.ts'
import { patchRecord } from '../store/patch-record.ts'
import {
  deletionMark,
  emptyValue,
  type Metadata,
  type OrganizationRecord,
  organizationRecordType,
} from '../store/records.ts'
import { Transaction } from '../store/transaction.ts'

/**
 * Content of an organization. In a new organization, absent members are empty; in an update, they stay
 * unchanged.
 */
interface OrganizationContent {
  readonly organizationId: string
  readonly organizationName?: string | undefined
  readonly metadata?: Metadata | undefined
}

interface OrganizationListing extends PageRange {
  /** If set, lists only organizations whose id or name matches. */
  readonly search?: Search | undefined
}

/**
 * The organizations of tenants. Each organization has its own partition. The partition of a tenant contains
 * an index of the ids of its organizations.
 */
export class OrganizationService {
  readonly #kv: Kv
  readonly #store: OrganizationStore
  readonly #removals: RemovalService
  readonly #clock: Clock

  constructor(kv: Kv, store: OrganizationStore, removals: RemovalService, clock: Clock) {
    this.#kv = kv
    this.#store = store
    this.#removals = removals
    this.#clock = clock
  }

  add(tenant: Tenant, organizations: readonly OrganizationContent[]): Promise<BatchResults> {
    return forEachItemConcurrently(organizations, 'organizationId', async (content) => {
      const added = await this.#create({ ...tenant, organizationId: content.organizationId }, content)
      if (added === 'exists')
        throw new ItemRejectedError('organization/exists', 'the organization exists already')
      if (added === 'deleting')
        throw new ItemRejectedError(
          'organization/being-deleted',
          'the organization is being deleted; try again',
        )
      return 'added'
    })
  }

  /**
   * Checks that a resource exists. @throws ApiError NOT_FOUND with the name of the resource, if the resource
   * or its organization does not exist
   */
  requireExisting(scope: OrganizationScope, resource: Resource): Promise<void> {
    return requireExisting(this.#store.read(scope), resource)
  }

  /**
   * Creates the organization, unless it already exists. Returns whether it was created.
   * @throws ApiError ABORTED if the organization is being deleted
   */
  async ensure(scope: OrganizationScope): Promise<boolean> {
    if ((await findOrganization(this.#store.read(scope))) !== null) return false
    const created = await this.#create(scope, scope)
    if (created === 'deleting')
      throw new ApiError('organization/being-deleted', 'the organization is being deleted; try again')
    return created === 'added'
  }

  /** Returns the existing organization of which a new id may be a misspelling; null if there is none. */
  async nearMiss(tenant: Tenant, organizationId: string): Promise<string | null> {
    const index = new Transaction(this.#kv, tenantPart(tenant))
    return nearMissAmong(index, tenantKeys.organizations, organizationId)
  }

  /** Returns the existing organizations, in the order of `organizationIds`. */
  async get(tenant: Tenant, organizationIds: readonly string[]): Promise<readonly OrganizationRecord[]> {
    const found = await this.#stored(tenant, organizationIds)
    return recordsOf(found)
  }

  /**
   * Returns a page of organizations, in the order of their ids. The page may have fewer items than requested,
   * although further pages follow.
   */
  async list(
    tenant: Tenant,
    { search, ...range }: OrganizationListing,
  ): Promise<ListPage<OrganizationRecord>> {
    const index = new Transaction(this.#kv, tenantPart(tenant))
    const list = async (part: PageRange): Promise<ListPage<StoredItem<OrganizationRecord>>> => {
      const { items, next } = await listEntries(index, tenantKeys.organizations, part)
      const ids = items.map(({ key }) => lastSegment(key))
      return { items: await this.#stored(tenant, ids), next }
    }
    const { items, next } =
      search === undefined
        ? await listSlices(list, range)
        : await filterItems(list, range, search, (record) =>
            search.isIn(record.organizationId, record.organizationName),
          )
    return { items: recordsOf(items), next }
  }

  update(tenant: Tenant, changes: readonly OrganizationContent[]): Promise<BatchResults> {
    return forEachItemConcurrently(
      changes,
      'organizationId',
      ({ organizationId, organizationName, metadata }) =>
        this.#store.change({ ...tenant, organizationId }, async (transaction) => {
          const record = await findOrganization(transaction)
          if (record === null) throw noSuchOrganization()
          const changed = patchRecord<OrganizationRecord>(
            record,
            { organizationName, metadata },
            this.#clock.now(),
          )
          transaction.put(keys.organization, changed)
          return 'updated'
        }),
    )
  }

  /** Deletes organizations with everything in them. Resolves when all their data has been removed. */
  delete(tenant: Tenant, organizationIds: readonly string[]): Promise<BatchResults> {
    return forEachItemConcurrently(organizationIds, null, async (organizationId) => {
      const scope = { ...tenant, organizationId }
      return this.#removals.await((jobId) =>
        this.#store.change(scope, async (transaction) => {
          const record = await findOrganization(transaction)
          if (record === null) throw noSuchOrganization()
          const task = { kind: 'organization', scope, ...this.#removals.kept(jobId) } as const
          transaction.put(keys.organization, { ...record, ...deletionMark(task.kept?.id) })
          transaction.enqueue(removalJob(jobId, task))
          return { result: 'deleted', task }
        }),
      )
    })
  }

  #stored(tenant: Tenant, organizationIds: readonly string[]): Promise<StoredItem<OrganizationRecord>[]> {
    return mapInSlices(organizationIds, async (id) => ({
      id,
      record: await findOrganization(this.#store.read({ ...tenant, organizationId: id })),
    }))
  }

  /**
   * Creates the record and the index entry of an organization. The index entry is written before the record:
   * a crash between the two writes then leaves no record that cannot be found. Afterwards the index entry is
   * written again, because a deletion that ended between the two writes may have removed it.
   */
  async #create(
    scope: OrganizationScope,
    { organizationId, organizationName = '', metadata = {} }: OrganizationContent,
  ): Promise<'added' | 'exists' | 'deleting'> {
    await this.#index(scope)
    const now = this.#clock.now()
    const record = { organizationId, organizationName, metadata, createdAt: now, lastUpdated: now }
    const outcome = await this.#store.change(scope, async (transaction) => {
      const existing = await transaction.get(keys.organization, organizationRecordType)
      if (existing !== null) return existing.deleting === true ? 'deleting' : 'exists'
      transaction.put(keys.organization, record)
      return 'added'
    })
    if (outcome === 'added') await this.#index(scope)
    return outcome
  }

  async #index(scope: OrganizationScope): Promise<void> {
    const [part, key] = [tenantPart(scope), tenantKeys.organization(scope.organizationId)]
    const [entry = null] = await this.#kv.get(part, [key])
    if (entry === null) await this.#kv.commit(part, { puts: [{ key, value: encodeRecord(emptyValue) }] })
  }
}

const recordsOf = (stored: readonly StoredItem<OrganizationRecord>[]): readonly OrganizationRecord[] =>
  stored.flatMap(({ record }) => record ?? [])

const noSuchOrganization = (): ItemRejectedError =>
  new ItemRejectedError('organization/not-found', 'the organization does not exist')
