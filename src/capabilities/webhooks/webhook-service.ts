import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { SpanSource } from '../../core/base/span.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { EventIds } from '../../core/events/outbound-event.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { LocalReceivers } from '../../core/outgoing/checked-sender.ts'
import type { DestinationPolicy } from '../../core/outgoing/destination-policy.ts'
import type { MemoryAccount } from '../../core/quota/memory-account.ts'
import type { Engine } from '../../core/store/engine.ts'
import type { Tracer } from '../../core/tracing/trace.ts'
import { isTargetRemoved } from '../subscriptions/deliveries/delivery-targets.ts'
import type { WebhookModule } from '../subscriptions/webhook-module.ts'
import { AttemptSender } from './delivery-attempt.ts'
import { DeliveryWorker } from './delivery-worker.ts'
import { type ContentServices, EventContentReader } from './event-content.ts'
import { EventDispatcher } from './event-dispatcher.ts'
import { FailureLog } from './failure-log.ts'
import type { FanoutDependencies } from './fanout.ts'
import { CommentRecipients, type FindParticipants } from './recipients.ts'
import { RequestComposer } from './request-composer.ts'
import { defaultSchedule, type Schedule } from './retry-schedule.ts'

interface WebhookServiceOptions extends WebhookModule {
  readonly engine: Pick<Engine, 'kv' | 'bus' | 'queue' | 'leases' | 'cluster'>
  readonly clock: Clock
  readonly log: Log
  readonly tracer?: Tracer | undefined
  /** Creates the spans of deliveries; null if no exporter is configured. */
  readonly spans: SpanSource | null
  readonly metrics: Metrics
  readonly organizations: OrganizationStore
  readonly participants: FindParticipants
  readonly editors: ContentServices
  /** Maximum bytes of the content in a payload. */
  readonly contentBytesMax: number
  /** Account of the memory for requests that receivers have not read yet. */
  readonly unread: MemoryAccount
  readonly destinations: DestinationPolicy
  readonly receivers?: LocalReceivers | undefined
  readonly feed: FanoutDependencies['feed']
  readonly listeners: FanoutDependencies['listeners']
  /** Time in ms for which sent messages are kept in the log of their target. */
  readonly keepMs: number
  readonly schedule?: Schedule
}

/** Sends events to the webhooks that API keys have configured. */
export class WebhookService {
  readonly #dispatcher: EventDispatcher
  readonly #worker: DeliveryWorker
  readonly #failures: FailureLog

  constructor(options: WebhookServiceOptions) {
    const { engine, clock, subscriptions, endpoints, schedule = defaultSchedule } = options
    const { kv, bus, queue, cluster } = engine
    const shared = { ...options, bus, queue, cluster, removal: options.deliveryRemoval }
    const composer = new RequestComposer(
      new CommentRecipients(options.organizations, options.participants),
      new EventContentReader(options.editors, options.contentBytesMax),
    )
    const { destinations, receivers, listeners } = options
    const attempts = new AttemptSender({ destinations, receivers, clock })
    this.#dispatcher = new EventDispatcher(shared)
    this.#failures = new FailureLog(options)
    options.deliveries.onDropped((address, outcome, messages) => {
      options.metrics.webhookMessages.inc({ outcome }, messages.length)
      for (const message of messages) this.#failures.dropped(address, message)
    })
    this.#worker = new DeliveryWorker({
      ...shared,
      schedule,
      ids: new EventIds(),
      random: Math.random,
      failures: this.#failures,
      compose: (target, due, now) => composer.compose(target, due, now),
      attempt: (delivery, stop) => attempts.make(delivery, stop),
      isGone: (address) => isTargetRemoved(kv, address),
      wanted: (tenant, type) => listeners.wants(type) || subscriptions.wanted(tenant, type),
      targetOf: (tenant, targetId) => subscriptions.targetOf(tenant, targetId),
      disable: (tenant, endpointId, by) => endpoints.disable(tenant, endpointId, by),
    })
  }

  start(): void {
    this.#dispatcher.start()
    this.#worker.start()
  }

  /**
   * Resolves when nothing is sent any more. Attempts in progress may take up to `graceMs`. The next start
   * continues with the remaining messages.
   */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#dispatcher.stop(), this.#worker.stop(graceMs)])
    this.#failures.end()
  }
}
