import { orderAt } from '../../../core/events/outbound-event.ts'
import type { CheckLease } from '../../../core/jobs/task-worker.ts'
import type { OrganizationAddress } from '../../../core/model/address.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'
import { subscriptionLimits } from '../limits.ts'
import { basicTargetIds, fixedTargetIds, subscriptionKeys, subscriptionsPart } from '../webhook-records.ts'
import { deliveriesPart, deliveryKeys as keys } from './delivery-keys.ts'
import { type MessageRecord, messageIdStart, type TargetAddress } from './delivery-records.ts'
import type { DeliveryChange, DeliveryStore } from './delivery-store.ts'

/** Maximum number of messages that one commit removes. */
const messagesAtOnce = 200
/** Maximum number of keys that one commit removes. */
const keysAtOnce = 500

/** Removes messages of targets. Each commit is limited in size. `goOn` is called after each one. */
export class DeliveryRemoval {
  readonly #store: DeliveryStore

  constructor(store: DeliveryStore) {
    this.#store = store
  }

  /**
   * Removes the succeeded and failed messages whose events are older than `before` (epoch milliseconds).
   * Returns whether the target still has messages.
   */
  async sweep(address: TargetAddress, before: number, goOn: CheckLease): Promise<boolean> {
    const end = messageIdStart + orderAt(before)
    for (const status of ['succeeded', 'failed'] as const)
      await this.#removeAll(address, goOn, async (change) => {
        const oldest = await change.first(status, messagesAtOnce)
        return oldest.filter(({ id }) => id < end)
      })
    return (await this.#store.read(address).scan({ prefix: keys.messages, limit: 1 })).length > 0
  }

  /**
   * Returns whether the messages of a target that is off must be removed. This is so for a deleted endpoint, whose id
   * is never used again, and for the callback `store`.
   */
  async isTargetRemoved({ targetId, ...tenant }: TargetAddress): Promise<boolean> {
    if (basicTargetIds.includes(targetId)) return false
    const [endpoint] = await this.#store.kv.get(subscriptionsPart(tenant), [
      subscriptionKeys.endpoint(targetId),
    ])
    return endpoint === null
  }

  /** Removes all records of a deleted target. */
  async purge(address: TargetAddress, goOn: CheckLease): Promise<void> {
    const { kv } = this.#store
    const part = deliveriesPart(address)
    for (;;) {
      const entries = await kv.scan(part, { limit: keysAtOnce })
      if (entries.length === 0) return
      await kv.commit(part, { dels: entries.map(({ key }) => key) })
      await goOn()
    }
  }

  /** Removes the messages of all targets, also of inactive ones, for events of an organization; see `forget`. */
  async forgetOrganization(scope: OrganizationAddress, goOn: CheckLease): Promise<void> {
    const range = { prefix: subscriptionKeys.endpoints, limit: subscriptionLimits.endpoints }
    const entries = await this.#store.kv.scan(subscriptionsPart(scope), range)
    await this.forget(scope, [...fixedTargetIds, ...entries.map(({ key }) => lastSegment(key))], goOn)
  }

  /**
   * Removes all messages for events of an organization. Pending messages are also removed, because no event
   * of a deleted organization is sent.
   */
  async forget(
    { workspaceId, apiKey, organizationId }: OrganizationAddress,
    targetIds: readonly string[],
    goOn: CheckLease,
  ): Promise<void> {
    for (const targetId of targetIds)
      await this.#removeAll({ workspaceId, apiKey, targetId }, goOn, (change) =>
        change.ofOrganization(organizationId, messagesAtOnce),
      )
  }

  /** @param next returns at most `messagesAtOnce` of the messages to remove; fewer if no more remain */
  async #removeAll(
    address: TargetAddress,
    goOn: CheckLease,
    next: (change: DeliveryChange) => Promise<readonly MessageRecord[]>,
  ): Promise<void> {
    const removeSome = () =>
      this.#store.change(address, async (change) => {
        const messages = await next(change)
        for (const message of messages) change.remove(message)
        return messages.length === messagesAtOnce
      })
    while (await removeSome()) await goOn()
  }
}
