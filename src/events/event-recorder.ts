import type { Clock } from '../clock.ts'
import type { OrganizationAddress, Tenant } from '../model/address.ts'
import type { Tracer } from '../trace.ts'
import type { ActivityEvent } from './activity.ts'
import { putNewActivities, writeActivities } from './activity-store.ts'
import { traceEvent } from './event-trace.ts'
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
  readonly #tracer: Tracer | undefined

  /** @param tracer undefined: nothing is traced */
  constructor(clock: Clock, wanted: HasSubscriber, tracer?: Tracer) {
    this.#clock = clock
    this.#wanted = wanted
    this.#tracer = tracer
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
    for (const { outbound } of occurrences) {
      if (outbound === null) continue
      if (!this.#wanted(scope, outbound.type)) {
        traceEvent(this.#tracer, 'event_skipped', { ...outbound, scope })
        continue
      }
      const event = queuedEvent(scope, outbound, { id: this.#ids.next(at), at })
      traceEvent(this.#tracer, 'event_created', event)
      transaction.enqueue(eventJob(event))
    }
  }
}

const activitiesOf = (occurrences: readonly DomainEvent[]): readonly ActivityEvent[] =>
  occurrences.flatMap(({ activity }) => activity ?? [])
