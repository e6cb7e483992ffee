import { randomUUID } from 'node:crypto'
import { endsWithin } from '../../core/base/clock.ts'
import { tenantPart } from '../../core/directory/organizations/organization-keys.ts'
import { organizationOf } from '../../core/directory/organizations/organization-store.ts'
import type { ListPage, PageRange } from '../../core/directory/store/list-page.ts'
import { TransactionRunner } from '../../core/directory/store/transaction.ts'
import type { UserDataScope, UserDatum } from '../../core/directory/user-data/user-data-source.ts'
import { TaskWorker } from '../../core/jobs/task-worker.ts'
import type { Kv } from '../../core/store/engine.ts'
import type { Services } from '../../rest/services.ts'
import {
  type ErasureRecord,
  type ErasureTask,
  ErasureTaskRunner,
  erasureJob,
  erasureKey,
  erasureQueue,
  erasureRecordType,
  erasureTaskSchema,
} from './erasure-task.ts'
import { listUserData } from './listing.ts'

/** Maximum time in ms for which a call waits for the end of the erasure that it has started. */
const waitMs = 5_000
/**
 * Maximum time in ms between two erasures whose numbers are added (30 days). If the next erasure starts
 * within this time after the end of the previous one, it adds its numbers to those of the previous one.
 */
const countedTogetherMs = 2_592_000_000

/** Progress or result of an erasure. `removed` includes sources without erased items. */
type ErasureReport = Pick<ErasureRecord, 'status' | 'removed' | 'startedAt' | 'endedAt'>

type ErasureServices = Pick<
  Services,
  'engine' | 'store' | 'revocations' | 'userDataSources' | 'clock' | 'log'
>

/** Exports and erases all stored data of one user. */
export class UserDataService {
  readonly #kv: Kv
  readonly #services: ErasureServices
  readonly #transactions: TransactionRunner
  /** Runs the erasures. An erasure that a stop has interrupted continues after the next start. */
  readonly worker: TaskWorker<ErasureTask>

  constructor(services: ErasureServices) {
    const { engine, store, userDataSources, clock, log } = services
    const { kv } = engine
    this.#kv = kv
    this.#services = services
    this.#transactions = new TransactionRunner(kv)
    this.worker = new TaskWorker({
      engine,
      clock,
      log,
      queueName: erasureQueue,
      schema: erasureTaskSchema,
      partOf: ({ place }) => tenantPart(place),
      carryOut: (task, goOn) =>
        new ErasureTaskRunner(kv, store, userDataSources, clock, task, goOn).carryOut(),
    })
  }

  /**
   * Returns a page of the stored data of a user.
   * @throws ApiError NOT_FOUND if the organization of the scope does not exist
   */
  async list(place: UserDataScope, userId: string, range: PageRange): Promise<ListPage<UserDatum>> {
    await this.#checkPlace(place)
    return listUserData(this.#kv, this.#services.userDataSources, place, userId, range)
  }

  /**
   * Revokes the tokens of a user, and erases the stored data of the user. Resolves with the report when the
   * erasure has ended, and at the latest after `waitMs`; the erasure then continues in the background. If an
   * erasure was already running, resolves immediately.
   * @throws ApiError NOT_FOUND if the organization of the scope does not exist; or the error of a failed
   * attempt, which is retried
   */
  async erase(place: UserDataScope, userId: string): Promise<ErasureReport> {
    const { revocations, clock } = this.#services
    await this.#checkPlace(place)
    if ((await this.#recordOf(place, userId))?.status !== 'running') {
      await revocations.revoke(place, userId)
      const jobId = randomUUID()
      const done = this.worker.expect(jobId)
      try {
        const begun = await this.#begin({ jobId, place, userId })
        this.worker.checkRunning()
        this.worker.wake()
        if (begun === 'here') await endsWithin(clock, waitMs, done)
      } finally {
        this.worker.forget(jobId)
      }
    }
    return this.#reportOf(place, userId)
  }

  async #checkPlace({ organizationId, ...tenant }: UserDataScope): Promise<void> {
    if (organizationId !== null)
      await organizationOf(this.#services.store.read({ ...tenant, organizationId }))
  }

  /** Starts an erasure. Returns `elsewhere` if another call or process has started one meanwhile. */
  async #begin(task: ErasureTask): Promise<'here' | 'elsewhere'> {
    const { place, userId, jobId } = task
    const now = this.#services.clock.now()
    return this.#transactions.run(tenantPart(place), async (transaction) => {
      const earlier = await transaction.get(erasureKey(place, userId), erasureRecordType)
      if (earlier?.status === 'running') return 'elsewhere'
      const isRecent = earlier !== null && now - (earlier.endedAt ?? 0) < countedTogetherMs
      const { removed, startedAt } = isRecent ? earlier : { removed: {}, startedAt: now }
      transaction.put(erasureKey(place, userId), {
        jobId,
        status: 'running',
        removed,
        startedAt,
        endedAt: null,
        doneUpTo: null,
      } satisfies ErasureRecord)
      transaction.enqueue(erasureJob(task))
      return 'here'
    })
  }

  #recordOf(place: UserDataScope, userId: string): Promise<ErasureRecord | null> {
    return this.#transactions.reader(tenantPart(place)).get(erasureKey(place, userId), erasureRecordType)
  }

  async #reportOf(place: UserDataScope, userId: string): Promise<ErasureReport> {
    const { ofTenant, ofOrganization } = this.#services.userDataSources
    const { status, removed, startedAt, endedAt } = (await this.#recordOf(place, userId)) as ErasureRecord
    const none = [...ofTenant, ...ofOrganization].map(({ name }) => [name, 0])
    return { status, removed: { ...Object.fromEntries(none), ...removed }, startedAt, endedAt }
  }
}
