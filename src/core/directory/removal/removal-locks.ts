import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '../../base/errors.ts'
import type { CheckLease } from '../../jobs/task-worker.ts'
import { keys, type OrganizationScope } from '../organizations/organization-keys.ts'
import { findOrganization, type OrganizationStore } from '../organizations/organization-store.ts'
import { emptyValue } from '../store/records.ts'
import type { RemovalTask } from './removal-task.ts'

/** Interval in ms at which `ended` checks whether the other removals have ended. */
const lookMs = 100
/**
 * Maximum number of these checks. After that, the removal fails and is retried later, because the other
 * removals may need the slot that it uses.
 */
const looksMax = 100

/**
 * Records which removals are in progress in an organization, on any node. The removal of an organization
 * waits until they have ended, because the organization must not be created again before that. If a node
 * dies, another node takes over its task and removes the record.
 */
export class RemovalLocks {
  readonly #store: OrganizationStore

  constructor(store: OrganizationStore) {
    this.#store = store
  }

  /**
   * Runs `remove`. While it runs, a record marks the removal. Does nothing if the organization is being
   * deleted, because the removal of the organization removes everything; but an earlier attempt that has begun is
   * finished first, because it may have moved a part of the data. If `remove` fails, the record is not removed.
   */
  async during(task: RemovalTask, remove: () => Promise<void>): Promise<void> {
    const key = keys.removal(nameOf(task))
    const begins = await this.#store.carryOut(task.scope, async (transaction) => {
      if ((await transaction.get(key)) !== null) return true
      const isThere = (await findOrganization(transaction)) !== null
      if (isThere) transaction.put(key, emptyValue)
      return isThere
    })
    if (begins) await remove()
    await this.#store.carryOut(task.scope, async (transaction) => transaction.delete(key))
  }

  /**
   * Waits until no removal is in progress in the organization. The organization must be marked as being
   * deleted, so that no new removal can start.
   * @throws ApiError ABORTED if the wait takes more than about 10 s
   */
  ended(scope: OrganizationScope, goOn: CheckLease): Promise<void> {
    const range = { prefix: keys.removals, limit: 1 }
    return untilRemoved(async () => (await this.#store.read(scope).scan(range)).length === 0, goOn)
  }
}

/** Waits until other removals have ended. @throws ApiError ABORTED if the wait takes more than about 10 s */
export async function untilRemoved(isEnded: () => Promise<boolean>, goOn: CheckLease): Promise<void> {
  for (let looks = 0; looks < looksMax; looks++) {
    if (await isEnded()) return
    await pause(lookMs)
    await goOn()
  }
  throw new ApiError(
    'organization/removal-in-progress',
    'something in the organization is still being removed; try again',
  )
}

/** Returns the name of a task. Every node computes the same name for the same task. */
const nameOf = (task: RemovalTask): string =>
  createHash('sha256').update(JSON.stringify(task)).digest('base64url')
