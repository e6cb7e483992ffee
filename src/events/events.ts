import type { Clock } from '../clock.ts'
import type { OrganizationAddress, Tenant } from '../model/address.ts'
import type { ActivityEvent } from './activity.ts'
import { type EventType, eventJob, type OutboundEvent } from './outbound.ts'
import type { PartitionWriter } from './partition.ts'
import { putNewActivities, writeActivities } from './record.ts'

/** Something that has happened: what is kept of it, and what is told of it outside. */
export interface Occurrence {
  readonly activity: ActivityEvent | null
  readonly outbound: OutboundEvent | null
}

/** Whether anybody outside wants to be told of events of a type; true where that is not known. */
export type Wanted = (tenant: Tenant, type: EventType) => boolean

/** The one door for what has happened: activities and jobs are written with their cause, in its transaction. */
export class Events {
  readonly #clock: Clock
  readonly #wanted: Wanted

  constructor(clock: Clock, wanted: Wanted) {
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
    occurrences: readonly Occurrence[],
  ): Promise<void> {
    await writeActivities(transaction, activitiesOf(occurrences), this.#clock.now())
    this.#tell(transaction, scope, occurrences)
  }

  /** Like `record`, where the ids of all activities have just been made. */
  recordNew(
    transaction: PartitionWriter,
    scope: OrganizationAddress,
    occurrences: readonly Occurrence[],
  ): void {
    putNewActivities(transaction, activitiesOf(occurrences), this.#clock.now())
    this.#tell(transaction, scope, occurrences)
  }

  #tell(transaction: PartitionWriter, scope: OrganizationAddress, occurrences: readonly Occurrence[]): void {
    for (const { outbound } of occurrences)
      if (outbound !== null && this.#wanted(scope, outbound.type))
        transaction.enqueue(eventJob(scope, outbound, this.#clock.now()))
  }
}

const activitiesOf = (occurrences: readonly Occurrence[]): readonly ActivityEvent[] =>
  occurrences.flatMap(({ activity }) => activity ?? [])
