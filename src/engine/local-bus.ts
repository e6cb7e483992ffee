import type { Bus, BusListener } from './engine.ts'

/**
 * The bus of a single process. It delivers a message after the call that published it has returned, in order.
 * It loses nothing, so `onLoss` listeners are never called. If a listener throws, that is the fault of its
 * owner, and the error surfaces as such.
 */
export class LocalBus implements Bus {
  readonly isConnected = true
  readonly #topics = new Map<string, Set<Subscription>>()

  publish(topic: string, message: Uint8Array): void {
    if (this.#topics.has(topic)) queueMicrotask(() => this.#deliver(topic, message))
  }

  /**
   * Delivers a message of another process, which may be the cause if a listener throws. Then `failed` gets
   * the error, and the other listeners still get the message.
   */
  hear(topic: string, message: Uint8Array, failed: (error: unknown) => void): void {
    this.#deliver(topic, message, failed)
  }

  subscribe(topic: string, listener: BusListener): () => void {
    const subscription: Subscription = { listener }
    const subscriptions = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, subscriptions.add(subscription))
    return () => {
      subscriptions.delete(subscription)
      if (subscriptions.size === 0 && this.#topics.get(topic) === subscriptions) this.#topics.delete(topic)
    }
  }

  onLoss(): () => void {
    return () => undefined
  }

  async flushed(): Promise<void> {
    // A subscription takes effect immediately.
  }

  /** Iterates over a copy of the list, because listeners may be added and removed meanwhile. */
  #deliver(topic: string, message: Uint8Array, failed = surface): void {
    for (const { listener } of Array.from(this.#topics.get(topic) ?? [])) {
      try {
        listener(message)
      } catch (error) {
        failed(error)
      }
    }
  }
}

function surface(error: unknown): void {
  throw error
}

/** A separate object, so that one function may subscribe twice. */
interface Subscription {
  readonly listener: BusListener
}
