import { randomUUID } from 'node:crypto'
import { homeNodeOf } from '../../../src/cluster/postgres/cluster/home-node.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { MalformedJsonError } from '../../../src/core/base/json.ts'
import { bucketOf } from '../../../src/core/store/buckets.ts'
import {
  AppendRejectedError,
  type Bus,
  type BusListener,
  type Cluster,
  type DocumentLog,
  type EndOfUse,
  type Engine,
  type Key,
  type NodeAddress,
  NotOwnerError,
  type Term,
} from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { PolledChanges } from '../../../src/core/store/polled-changes.ts'
import { QueueLeaseStore } from '../../../src/core/store/renewed-lease.ts'
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

/** Returns a slow log. Each request and each answer is delayed by up to `ms`. Requests and answers keep their order. */
function distant(log: DocumentLog, ms: number): DocumentLog {
  const inOrder = (): (() => Promise<unknown>) => {
    let last: Promise<unknown> = Promise.resolve()
    return () => {
      last = Promise.all([last, new Promise((resolve) => setTimeout(resolve, Math.random() * ms))])
      return last
    }
  }
  const [there, back] = [inOrder(), inOrder()]
  const far = async <T>(ask: () => Promise<T>): Promise<T> => {
    await there()
    try {
      return await ask()
    } finally {
      await back()
    }
  }
  return {
    append: (...parameters) => far(() => log.append(...parameters)),
    load: (...parameters) => far(() => log.load(...parameters)),
    loadAt: (...parameters) => far(() => log.loadAt(...parameters)),
    heads: (...parameters) => far(() => log.heads(...parameters)),
    list: (...parameters) => far(() => log.list(...parameters)),
    compact: (...parameters) => far(() => log.compact(...parameters)),
    destroy: (...parameters) => far(() => log.destroy(...parameters)),
    destroyPrefix: (...parameters) => far(() => log.destroyPrefix(...parameters)),
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
  const store = options.store ?? (await openMemoryEngine({ clock }))
  const network = new Network(clock, weather)
  let open = count
  return Array.from({ length: count }, (_, index) => {
    const node = network.join(`node-${index + 1}`)
    const log = node.guarded(store.log)
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
        log: options.distanceMs === undefined ? log : distant(log, options.distanceMs),
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

/** Interval and maximum number of the looks at a document that another node has not released yet. */
const lookEveryMs = 10
const looksMax = 1_000

class Network {
  readonly clock: Clock
  readonly weather: Weather
  readonly members: NetworkNode[] = []
  /** Names of nodes that are draining, and therefore own no documents. */
  readonly draining = new Set<string>()
  /** The last term of each bucket, and the node that holds it; null: the node has released it. */
  readonly terms = new Map<number, { readonly value: number; readonly holder: NetworkNode | null }>()

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

  addressOf(id: string): NodeAddress {
    return { id, url: this.members.find(({ self }) => self === id)?.url ?? null }
  }

  changed(): void {
    for (const member of this.members) member.changed()
  }
}

class NetworkNode implements Bus, Cluster {
  readonly self: string
  readonly incarnation = randomUUID()
  readonly isShared = true
  isCut = false
  readonly local: LocalBus
  readonly #network: Network
  readonly #lost = new Set<() => void>()
  readonly #watching = new Set<() => void>()
  readonly #ends: EndOfUse[] = []
  readonly #held = new Map<number, Term>()
  #url: string | null = null

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
    void this.#release()
  }

  /** Returns the log, which rejects the appends and deletions of this node in terms that have ended. */
  guarded(log: DocumentLog): DocumentLog {
    const check = (term: Term | undefined): void => {
      if (term !== undefined && !this.#isCurrent(term)) throw new AppendRejectedError('term')
    }
    return {
      ...delegatedLog(log),
      append: async (doc, to, updates, options = {}) => {
        check(options.term)
        return log.append(doc, to, updates, options)
      },
      destroy: async (doc, term) => {
        check(term)
        return log.destroy(doc, term)
      },
    }
  }

  async isAlive(incarnation: string): Promise<boolean> {
    const found = this.#network.members.find((member) => member.incarnation === incarnation)
    return found === this || found?.isCut === false
  }

  nodes(): readonly string[] {
    return this.isCut ? [this.self] : this.#network.alive
  }

  others(): readonly NodeAddress[] {
    return this.nodes()
      .filter((id) => id !== this.self)
      .map((id) => this.#network.addressOf(id))
  }

  get url(): string | null {
    return this.#url
  }

  listening(url: string): void {
    this.#url = url
  }

  owner(document: Key): NodeAddress {
    return this.#network.addressOf(this.#ownerOf(bucketOf(document)))
  }

  async hold(document: Key): Promise<Term> {
    const bucket = bucketOf(document)
    for (let looks = 0; looks < looksMax; looks += 1) {
      const held = this.#held.get(bucket)
      if (held !== undefined && this.#isCurrent(held)) return held
      if (this.#ownerOf(bucket) !== this.self) break
      const { holder, value } = this.#network.terms.get(bucket) ?? { holder: null, value: 0 }
      if (held === undefined && (holder === null || holder.isCut)) {
        const term = { bucket, value: value + 1 }
        this.#held.set(bucket, term)
        this.#network.terms.set(bucket, { value: term.value, holder: this })
        return term
      }
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    }
    throw new NotOwnerError(this.owner(document))
  }

  onLose(end: EndOfUse): void {
    this.#ends.push(end)
  }

  #ownerOf(bucket: number): string {
    const serving = this.nodes().filter((node) => !this.#network.draining.has(node))
    return homeNodeOf(bucket, serving.length === 0 ? this.nodes() : serving)
  }

  #isCurrent({ bucket, value }: Term): boolean {
    const current = this.#network.terms.get(bucket)
    return current?.holder === this && current.value === value
  }

  /** Ends the use of the documents that this node no longer owns, then releases them. */
  async #release(): Promise<void> {
    const lost = [...this.#held.values()].filter(
      (term) => !this.#isCurrent(term) || this.#ownerOf(term.bucket) !== this.self,
    )
    const buckets = new Set(lost.map(({ bucket }) => bucket))
    await Promise.all(this.#ends.map((end) => end((document) => buckets.has(bucketOf(document)))))
    for (const term of lost) {
      if (this.#isCurrent(term)) this.#network.terms.set(term.bucket, { value: term.value, holder: null })
      if (this.#held.get(term.bucket) === term) this.#held.delete(term.bucket)
    }
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
   * Receives a message. Like the bus of a cluster, a malformed message counts as lost. Any other error of a
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
