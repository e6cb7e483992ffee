import { randomUUID } from 'node:crypto'
import { memoized } from '../base/maps.ts'
import type {
  Bus,
  BusListener,
  Cluster,
  ForeignChanges,
  LeaseStore,
  NamedLease,
  NodeAddress,
  Term,
} from './engine.ts'

/** The changes of other processes in a store that no other process writes to: there are none. */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}

const onlyTerm: Promise<Term> = Promise.resolve({ bucket: 0, value: 0 })

/** A cluster with one process, which holds every document. The list of nodes never changes. */
export class SingleNode implements Cluster {
  readonly self: string
  readonly incarnation = randomUUID()
  readonly isShared = false

  constructor(self = 'local') {
    this.self = self
  }

  /**
   * Returns true only for this process. All earlier processes have ended, because otherwise this process
   * could not have opened the store.
   */
  async isAlive(incarnation: string): Promise<boolean> {
    return incarnation === this.incarnation
  }

  nodes(): readonly string[] {
    return [this.self]
  }

  others(): readonly NodeAddress[] {
    return []
  }

  listening(): void {
    // There is no other node that must be informed.
  }

  owner(): NodeAddress {
    return { id: this.self, url: null }
  }

  hold(): Promise<Term> {
    return onlyTerm
  }

  onLose(): void {
    // This process never loses a document.
  }

  on(): () => void {
    return () => undefined
  }

  async drain(): Promise<void> {
    // There is no other node that must be informed.
  }
}

/** Provides leases if no other process uses the store. These leases are neither renewed nor stored. */
export class LocalLeaseStore implements LeaseStore {
  readonly #held = new Set<string>()

  async acquire(name: string): Promise<NamedLease | null> {
    if (this.#held.has(name)) return null
    this.#held.add(name)
    const held = { isHeld: true }
    return {
      get isHeld() {
        return held.isHeld
      },
      release: async () => {
        if (held.isHeld) this.#held.delete(name)
        held.isHeld = false
      },
    }
  }
}

/**
 * The bus of a single process. It delivers messages in order. Each message is delivered after its `publish`
 * call has returned. No message is lost, so the `onLoss` listeners are never called. If a listener throws,
 * its code has a fault, and the error surfaces as an uncaught error.
 */
export class LocalBus implements Bus {
  readonly isConnected = true
  readonly #topics = new Map<string, Set<Subscription>>()

  publish(topic: string, message: Uint8Array): void {
    if (this.#topics.has(topic)) queueMicrotask(() => this.#deliver(topic, message))
  }

  /**
   * Delivers a message of another process. If a listener throws, the cause may be a malformed message. The
   * method then calls `failed` with the error, and continues with the other listeners.
   */
  hear(topic: string, message: Uint8Array, failed: (error: unknown) => void): void {
    this.#deliver(topic, message, failed)
  }

  subscribe(topic: string, listener: BusListener): () => void {
    const subscription: Subscription = { listener }
    const subscriptions = memoized(this.#topics, topic, () => new Set<Subscription>()).add(subscription)
    return () => {
      subscriptions.delete(subscription)
      if (subscriptions.size === 0 && this.#topics.get(topic) === subscriptions) this.#topics.delete(topic)
    }
  }

  onLoss(): () => void {
    return () => undefined
  }

  /**
   * Calls the listeners of a topic. Iterates over a copy of the list, because a listener may add or remove
   * listeners.
   */
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

/** Object that represents one subscription, so that the same function can be subscribed twice. */
interface Subscription {
  readonly listener: BusListener
}
