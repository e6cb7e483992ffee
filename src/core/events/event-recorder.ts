import type { Clock } from '../base/clock.ts'
import { currentTrace } from '../base/current-trace.ts'
import type { TraceContext } from '../base/trace-context.ts'
import type { OrganizationAddress, Tenant } from '../model/address.ts'
import type { Tracer } from '../tracing/trace.ts'
import type { ActivityEvent } from './activity.ts'
import { putNewActivities, writeActivities } from './activity-store.ts'
import { traceEvent } from './event-trace.ts'
import {
  EventIds,
  type EventType,
  eventJob,
  type OutboundEvent,
  type QueuedEvent,
  queuedEvent,
} from './outbound-event.ts'
import type { PartitionWriter } from './partition.ts'

/** An occurrence in the system: the activity to store, and the event for external receivers. */
export interface DomainEvent {
  readonly activity: ActivityEvent | null
  readonly outbound: OutboundEvent | null
  /**
   * Trace of the call that caused the event; null if there was none. Give it if the event is recorded outside this
   * call. Default: the trace of the current call.
   */
  readonly trace?: TraceContext | null
}

/**
 * Returns whether an external receiver has subscribed to events of a type. Returns true if the subscriptions
 * are unknown.
 */
export type HasSubscriber = (tenant: Tenant, type: EventType) => boolean

/**
 * Records events. Only this class writes activities and event jobs. It writes them in the transaction of the
 * change that caused them.
 */
export class EventRecorder {
  readonly #clock: Clock
  readonly #wanted: HasSubscriber
  readonly #ids = new EventIds()
  readonly #tracer: Tracer | undefined
  readonly #only: Pick<QueuedEvent, 'only'>

  /**
   * Creates the recorder.
   * @param tracer traces the events; undefined if events are not traced
   * @param only receivers of all its events, see `QueuedEvent`
   */
  constructor(clock: Clock, wanted: HasSubscriber, tracer?: Tracer, only: Pick<QueuedEvent, 'only'> = {}) {
    this.#clock = clock
    this.#wanted = wanted
    this.#tracer = tracer
    this.#only = only
  }

  /** Returns the id of an event that the caller adds itself. */
  nextId(): string {
    return this.#ids.next(this.#clock.now())
  }

  /** Returns whether a receiver needs events of a type. */
  wants(tenant: Tenant, type: EventType): boolean {
    return this.#wanted(tenant, type)
  }

  /**
   * Records events of an organization. Call it only once in each transaction, so that activities with the
   * same time keep the given order.
   */
  async record(
    transaction: PartitionWriter,
    scope: OrganizationAddress,
    occurrences: readonly DomainEvent[],
  ): Promise<void> {
    await writeActivities(transaction, activitiesOf(occurrences), this.#clock.now())
    this.#tell(transaction, scope, occurrences)
  }

  /** Like `record`, but does not read existing activities: all activity ids must have just been generated. */
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
    const current = currentTrace()?.context ?? null
    for (const { outbound, trace = current } of occurrences) {
      if (outbound === null) continue
      if (!this.#wanted(scope, outbound.type)) {
        traceEvent(this.#tracer, 'event_skipped', { ...outbound, scope })
        continue
      }
      const event = { ...queuedEvent(scope, outbound, { id: this.#ids.next(at), at, trace }), ...this.#only }
      traceEvent(this.#tracer, 'event_created', event)
      transaction.enqueue(eventJob(event))
    }
  }
}

const activitiesOf = (occurrences: readonly DomainEvent[]): readonly ActivityEvent[] =>
  occurrences.flatMap(({ activity }) => activity ?? [])
