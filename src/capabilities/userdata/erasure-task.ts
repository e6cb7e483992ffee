import type { Clock } from '../../core/base/clock.ts'
import * as s from '../../core/base/schema.ts'
import { markErased, userDigest } from '../../core/directory/organizations/erased-users.ts'
import {
  type OrganizationScope,
  tenantKeys,
  tenantPart,
} from '../../core/directory/organizations/organization-keys.ts'
import {
  findOrganization,
  type OrganizationStore,
} from '../../core/directory/organizations/organization-store.ts'
import { TransactionRunner } from '../../core/directory/store/transaction.ts'
import { nextOrganization, shownOrganization } from '../../core/directory/user-data/scope-organizations.ts'
import type {
  UserDataScope,
  UserDataSource,
  UserDataSourceList,
} from '../../core/directory/user-data/user-data-source.ts'
import type { CheckLease } from '../../core/jobs/task-worker.ts'
import type { Job, Key, Kv } from '../../core/store/engine.ts'

/** Queue of erasures that have been started. */
export const erasureQueue = 'erasure'

/**
 * User and scope of an erasure. The task is stored only until the erasure ends, because nothing may identify
 * the user afterwards.
 */
export interface ErasureTask {
  readonly jobId: string
  readonly place: UserDataScope
  readonly userId: string
}

/** State of an erasure. The record does not identify the user. */
export const erasureRecordType = {
  name: 'erasure',
  schema: s.object({
    jobId: s.string,
    status: s.choice(['running', 'done']),
    /** Number of erased items of each source, by the name of the source. */
    removed: s.map(s.number),
    /** Start of the first erasure whose numbers are included in `removed`, in epoch milliseconds. */
    startedAt: s.number,
    /** End of the erasure in epoch milliseconds; null while the erasure runs. */
    endedAt: s.orNull(s.number),
    /** Id of the last organization whose data is completely erased; null if there is none. */
    doneUpTo: s.orNull(s.string),
  }),
}
export type ErasureRecord = s.TypeOf<typeof erasureRecordType.schema>

/** Returns the key of an erasure's record in the partition of the tenant. */
export const erasureKey = ({ organizationId }: UserDataScope, userId: string): Key =>
  tenantKeys.erasure(userDigest(userId, organizationId))

/**
 * Creates the job of an erasure. The job is due immediately. Enqueue the job in the commit that writes the
 * record.
 */
export const erasureJob = (task: ErasureTask): Job => ({
  queue: erasureQueue,
  id: task.jobId,
  at: 0,
  payload: Buffer.from(JSON.stringify(task)),
})

export const erasureTaskSchema = s.object({
  jobId: s.string,
  place: s.object({ workspaceId: s.string, apiKey: s.string, organizationId: s.orNull(s.string) }),
  userId: s.string,
})

/**
 * Time in ms after the start of an erasure. Until then, actions of the user are recorded without the user id.
 * Revoked sockets also close within this time, because they close within a second.
 */
const settlingMs = 5_000
/**
 * Maximum number of passes over the data of an organization. Each pass erases data that was added during the
 * previous pass.
 */
const passesMax = 10
/** Minimum interval in ms between two updates of the record of an erasure. */
const noteMs = 500

/**
 * Runs one erasure in slices. Each attempt searches for all data that remains, so attempts can be repeated
 * without harm.
 */
export class ErasureTaskRunner {
  readonly #kv: Kv
  readonly #store: OrganizationStore
  readonly #traces: UserDataSourceList
  readonly #clock: Clock
  readonly #transactions: TransactionRunner
  readonly #task: ErasureTask
  readonly #goOn: CheckLease
  /** Numbers of erased items, by source, that have not been added to the record yet. */
  readonly #counts = new Map<string, number>()
  #notedAt: number

  constructor(
    kv: Kv,
    store: OrganizationStore,
    traces: UserDataSourceList,
    clock: Clock,
    task: ErasureTask,
    goOn: CheckLease,
  ) {
    this.#kv = kv
    this.#store = store
    this.#traces = traces
    this.#clock = clock
    this.#transactions = new TransactionRunner(kv)
    this.#task = task
    this.#goOn = goOn
    this.#notedAt = clock.now()
  }

  async carryOut(): Promise<void> {
    const { place, userId } = this.#task
    const record = await this.#note({})
    if (record?.status !== 'running') return
    await this.#eraseFrom(this.#traces.ofTenant, place)
    await this.#note({})
    let organizationId = await nextOrganization(this.#kv, place, record.doneUpTo)
    while (organizationId !== null) {
      await this.#eraseIn({ ...place, organizationId }, userId)
      // A restore may have moved data of the user back meanwhile.
      const shown = await shownOrganization(this.#kv, place, organizationId)
      if (shown !== null && shown !== organizationId)
        await this.#eraseIn({ ...place, organizationId: shown }, userId)
      if (this.#isNoteDue()) await this.#note({ doneUpTo: organizationId })
      await this.#goOn()
      organizationId = await nextOrganization(this.#kv, place, organizationId)
    }
    await this.#eraseFrom(this.#traces.ofTenant, place)
    await this.#note({ status: 'done', endedAt: this.#clock.now(), doneUpTo: null })
  }

  /**
   * Erases the data in one organization. Repeats the pass until no more data is found, at most `passesMax`
   * times.
   */
  async #eraseIn(scope: OrganizationScope, userId: string): Promise<void> {
    const until = this.#clock.now() + settlingMs
    await this.#store.carryOut(scope, async (transaction) => {
      if ((await findOrganization(transaction)) !== null) await markErased(transaction, userId, until)
    })
    for (let pass = 0; pass < passesMax; pass++)
      if ((await this.#eraseFrom(this.#traces.ofOrganization, scope)) === 0) return
  }

  async #eraseFrom<Place>(traces: readonly UserDataSource<Place>[], place: Place): Promise<number> {
    let sum = 0
    for (const trace of traces)
      for (let count = -1; count !== 0; await this.#goOn()) {
        count = await trace.erase(place, this.#task.userId, this.#goOn)
        sum += count
        this.#counts.set(trace.name, (this.#counts.get(trace.name) ?? 0) + count)
        if (this.#isNoteDue()) await this.#note({})
      }
    return sum
  }

  #isNoteDue(): boolean {
    return this.#clock.now() - this.#notedAt >= noteMs
  }

  /**
   * Updates the record: adds the counted numbers, and sets the members of `change`. Returns null if the
   * record belongs to another task.
   */
  async #note(change: Partial<ErasureRecord>): Promise<ErasureRecord | null> {
    const { place, userId, jobId } = this.#task
    const counts = [...this.#counts]
    this.#counts.clear()
    this.#notedAt = this.#clock.now()
    return this.#transactions.run(tenantPart(place), async (transaction) => {
      const record = await transaction.get(erasureKey(place, userId), erasureRecordType)
      if (record?.jobId !== jobId) return null
      const removed = { ...record.removed }
      for (const [name, count] of counts) removed[name] = (removed[name] ?? 0) + count
      const next = { ...record, removed, ...change }
      transaction.put(erasureKey(place, userId), next)
      return next
    })
  }
}
