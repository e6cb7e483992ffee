import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../../core/base/log.ts'
import { findOrganization } from '../../../core/directory/organizations/organization-store.ts'
import { mapInSlices } from '../../../core/directory/store/batch.ts'
import { traceEvent } from '../../../core/events/event-trace.ts'
import type { EventType, QueuedEvent } from '../../../core/events/outbound-event.ts'
import { organizationPrefix, type Tenant } from '../../../core/model/address.ts'
import { StoreUnavailableError } from '../../../core/store/engine.ts'
import { keyName } from '../../../core/store/key-encoding.ts'
import type { Services } from '../../../rest/services.ts'
import type { TargetAddress } from '../deliveries/delivery-records.ts'
import type { WebhookTarget } from '../target.ts'
import { type AdvancedPayload, advancedPayload } from './payload.ts'

/** Value of `event` in log lines about events that the server will dispatch again. */
export const dispatchFailed = 'webhook.dispatch_failed'
/** Maximum bytes of messages that one batch writes concurrently. Each target has its own copy of an event. */
const bytesAtOnce = 1_048_576
/** Maximum number of targets whose messages are written concurrently. */
const linesAtOnceMax = 128

/** What the fan-out uses. */
interface FanoutServices
  extends Pick<
    Services,
    'log' | 'tracer' | 'store' | 'deliveries' | 'deliveryStore' | 'subscriptions' | 'listeners'
  > {
  /** Adds events of an API key to its change feed, if the feed is on. A repeated call adds nothing. */
  readonly feed: { readonly writer: Pick<Services['feed']['writer'], 'append'> }
}

/**
 * Number of attempts to add events to the feed, and the pause in ms between them. Attempts that fail because the
 * store is unavailable do not count. Until the last attempt, the next events of the API key wait, so that the feed
 * keeps the order.
 */
const feedAttempts = { max: 4, pauseMs: 500 }

interface EventsOfTarget {
  readonly address: TargetAddress
  readonly target: WebhookTarget
  readonly events: QueuedEvent[]
}

/** Adds events to the change feed, and creates messages for them, one for each target that wants the event. */
export class Fanout {
  readonly #services: FanoutServices

  constructor(services: FanoutServices) {
    this.#services = services
  }

  /**
   * Adds the given events of one API key to its feed, and creates their messages for all their targets. Returns
   * the events that failed. The call may be repeated after a crash, because stored messages and events of the
   * feed stay unchanged.
   * @param bytes estimated bytes of the messages of one target
   * @param isStopped returns whether the call must end soon
   */
  async tell(
    events: readonly QueuedEvent[],
    bytes: number,
    isStopped: () => boolean,
  ): Promise<ReadonlySet<QueuedEvent>> {
    const failed = new Set<QueuedEvent>()
    const [first] = events
    if (first === undefined) return failed
    const { workspaceId, apiKey } = first.scope
    const tenant = { workspaceId, apiKey }
    await this.#appendToFeed(tenant, events, failed, isStopped)
    const lines = await this.#linesOf(tenant, events, failed)
    const linesAtOnce = Math.min(linesAtOnceMax, Math.floor(bytesAtOnce / bytes))
    await mapInSlices(lines, (line) => this.#enqueue(line, failed), Math.max(1, linesAtOnce))
    await this.#forgetGone(events, lines)
    for (const event of events) if (!failed.has(event)) this.#services.listeners.notify(event)
    return failed
  }

  async #appendToFeed(
    tenant: Tenant,
    events: readonly QueuedEvent[],
    failed: Set<QueuedEvent>,
    isStopped: () => boolean,
  ): Promise<void> {
    const { feed, log } = this.#services
    for (let failures = 0; failures < feedAttempts.max && !isStopped(); await pause(feedAttempts.pauseMs)) {
      try {
        return await feed.writer.append(tenant, events)
      } catch (err) {
        const { workspaceId } = tenant
        log.warn({ event: dispatchFailed, err, workspaceId }, 'could not add events to a feed; retrying')
        if (!(err instanceof StoreUnavailableError)) failures += 1
      }
    }
    for (const event of events) failed.add(event)
  }

  async #enqueue({ address, target, events }: EventsOfTarget, failed: Set<QueuedEvent>): Promise<void> {
    try {
      const { deliveries } = this.#services
      if (target.kind === 'store')
        await deliveries.enqueueStore(address, events, target.callback.minSeconds * 1000)
      else await deliveries.enqueue(address, events)
    } catch (err) {
      this.#services.log.warn(
        { event: dispatchFailed, err },
        'could not enqueue events for a target; retrying',
      )
      for (const event of events) failed.add(event)
    }
  }

  /**
   * Groups the events by target; keeps their order.
   * @param failed receives the events whose targets could not be read
   */
  async #linesOf(
    tenant: Tenant,
    events: readonly QueuedEvent[],
    failed: Set<QueuedEvent>,
  ): Promise<readonly EventsOfTarget[]> {
    const { subscriptions, tracer, log } = this.#services
    const lines = new Map<string, EventsOfTarget>()
    for (const event of events) {
      const targets = await subscriptions.targetsOf(tenant, event).catch((err: unknown) => {
        const { workspaceId } = tenant
        log.warn({ event: dispatchFailed, err, workspaceId }, 'could not resolve webhook targets; retrying')
        failed.add(event)
        return []
      })
      traceEvent(tracer, 'event_dispatched', event, { targets: targets.map(({ id }) => id) })
      for (const target of targets) {
        const address = { ...tenant, targetId: target.id }
        const line = lines.get(target.id) ?? { address, target, events: [] }
        line.events.push(event)
        lines.set(target.id, line)
      }
    }
    return [...lines.values()]
  }

  /**
   * Deletes the messages of organizations that no longer exist. An organization and its messages are in
   * different partitions. The removal of an organization may therefore have run before these messages were
   * stored, without finding them.
   */
  async #forgetGone(events: readonly QueuedEvent[], lines: readonly EventsOfTarget[]): Promise<void> {
    const targetIds = lines.map(({ target }) => target.id)
    const scopes = new Map(events.map(({ scope }) => [keyName(organizationPrefix(scope)), scope]))
    await mapInSlices([...scopes.values()], async (scope) => {
      if ((await findOrganization(this.#services.store.read(scope))) !== null) return
      await this.#services.deliveryStore.forget(scope, targetIds, async () => {})
    })
  }
}

/** Receives the events of one type. A promise that rejects is logged, like an error that is thrown. */
type EventListenerFunction = (event: AdvancedPayload) => unknown

/**
 * Functions of this process that get events, in the form in which endpoints of webhooks get them. A listener gets
 * the events of all API keys. In a cluster, one node gets each event. An event is repeated if the process ends
 * before the event is recorded as sent.
 */
export class EventListeners {
  readonly #listeners = new Map<EventType, Set<EventListenerFunction>>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  /** Adds a listener. Returns the function that removes the listener. */
  on(type: EventType, listener: EventListenerFunction): () => void {
    const added: EventListenerFunction = (event) => listener(event)
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners.add(added))
    return () => {
      listeners.delete(added)
    }
  }

  /** Returns whether there is a listener for a type of events. */
  wants(type: EventType): boolean {
    return (this.#listeners.get(type)?.size ?? 0) > 0
  }

  /** Calls the listeners of an event. Does not wait for their promises. */
  notify(event: QueuedEvent): void {
    if (event.only !== undefined || !this.wants(event.type)) return
    const payload = advancedPayload({ webhookId: event.id, event, detail: 'whole' })
    for (const listener of this.#listeners.get(event.type) ?? []) void this.#call(listener, payload)
  }

  async #call(listener: EventListenerFunction, payload: AdvancedPayload): Promise<void> {
    try {
      await listener(payload)
    } catch (err) {
      this.#log.error({ event: 'listener.failed', err, type: payload.event }, 'a listener of events failed')
    }
  }
}
