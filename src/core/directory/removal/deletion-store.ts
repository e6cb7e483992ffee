import type { Tenant } from '../../model/address.ts'
import type { Kv } from '../../store/engine.ts'
import { keys, type OrganizationScope, tenantKeys, tenantPart } from '../organizations/organization-keys.ts'
import type { OrganizationStore } from '../organizations/organization-store.ts'
import { type ListPage, listEntries, type PageRange } from '../store/list-page.ts'
import { type Transaction, TransactionRunner } from '../store/transaction.ts'
import { type DeletionRecord, deletionRecordType, deletionScope, readDeletion } from './deletion-record.ts'
import { type RemovalTask, removalJob } from './removal-task.ts'

/** Stores the records of deletions in the partition of their tenant. */
export class DeletionStore {
  readonly #store: OrganizationStore
  readonly #transactions: TransactionRunner

  constructor(kv: Kv, store: OrganizationStore) {
    this.#store = store
    this.#transactions = new TransactionRunner(kv)
  }

  /**
   * Adds a deletion, unless an earlier attempt has added it. Its data is deleted at `expiresAt`. Returns the scope of
   * the organization for the data.
   */
  async begin(
    tenant: Tenant,
    deletion: Omit<DeletionRecord, 'state'>,
    organization: object = {},
  ): Promise<OrganizationScope> {
    const { deletionId, organizationId, deletedAt, expiresAt } = deletion
    const scope = deletionScope(tenant, deletionId)
    await this.#store.carryOut(scope, async (transaction) => {
      const unnamed = { organizationId, organizationName: '', metadata: {} }
      const { deleting: _, ...record } = {
        deleting: true,
        ...unnamed,
        createdAt: deletedAt,
        lastUpdated: deletedAt,
        ...organization,
      }
      if ((await transaction.get(keys.organization)) === null) transaction.put(keys.organization, record)
    })
    await this.#change(tenant, async (transaction) => {
      if ((await transaction.get(tenantKeys.deletion(deletionId))) !== null) return
      transaction.put(tenantKeys.deletion(deletionId), {
        ...deletion,
        state: 'moving',
      } satisfies DeletionRecord)
      transaction.enqueue(purgeJob(scope, deletionId, expiresAt))
    })
    return scope
  }

  find(tenant: Tenant, deletionId: string): Promise<DeletionRecord | null> {
    return this.#transactions
      .reader(tenantPart(tenant))
      .get(tenantKeys.deletion(deletionId), deletionRecordType)
  }

  /** Returns a page of the deletions of a tenant, in the order of their ids. */
  async list(tenant: Tenant, range: PageRange): Promise<ListPage<DeletionRecord>> {
    const reader = this.#transactions.reader(tenantPart(tenant))
    const { items, next } = await listEntries(reader, tenantKeys.deletions, range)
    return { items: items.map(readDeletion), next }
  }

  /** Deletes the data of the oldest of more than `max` deletions whose ids start with `start`. */
  async deleteOldest(tenant: Tenant, start: string, max: number): Promise<void> {
    const kept: DeletionRecord[] = []
    for (let after: string | null = start; after !== null; ) {
      const { items, next }: ListPage<DeletionRecord> = await this.list(tenant, { after, limit: max })
      const own = items.filter(({ deletionId }) => deletionId.startsWith(start))
      kept.push(...own.filter(({ state }) => state === 'kept'))
      after = own.length < items.length ? null : next
    }
    kept.sort((a, b) => b.deletedAt - a.deletedAt)
    for (const { deletionId } of kept.slice(max)) {
      const task = { kind: 'purge', scope: deletionScope(tenant, deletionId) } as const
      const change = { state: 'purging' } as const
      await this.update(tenant, deletionId, ['kept'], change, { jobId: `oldest.${deletionId}`, task })
    }
  }

  /**
   * Changes a deletion if it has one of the states `from`. Returns the record before; null if it has another state, or
   * if there is none.
   * @param task task to enqueue with the change
   */
  update(
    tenant: Tenant,
    deletionId: string,
    from: readonly DeletionRecord['state'][],
    change: Partial<DeletionRecord>,
    task?: { readonly jobId: string; readonly task: RemovalTask },
  ): Promise<DeletionRecord | null> {
    return this.#change(tenant, async (transaction) => {
      const key = tenantKeys.deletion(deletionId)
      const record = await transaction.get(key, deletionRecordType)
      if (record === null || !from.includes(record.state)) return null
      const { problem: _, ...before } = record
      const next = { ...before, ...change }
      transaction.put(key, next)
      if (task !== undefined) transaction.enqueue(removalJob(task.jobId, task.task))
      else if (next.state === 'kept')
        transaction.enqueue(purgeJob(deletionScope(tenant, deletionId), deletionId, next.expiresAt))
      return record
    })
  }

  /** Removes the record of a deletion whose data is gone. */
  async forget(tenant: Tenant, deletionId: string): Promise<void> {
    await this.#change(tenant, async (transaction) => transaction.delete(tenantKeys.deletion(deletionId)))
  }

  #change<T>(tenant: Tenant, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transactions.run(tenantPart(tenant), work)
  }
}

const purgeJob = (scope: OrganizationScope, deletionId: string, at: number) => ({
  ...removalJob(`purge.${deletionId}`, { kind: 'purge', scope }),
  at,
})
