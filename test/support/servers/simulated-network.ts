import { randomUUID } from 'node:crypto'
import { homeNodeOf } from '../../../src/cluster/postgres/cluster/home-node.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { MalformedJsonError } from '../../../src/core/base/json.ts'
import { bucketOf } from '../../../src/core/store/buckets.ts'
import type { Bus, BusListener, Cluster, Engine } from '../../../src/core/store/engine.ts'
import { keyName } from '../../../src/core/store/key-encoding.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { PolledChanges } from '../../../src/core/store/polled-changes.ts'
import { QueueLeaseStore } from '../../../src/core/store/queue-lease-store.ts'
import { LocalBus } from '../../../src/core/store/single-node.ts'
import { delegatedLog } from '../stores/delegated-log.ts'

/**
 * Function that determines how the network delivers a message to a node. Returns the delay of each copy of
 * the message in ms. If the list is empty, the message is lost.
 */
export type Weather = (topic: string, to: string) => readonly number[]

const fair: Weather = () => [0]

export interface NodesOptions {
  readonly clock?: Clock
  /** Behavior of the network. The function may behave differently at different times of the test. */
  readonly weather?: Weather
  /** Maximum delay in ms of each request to the logs of the store, and of each answer. The default is 0. */
  readonly distanceMs?: number
  /** Engine that all nodes use. The default is a memory engine. It is closed when the last node is closed. */
  readonly store?: Engine
}

/** Returns the store with slow logs. Each request and each answer is delayed by up to `ms`. */
function distant({ log, ...engine }: Engine, ms: number): Engine {
  const away = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * ms))
  const far = async <T>(ask: () => Promise<T>): Promise<T> => {
    await away()
    try {
      return await ask()
    } finally {
      await away()
    }
  }
  return {
    ...engine,
    log: {
      hasOneWriter: log.hasOneWriter,
      append: (...parameters) => far(() => log.append(...parameters)),
      load: (...parameters) => far(() => log.load(...parameters)),
      loadAt: (...parameters) => far(() => log.loadAt(...parameters)),
      heads: (...parameters) => far(() => log.heads(...parameters)),
      list: (...parameters) => far(() => log.list(...parameters)),
      compact: (...parameters) => far(() => log.compact(...parameters)),
      destroy: (...parameters) => far(() => log.destroy(...parameters)),
      destroyPrefix: (...parameters) => far(() => log.destroyPrefix(...parameters)),
    },
  }
}

export interface SharedNode {
  readonly engine: Engine
  /** Cuts the node off. The other nodes then consider it dead, and messages from it and to it are lost. */
  readonly cut: () => void
  /** Connects the node again after `cut`. The bus reports a possible message loss to the node. */
  readonly mend: () => void
}

/**
 * Creates the engines of several nodes. They use the same store and a simulated network, whose faults
 * `weather` determines.
 */
export async function sharedNodes(count: number, options: NodesOptions = {}): Promise<readonly SharedNode[]> {
  const { clock = systemClock, weather = fair } = options
  const given = options.store ?? (await openMemoryEngine({ clock }))
  const store = options.distanceMs === undefined ? given : distant(given, options.distanceMs)
  const network = new Network(clock, weather)
  let open = count
  return Array.from({ length: count }, (_, index) => {
    const node = network.join(`node-${index + 1}`)
    const foreignChanges = new PolledChanges(store.kv, clock)
    let closing: Promise<void> | null = null
    const close = async (): Promise<void> => {
      foreignChanges.end()
      node.cut()
      open -= 1
      if (open === 0) await store.close()
    }
    return {
      engine: {
        ...store,
        log: { ...delegatedLog(store.log), hasOneWriter: false },
        fences: unaware(store),
        bus: node,
        foreignChanges,
        leases: new QueueLeaseStore(store.kv, store.queue, clock),
        cluster: node,
        close: () => (closing ??= close()),
      },
      cut: () => node.cut(),
      mend: () => node.mend(),
    }
  })
}

/**
 * Returns fences that are known only to the store, because a process does not know the fences of other
 * processes.
 */
const unaware = ({ fences }: Engine): Engine['fences'] => ({
  read: (names) => fences.read(names),
  isCurrent: () => true,
})

class Network {
  readonly clock: Clock
  readonly weather: Weather
  readonly members: NetworkNode[] = []
  /** Names of nodes that are draining, and therefore are no longer home nodes. */
  readonly draining = new Set<string>()

  constructor(clock: Clock, weather: Weather) {
    this.clock = clock
    this.weather = weather
  }

  join(self: string): NetworkNode {
    const node = new NetworkNode(this, self)
    this.members.push(node)
    return node
  }

  get alive(): readonly string[] {
    return this.members.filter(({ isCut }) => !isCut).map(({ self }) => self)
  }

  changed(): void {
    for (const member of this.members) member.changed()
  }
}

class NetworkNode implements Bus, Cluster {
  readonly self: string
  readonly incarnation = randomUUID()
  readonly clockSkewMs = 500
  readonly isShared = true
  isCut = false
  readonly local: LocalBus
  readonly #network: Network
  readonly #lost = new Set<() => void>()
  readonly #watching = new Set<() => void>()

  constructor(network: Network, self: string) {
    this.#network = network
    this.self = self
    this.local = new LocalBus()
  }

  cut(): void {
    this.isCut = true
    this.#network.changed()
  }

  mend(): void {
    this.isCut = false
    this.#network.changed()
    for (const listener of this.#lost) listener()
  }

  get isConnected(): boolean {
    return !this.isCut
  }

  changed(): void {
    for (const listener of this.#watching) listener()
  }

  async isAlive(incarnation: string): Promise<boolean> {
    const found = this.#network.members.find((member) => member.incarnation === incarnation)
    return found === this || found?.isCut === false
  }

  nodes(): readonly string[] {
    return this.isCut ? [this.self] : this.#network.alive
  }

  home(doc: readonly string[]): string {
    const serving = this.nodes().filter((node) => !this.#network.draining.has(node))
    return homeNodeOf(bucketOf(keyName(doc)), serving.length === 0 ? this.nodes() : serving)
  }

  on(_event: 'change', listener: () => void): () => void {
    this.#watching.add(listener)
    return () => this.#watching.delete(listener)
  }

  async drain(): Promise<void> {
    this.#network.draining.add(this.self)
    this.#network.changed()
  }

  publish(topic: string, message: Uint8Array): void {
    this.local.publish(topic, message)
    for (const to of this.#others()) this.#send(topic, to, () => to.receive(topic, message))
  }

  /**
   * Receives a message. Like the bus over NATS, a malformed message counts as lost. Any other error of a
   * listener is a bug, and is thrown.
   */
  receive(topic: string, message: Uint8Array): void {
    queueMicrotask(() => {
      this.local.hear(topic, message, (error) => {
        if (!(error instanceof MalformedJsonError)) throw error
        for (const listener of this.#lost) listener()
      })
    })
  }

  subscribe(topic: string, listener: BusListener): () => void {
    return this.local.subscribe(topic, listener)
  }

  onLoss(listener: () => void): () => void {
    this.#lost.add(listener)
    return () => this.#lost.delete(listener)
  }

  async flushed(): Promise<void> {
    // There is nothing to wait for, because a subscription takes effect immediately.
  }

  #others(): readonly NetworkNode[] {
    return this.isCut ? [] : this.#network.members.filter((each) => each !== this && !each.isCut)
  }

  #send(topic: string, to: NetworkNode, deliver: () => void): void {
    for (const ms of this.#network.weather(topic, to.self)) {
      if (ms === 0) deliver()
      else this.#network.clock.after(ms, deliver)
    }
  }
}
