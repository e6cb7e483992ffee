import type { Clock } from '../clock.ts'
import type { OrganizationAddress, Tenant } from '../model/address.ts'
import type { ActivityEvent } from './activity.ts'
import { putNewActivities, writeActivities } from './activity-store.ts'
import { EventIds, type EventType, eventJob, type OutboundEvent, queuedEvent } from './outbound-event.ts'
import type { PartitionWriter } from './partition.ts'

/** Something that has happened: what is kept of it, and what is told of it outside. */
export interface DomainEvent {
  readonly activity: ActivityEvent | null
  readonly outbound: OutboundEvent | null
}

/** Whether anybody outside wants to be told of events of a type; true where that is not known. */
export type HasSubscriber = (tenant: Tenant, type: EventType) => boolean

/** The one door for what has happened: activities and jobs are written with their cause, in its transaction. */
export class EventRecorder {
  readonly #clock: Clock
  readonly #wanted: HasSubscriber
  readonly #ids = new EventIds()

  constructor(clock: Clock, wanted: HasSubscriber) {
    this.#clock = clock
    this.#wanted = wanted
  }

  /** Is it worth while to make an event of a type? */
  wants(tenant: Tenant, type: EventType): boolean {
    return this.#wanted(tenant, type)
  }

  /**
   * Records what has happened in an organization. To be called once in a transaction, so that activities of the same
   * time keep the order given.
   */
  async record(
    transaction: PartitionWriter,
    scope: OrganizationAddress,
    occurrences: readonly DomainEvent[],
  ): Promise<void> {
    await writeActivities(transaction, activitiesOf(occurrences), this.#clock.now())
    this.#tell(transaction, scope, occurrences)
  }

  /** Like `record`, where the ids of all activities have just been made. */
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
