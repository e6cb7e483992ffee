import type { Log } from '../../../core/base/log.ts'
import type { EventType, QueuedEvent } from '../../../core/events/outbound-event.ts'
import { type AdvancedPayload, advancedPayload } from './payload.ts'

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
