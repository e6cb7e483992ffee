import type { Bus, BusListener } from './engine.ts'

/**
 * The bus of a single process. A message is delivered after the call that published it has returned, in order;
 * nothing is lost, so `onLoss` never calls. A listener that throws is the fault of its owner and surfaces as such.
 */
export class LocalBus implements Bus {
  readonly isConnected = true
  readonly #topics = new Map<string, Set<Subscription>>()

  publish(topic: string, message: Uint8Array): void {
    if (this.#topics.has(topic)) queueMicrotask(() => this.#deliver(topic, message))
  }

  /**
   * As they come from another process, whose fault it may be when a listener throws: then `failed` is told, and the other
   * listeners hear it all the same.
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
    // Whoever subscribes is heard of at once.
  }

  /** Hands a copy of the list out, so that listeners may come and go meanwhile. */
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

/** An object of its own, so that one function may subscribe twice. */
interface Subscription {
  readonly listener: BusListener
}
