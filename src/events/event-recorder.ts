import type { Clock } from '../clock.ts'
import type { OrganizationAddress, Tenant } from '../model/address.ts'
import type { ActivityEvent } from './activity.ts'
import { putNewActivities, writeActivities } from './activity-store.ts'
import { EventIds, type EventType, eventJob, type OutboundEvent, queuedEvent } from './outbound-event.ts'
import type { PartitionWriter } from './partition.ts'

/** A thing that has happened: its stored activity, and its event for external receivers. */
export interface DomainEvent {
  readonly activity: ActivityEvent | null
  readonly outbound: OutboundEvent | null
}

/** Returns whether an external receiver wants events of a type; true if that is unknown. */
export type HasSubscriber = (tenant: Tenant, type: EventType) => boolean

/** The only place that records events: activities and jobs are written in the transaction of their cause. */
export class EventRecorder {
  readonly #clock: Clock
  readonly #wanted: HasSubscriber
  readonly #ids = new EventIds()

  constructor(clock: Clock, wanted: HasSubscriber) {
    this.#clock = clock
    this.#wanted = wanted
  }

  /** Returns whether an event of a type is needed. */
  wants(tenant: Tenant, type: EventType): boolean {
    return this.#wanted(tenant, type)
  }

  /**
   * Records events of an organization. Call it once in a transaction, so that activities of the same time
   * keep the given order.
   */
  async record(
    transaction: PartitionWriter,
    scope: OrganizationAddress,
    occurrences: readonly DomainEvent[],
  ): Promise<void> {
    await writeActivities(transaction, activitiesOf(occurrences), this.#clock.now())
    this.#tell(transaction, scope, occurrences)
  }

  /** Like `record`, if the ids of all activities have just been generated. */
  recordNew(
    transaction: PartitionWriter,
    scope: OrganizationAddress,
    occurrences: readonly DomainEvent[],
  ): void {
    putNewActivities(transaction, activitiesOf(occurrences), this.#clock.now())
    this.#tell(transaction, scope, occurrences)
  }

  #tell(transaction: PartitionWriter, scope: OrganizationAddress, occurrences: readonly DomainEvent[]): void {
    const at = this.#clock.now()
    for (const { outbound } of occurrences)
      if (outbound !== null && this.#wanted(scope, outbound.type))
        transaction.enqueue(eventJob(queuedEvent(scope, outbound, { id: this.#ids.next(at), at })))
  }
}

const activitiesOf = (occurrences: readonly DomainEvent[]): readonly ActivityEvent[] =>
  occurrences.flatMap(({ activity }) => activity ?? [])
