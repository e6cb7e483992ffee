import type { Clock } from '../clock.ts'
import type { OrganizationStore } from '../directory/organization-store.ts'
import type { Engine } from '../engine/engine.ts'
import { EventIds } from '../events/outbound.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { isGone } from '../subscriptions/delivery-targets.ts'
import type { Subscribing } from '../subscriptions/subscribing.ts'
import { Attempts } from './attempt.ts'
import { Composer } from './compose.ts'
import type { Destinations } from './destination.ts'
import { Dispatcher } from './dispatcher.ts'
import { CommentRecipients, type Participants } from './recipients.ts'
import { type Schedule, usualSchedule } from './schedule.ts'
import { Worker } from './worker.ts'

export interface WebhooksParts extends Subscribing {
  readonly engine: Pick<Engine, 'kv' | 'bus' | 'queue' | 'cluster'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly organizations: OrganizationStore
  readonly participants: Participants
  readonly destinations: Destinations
  /** How long what has been told stays in the log of its target. */
  readonly keepMs: number
  readonly schedule?: Schedule
}

/** Tells receivers outside of what has happened. */
export class Webhooks {
  readonly #dispatcher: Dispatcher
  readonly #worker: Worker

  constructor(parts: WebhooksParts) {
    const { engine, clock, subscriptions, endpoints, schedule = usualSchedule } = parts
    const { kv, bus, queue, cluster } = engine
    const shared = { ...parts, bus, queue, cluster, removal: parts.deliveryRemoval }
    const composer = new Composer(new CommentRecipients(parts.organizations, parts.participants))
    const attempts = new Attempts({ destinations: parts.destinations, clock })
    this.#dispatcher = new Dispatcher(shared)
    this.#worker = new Worker({
      ...shared,
      schedule,
      ids: new EventIds(),
      random: Math.random,
      compose: (target, due, now) => composer.compose(target, due, now),
      attempt: (delivery, stop) => attempts.make(delivery, stop),
      isGone: (address) => isGone(kv, address),
      wanted: (tenant, type) => subscriptions.wanted(tenant, type),
      targetOf: (tenant, targetId) => subscriptions.targetOf(tenant, targetId),
      disable: (tenant, endpointId, by) => endpoints.disable(tenant, endpointId, by),
    })
  }

  start(): void {
    this.#dispatcher.start()
    this.#worker.start()
  }

  /** Resolves when nothing is told any more. Attempts under way may take `graceMs`; what is left goes on at the next start. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#dispatcher.stop(), this.#worker.stop(graceMs)])
  }
}
