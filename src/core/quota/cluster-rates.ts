import type { Clock } from '../base/clock.ts'
import { readJson } from '../base/json.ts'
import * as s from '../base/schema.ts'

/** Interval in milliseconds at which each node publishes its usage. */
const shareMs = 250
/** Maximum number of keys in one message between nodes. */
const keysAtOnce = 500

const topic = 'rates'

/** The usage of one limit on this node since its last message, by key. */
type UsageByKey = Map<string, number>

/** A message with the usage of one limit, as pairs of key and cost. */
interface Shared {
  readonly from: string
  readonly limit: string
  readonly used: readonly (readonly [key: string, cost: number])[]
}

const sharedSchema = s.object({
  from: s.string,
  limit: s.string,
  used: s.array(s.tuple([s.string, s.number])),
})

/** The part of the bus of an engine that rates use. */
interface MessageBus {
  publish(topic: string, message: Uint8Array): void
  subscribe(topic: string, listener: (message: Uint8Array) => void): () => void
}

/**
 * Adds up the usage of limits over all nodes of a cluster. Each node counts its own usage immediately, and
 * the usage of other nodes when their messages arrive. Over time, all nodes together allow as much as a
 * single node. Before the messages arrive, each node may allow this amount by itself. Without a bus, each
 * node counts only its own usage.
 */
export class ClusterRates {
  /** The bus between the nodes. If a message is lost, the other nodes never count the usage in it. */
  readonly #bus: MessageBus
  /** Id of this node. */
  readonly #self: string
  readonly #clock: Clock
  readonly #charges = new Map<string, (key: string, cost: number) => void>()
  readonly #used = new Map<string, UsageByKey>()
  readonly #unsubscribe: () => void
  #cancel: (() => void) | null = null

  constructor(bus: MessageBus, self: string, clock: Clock) {
    this.#bus = bus
    this.#self = self
    this.#clock = clock
    this.#unsubscribe = bus.subscribe(topic, (message) => {
      const { from, limit, used }: Shared = readJson(sharedSchema, message)
      if (from === self) return
      // An infinite cost would never expire, and a negative cost would reduce the count.
      for (const [key, cost] of used)
        if (cost > 0 && cost < Number.POSITIVE_INFINITY) this.#charges.get(limit)?.(key, cost)
    })
  }

  /**
   * Adds a limit whose usage all nodes count together.
   * @param charge called with the usage of other nodes
   * @returns a function that must be called with the usage of this node
   */
  share(limit: string, charge: (key: string, cost: number) => void): (key: string, cost: number) => void {
    this.#charges.set(limit, charge)
    const used: UsageByKey = new Map()
    this.#used.set(limit, used)
    return (key, cost) => {
      used.set(key, (used.get(key) ?? 0) + cost)
      this.#cancel ??= this.#clock.after(shareMs, () => this.#tell())
    }
  }

  /** Stops publishing and receiving. */
  end(): void {
    this.#unsubscribe()
    this.#cancel?.()
  }

  #tell(): void {
    this.#cancel = null
    for (const [limit, used] of this.#used) {
      const all = [...used]
      used.clear()
      for (let at = 0; at < all.length; at += keysAtOnce) {
        const shared: Shared = { from: this.#self, limit, used: all.slice(at, at + keysAtOnce) }
        this.#bus.publish(topic, Buffer.from(JSON.stringify(shared)))
      }
    }
  }
}
