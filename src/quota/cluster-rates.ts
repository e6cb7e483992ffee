import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { readJson } from '../json.ts'

/** How often nodes tell each other what was used, in ms. */
export const shareMs = 250
/** Keys that one message tells of. */
const keysAtOnce = 500

const topic = 'rates'

/** What has been used of a limit, by whom. */
type UsageByKey = Map<string, number>

/** As much as is used in one message: by limit, then key and cost. */
interface Shared {
  readonly from: string
  readonly limit: string
  readonly used: readonly (readonly [key: string, cost: number])[]
}

const sharedSchema = v.looseObject({
  from: v.string(),
  limit: v.string(),
  used: v.array(v.tuple([v.string(), v.number()])),
})

export interface SharedRatesOptions {
  /** Between the nodes; what it loses is not counted by the others. */
  readonly bus: {
    publish(topic: string, message: Uint8Array): void
    subscribe(topic: string, listener: (message: Uint8Array) => undefined): () => void
  }
  /** Id of this node. */
  readonly self: string
  readonly clock: Clock
}

/**
 * Has the nodes of a cluster count together what is used of a limit: each counts at once what it lets in itself, and what
 * the others let in a moment later. So over time all of them let in what one would; at once, before they have heard of
 * each other, each of them may. Without a bus each counts for itself.
 */
export class ClusterRates {
  readonly #options: SharedRatesOptions
  readonly #charges = new Map<string, (key: string, cost: number) => void>()
  readonly #used = new Map<string, UsageByKey>()
  readonly #unsubscribe: () => void
  #cancel: (() => void) | null = null

  constructor(options: SharedRatesOptions) {
    this.#options = options
    this.#unsubscribe = options.bus.subscribe(topic, (message) => {
      const { from, limit, used }: Shared = readJson(sharedSchema, message)
      if (from === options.self) return undefined
      // Anything else would count for ever, or take back what was counted.
      for (const [key, cost] of used)
        if (cost > 0 && cost < Number.POSITIVE_INFINITY) this.#charges.get(limit)?.(key, cost)
      return undefined
    })
  }

  /**
   * Shares a limit of a name.
   * @param charge counts what others have used
   * @returns to be called with what is used here
   */
  share(limit: string, charge: (key: string, cost: number) => void): (key: string, cost: number) => void {
    this.#charges.set(limit, charge)
    const used: UsageByKey = new Map()
    this.#used.set(limit, used)
    return (key, cost) => {
      used.set(key, (used.get(key) ?? 0) + cost)
      this.#cancel ??= this.#options.clock.after(shareMs, () => this.#tell())
    }
  }

  /** Tells and hears nothing more. */
  end(): void {
    this.#unsubscribe()
    this.#cancel?.()
  }

  #tell(): void {
    this.#cancel = null
    const { bus, self: from } = this.#options
    for (const [limit, used] of this.#used) {
      const all = [...used]
      used.clear()
      for (let at = 0; at < all.length; at += keysAtOnce) {
        const shared: Shared = { from, limit, used: all.slice(at, at + keysAtOnce) }
        bus.publish(topic, Buffer.from(JSON.stringify(shared)))
      }
    }
  }
}
