import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '../../errors.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import { keys, type OrganizationScope } from '../organizations/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../organizations/organization-store.ts'
import { emptyValue } from '../store/records.ts'
import type { RemovalTask } from './removal-task.ts'

/** How often it is looked whether others have ended, in ms. */
const lookMs = 100
/** So often; then it is tried again later: those who are waited for may need the place. */
const looksMax = 100

/**
 * Marks in organizations of what is being removed there, by whatever node: an organization must not be made anew while
 * somebody still removes what it held. The mark of a node that has died goes when another one takes its task up.
 */
export class RemovalLocks {
  readonly #store: OrganizationStore

  constructor(store: OrganizationStore) {
    this.#store = store
  }

  /** Does `remove`, unless the organization is being deleted: that takes everything. What fails stays marked. */
  async during(task: RemovalTask, remove: () => Promise<void>): Promise<void> {
    const key = keys.removal(nameOf(task))
    const begins = await this.#store.carryOut(task.scope, async (transaction) => {
      const isThere = (await findOrganization(transaction)) !== null
      if (isThere) transaction.put(key, emptyValue)
      return isThere
    })
    if (begins) await remove()
    await this.#store.carryOut(task.scope, async (transaction) => transaction.delete(key))
  }

  /**
   * Resolves when nothing is removed any more in an organization that is being deleted: nothing begins there.
   * @throws ApiError ABORTED when that takes long
   */
  async ended(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    for (let looks = 0; looks < looksMax; looks++) {
      const marks = await this.#store.read(scope).scan({ prefix: keys.removals, limit: 1 })
      if (marks.length === 0) return
      await pause(lookMs)
      await goOn()
    }
    throw new ApiError(
      'organization/removal-in-progress',
      'something in the organization is still being removed; try again',
    )
  }
}

/** The same for the same task, whoever carries it out. */
const nameOf = (task: RemovalTask): string =>
  createHash('sha256').update(JSON.stringify(task)).digest('base64url')
