import { findOrganization, type OrganizationStore } from '../directory/organizations/organization-store.ts'
import { mapInSlices } from '../directory/store/batch.ts'
import { keyName } from '../engine/key-encoding.ts'
import type { QueuedEvent } from '../events/outbound-event.ts'
import type { Log } from '../log.ts'
import { type OrganizationAddress, organizationPrefix, type Tenant } from '../model/address.ts'
import { targetName } from '../subscriptions/deliveries/delivery-keys.ts'
import type { TargetAddress } from '../subscriptions/deliveries/delivery-records.ts'
import type { DeliveryRemoval } from '../subscriptions/deliveries/delivery-removal.ts'
import type { DeliveryService } from '../subscriptions/deliveries/delivery-service.ts'
import { targetIdOf, type WebhookTarget } from '../subscriptions/target.ts'

/** Bytes that are written at the same time for the events of one call: each target has its own copy. */
const bytesAtOnce = 1_048_576
/** Targets whose messages are written at the same time. */
const linesAtOnceMax = 128

export interface FanoutDependencies {
  readonly log: Log
  readonly organizations: OrganizationStore
  readonly deliveries: DeliveryService
  readonly removal: DeliveryRemoval
  readonly subscriptions: { targetsOf(tenant: Tenant, event: QueuedEvent): Promise<readonly WebhookTarget[]> }
}

/** What one target is to be told of. */
interface EventsOfTarget {
  readonly address: TargetAddress
  readonly events: QueuedEvent[]
}

/** Makes messages of events: one for each target that is to be told. */
export class Fanout {
  readonly #parts: FanoutDependencies

  constructor(parts: FanoutDependencies) {
    this.#parts = parts
  }

  /**
   * What comes again after a crash in the middle is in its place already. Answers the events for which that has failed.
   * @param bytes of the messages of one target, roughly
   */
  async tell(events: readonly QueuedEvent[], bytes: number): Promise<ReadonlySet<QueuedEvent>> {
    const failed = new Set<QueuedEvent>()
    const lines = await this.#linesOf(events, failed)
    const linesAtOnce = Math.min(linesAtOnceMax, Math.floor(bytesAtOnce / bytes))
    await mapInSlices(lines, (line) => this.#enqueue(line, failed), Math.max(1, linesAtOnce))
    await this.#forgetGone(events, lines)
    return failed
  }

  async #enqueue({ address, events }: EventsOfTarget, failed: Set<QueuedEvent>): Promise<void> {
    try {
      await this.#parts.deliveries.enqueue(address, events)
    } catch (err) {
      this.#parts.log.warn({ err }, 'events could not be enqueued for a target; it is tried again')
      for (const event of events) failed.add(event)
    }
  }

  /** In the order of the events. @param failed gets those of which it cannot be said whom to tell */
  async #linesOf(
    events: readonly QueuedEvent[],
    failed: Set<QueuedEvent>,
  ): Promise<readonly EventsOfTarget[]> {
    const lines = new Map<string, EventsOfTarget>()
    for (const event of events) {
      const { workspaceId, apiKey } = event.scope
      for (const target of await this.#targetsOf(event, failed)) {
        const address = { workspaceId, apiKey, targetId: targetIdOf(target) }
        const name = targetName(address)
        const line = lines.get(name) ?? { address, events: [] }
        line.events.push(event)
        lines.set(name, line)
      }
    }
    return [...lines.values()]
  }

  async #targetsOf(event: QueuedEvent, failed: Set<QueuedEvent>): Promise<readonly WebhookTarget[]> {
    const { workspaceId, apiKey } = event.scope
    try {
      return await this.#parts.subscriptions.targetsOf({ workspaceId, apiKey }, event)
    } catch (err) {
      this.#parts.log.warn({ err, workspaceId }, 'nobody can say whom to tell of an event; it is tried again')
      failed.add(event)
      return []
    }
  }

  /** An organization is another partition: if its removal has begun meanwhile, it may not have seen the messages. */
  async #forgetGone(events: readonly QueuedEvent[], lines: readonly EventsOfTarget[]): Promise<void> {
    const scopes = new Map(events.map(({ scope }) => [keyName(organizationPrefix(scope)), scope]))
    await mapInSlices([...scopes.values()], async (scope) => {
      if ((await findOrganization(this.#parts.organizations.read(scope))) !== null) return
      await this.#parts.removal.forget(scope, targetsIn(scope, lines), async () => {})
    })
  }
}

const targetsIn = (
  { workspaceId, apiKey }: OrganizationAddress,
  lines: readonly EventsOfTarget[],
): readonly string[] =>
  lines
    .map(({ address }) => address)
    .filter((address) => address.workspaceId === workspaceId && address.apiKey === apiKey)
    .map(({ targetId }) => targetId)
