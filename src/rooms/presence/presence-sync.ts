import { keyName } from '../../engine/key-encoding.ts'
import type { DocumentScope } from '../../model/address.ts'
import { type NodeRequestDependencies, NodeRequests } from '../replication/node-requests.ts'
import { HybridLogicalClock } from './hybrid-logical-clock.ts'
import { decodePresence } from './presence-codec.ts'
import {
  allTopic,
  bucketTopic,
  type DocumentKey,
  documentKey,
  encodePresence,
  type MessageSender,
  nodeTopic,
  type PresenceMessage,
  type UnsignedMessage,
} from './presence-messages.ts'
import type { PresenceRecord } from './presence-records.ts'
import {
  PresenceReplica,
  type PresenceReplicaDependencies,
  type PresenceReplicaOwner,
} from './presence-replica.ts'
import type { PresenceDelta } from './state-log.ts'

/** How often a node tells how far it is: what was lost without anybody's noticing is missing for that long. */
const digestMs = 4_000
const tickMs = 1_000
/** Messages of one tick: with very many documents it takes a few of them to tell about all. */
const digestsMax = 2_000

interface Bucket {
  readonly replicas: Set<PresenceReplica>
  readonly unsubscribe: () => void
  /** When others are told of it, and whether they are to tell, too. */
  dueAt: number
  wants: boolean
}

interface SyncAnswer {
  /** How far the answering node has said something; -1: nothing of this document. */
  readonly seq: number
  readonly sender: MessageSender
}

interface SyncCall {
  readonly document: DocumentKey
  readonly sender: MessageSender
  readonly seq: number
  /** By node: what is known of each. */
  readonly have: Readonly<Record<string, number>>
}

/**
 * Exchanges who is on which document with the other nodes. Each says of its own people alone, numbers what it says, and
 * tells from time to time how far it is; whoever finds something missing asks for all. What a node has said is gone
 * with the node.
 */
export class PresenceSync {
  readonly calls: NodeRequests
  readonly #parts: NodeRequestDependencies
  readonly #stamps: HybridLogicalClock
  readonly #tools: PresenceReplicaDependencies
  readonly #life: number
  /** All documents of this node, by name. */
  readonly #replicas = new Map<string, PresenceReplica>()
  /** The exchanged ones. */
  readonly #openReplicas = new Set<PresenceReplica>()
  readonly #buckets = new Map<number, Bucket>()
  readonly #ends: (() => void)[]
  /** Nodes that have said good-bye, with their lives. */
  readonly #gone = new Map<string, number>()
  #nodes: ReadonlySet<string>
  /** Others may be back: a node that sees no other node for a while remembers REST calls for them. */
  #hasHadOthers: boolean
  #lastSeq = 0
  #state: 'open' | 'ended' = 'open'
  #cancelTick: (() => void) | null = null

  constructor(parts: NodeRequestDependencies) {
    const { bus, cluster, clock } = parts
    this.#parts = parts
    this.#life = clock.now() + Math.random()
    this.#stamps = new HybridLogicalClock(clock)
    this.#nodes = new Set(cluster.nodes())
    this.#hasHadOthers = this.#nodes.size > 1
    this.calls = new NodeRequests(parts)
    this.#tools = {
      clock,
      stamps: this.#stamps,
      next: () => ++this.#lastSeq,
      hasListeners: () => this.#state === 'open' && this.#hasHadOthers,
      opened: (replica) => this.#opened(replica),
      closed: (replica) => this.#closed(replica),
      publish: (replica, deltas) => this.#publishDeltas(replica, deltas),
      askFor: (replica, node) => this.#say(nodeTopic(node), askFor([documentKey(replica.document)])),
      sync: (replica) => this.#sync(replica),
    }
    const hear = (message: Uint8Array): undefined => this.#hear(message)
    this.#ends = [
      bus.subscribe(nodeTopic(cluster.self), hear),
      bus.subscribe(allTopic, hear),
      bus.onLoss(() => this.#doubt()),
      cluster.on('change', () => this.#nodesChanged()),
    ]
    this.calls.answer('presence.sync', 'any', (call) => this.#answerSync(call as SyncCall))
  }

  /** The exchange of a document's presence, until `remove`. */
  add(document: DocumentScope, owner: PresenceReplicaOwner): PresenceReplica {
    const replica = new PresenceReplica(document, owner, this.#tools)
    this.#replicas.set(nameOf(documentKey(document)), replica)
    return replica
  }

  remove(replica: PresenceReplica): void {
    const name = nameOf(documentKey(replica.document))
    if (this.#replicas.get(name) === replica) this.#replicas.delete(name)
    replica.end()
  }

  /** The others forget this node at once. */
  close(): void {
    if (this.#state === 'ended') return
    for (const replica of this.#openReplicas) replica.flush()
    this.#say(allTopic, { type: 'bye' })
    this.#state = 'ended'
    this.#cancelTick?.()
    for (const replica of this.#openReplicas) replica.end()
    for (const { unsubscribe } of this.#buckets.values()) unsubscribe()
    for (const end of this.#ends) end()
    this.calls.close()
  }

  #opened(replica: PresenceReplica): void {
    const number = replica.bucket
    const bucket = this.#buckets.get(number) ?? this.#openBucket(number)
    bucket.replicas.add(replica)
    this.#openReplicas.add(replica)
    this.#cancelTick ??= this.#parts.clock.after(tickMs, () => this.#tick())
    void this.#parts.bus.flushed().then(() => {
      if (replica.isOpen) this.#say(bucketTopic(number), digestOf([replica], true))
    })
  }

  #openBucket(number: number): Bucket {
    const unsubscribe = this.#parts.bus.subscribe(bucketTopic(number), (message) => this.#hear(message))
    const bucket: Bucket = { replicas: new Set(), unsubscribe, dueAt: this.#nextDigest(), wants: false }
    this.#buckets.set(number, bucket)
    return bucket
  }

  #closed(replica: PresenceReplica): void {
    this.#openReplicas.delete(replica)
    const bucket = this.#buckets.get(replica.bucket)
    bucket?.replicas.delete(replica)
    if (bucket?.replicas.size !== 0) return
    bucket.unsubscribe()
    this.#buckets.delete(replica.bucket)
  }

  /** A node that comes later asks for all. */
  #publishDeltas(replica: PresenceReplica, deltas: readonly PresenceDelta<PresenceRecord>[]): void {
    if (!replica.hasOthers) return
    const document = documentKey(replica.document)
    const topic = bucketTopic(replica.bucket)
    for (const delta of deltas) this.#say(topic, { type: 'delta', document, ...delta })
  }

  #publishFull(replica: PresenceReplica, node: string): void {
    const document = documentKey(replica.document)
    for (const full of replica.full()) this.#say(nodeTopic(node), { type: 'full', document, ...full })
  }

  #say(topic: string, saying: UnsignedMessage): void {
    this.#parts.bus.publish(topic, encodePresence({ ...saying, ...this.#sender() }))
  }

  #sender(): MessageSender {
    return { from: this.#parts.cluster.self, life: this.#life, at: this.#stamps.next() }
  }

  #hear(bytes: Uint8Array): undefined {
    const message = decodePresence(bytes)
    if (message === null || !this.#isAccepted(message)) return
    this.#stamps.observe(message.at)
    switch (message.type) {
      case 'delta':
        this.#replicaOf(message.document)?.hearDelta(message, message)
        break
      case 'full':
        this.#replicaOf(message.document)?.hearFull(message, message)
        break
      case 'digest':
        this.#hearDigest(message)
        break
      case 'ask':
        for (const document of message.documents) this.#answer(document, message.from)
        break
      case 'bye':
        this.#gone.set(message.from, message.life)
        for (const replica of this.#openReplicas) replica.drop(message.from)
    }
  }

  /** What comes from a node that is taken for dead is heard when it is back: then everybody is asked. */
  #isAccepted({ from, life }: MessageSender): boolean {
    if (from === this.#parts.cluster.self || !this.#nodes.has(from)) return false
    return (this.#gone.get(from) ?? 0) < life
  }

  #hearDigest(message: Extract<PresenceMessage, { type: 'digest' }>): void {
    const [missing, shared]: [DocumentKey[], PresenceReplica[]] = [[], []]
    for (const [document, seq] of message.documents) {
      const replica = this.#replicaOf(document)
      if (replica === undefined) continue
      shared.push(replica)
      if (replica.hearDigest(message, seq) === 'missing') missing.push(document)
    }
    if (missing.length > 0) this.#say(nodeTopic(message.from), askFor(missing))
    if (message.wants && shared.length > 0) this.#say(nodeTopic(message.from), digestOf(shared, false))
  }

  #answer(document: DocumentKey, node: string): void {
    const replica = this.#replicaOf(document)
    if (replica !== undefined) return this.#publishFull(replica, node)
    const nothing = { seq: ++this.#lastSeq, part: 0, parts: 1, entries: [] }
    this.#say(nodeTopic(node), { type: 'full', document, ...nothing })
  }

  async #sync(replica: PresenceReplica): Promise<'complete' | 'partly'> {
    const { cluster, bus } = this.#parts
    await bus.flushed()
    replica.flush()
    const others = cluster.nodes().filter((node) => node !== cluster.self)
    const call: SyncCall = {
      document: documentKey(replica.document),
      sender: this.#sender(),
      seq: replica.seq,
      have: Object.fromEntries(others.map((node) => [node, replica.have(node)])),
    }
    const answers = await this.calls.ask('presence.sync', call)
    await Promise.all(
      ([...answers.values()] as SyncAnswer[])
        .filter(({ seq }) => seq >= 0)
        .map(({ seq, sender }) => replica.caughtUp(sender, seq)),
    )
    return others.every((node) => answers.has(node)) ? 'complete' : 'partly'
  }

  async #answerSync({ document, sender, seq, have }: SyncCall): Promise<SyncAnswer> {
    this.#stamps.observe(sender.at)
    const replica = this.#replicaOf(document)
    if (replica === undefined) return { seq: -1, sender: this.#sender() }
    await replica.caughtUp(sender, seq)
    replica.flush()
    if ((have[this.#parts.cluster.self] ?? -1) < replica.seq) this.#publishFull(replica, sender.from)
    return { seq: replica.seq, sender: this.#sender() }
  }

  #nodesChanged(): void {
    const before = this.#nodes
    this.#nodes = new Set(this.#parts.cluster.nodes())
    this.#hasHadOthers ||= this.#nodes.size > 1
    for (const replica of this.#openReplicas) replica.keepOnly(this.#nodes)
    for (const replica of this.#replicas.values()) replica.join()
    if ([...this.#nodes].some((node) => !before.has(node))) this.#doubt()
  }

  /** Something may have been missed: asks everybody for everything. */
  #doubt(): void {
    for (const bucket of this.#buckets.values()) {
      bucket.dueAt = 0
      bucket.wants = true
      for (const replica of bucket.replicas) replica.doubt()
    }
    this.#sayDigests()
  }

  #tick(): void {
    this.#cancelTick = null
    for (const replica of this.#openReplicas) replica.tick()
    this.#sayDigests()
    if (this.#buckets.size > 0) this.#cancelTick ??= this.#parts.clock.after(tickMs, () => this.#tick())
  }

  #sayDigests(): void {
    const now = this.#parts.clock.now()
    let count = 0
    for (const [number, bucket] of this.#buckets) {
      if (bucket.dueAt > now) continue
      if (count++ === digestsMax) return
      this.#say(bucketTopic(number), digestOf([...bucket.replicas], bucket.wants))
      bucket.dueAt = this.#nextDigest()
      bucket.wants = false
    }
  }

  /** Nodes that have begun together do not go on together. */
  #nextDigest(): number {
    return this.#parts.clock.now() + digestMs * (1 - Math.random() / 4)
  }

  #replicaOf(document: DocumentKey): PresenceReplica | undefined {
    const replica = this.#replicas.get(nameOf(document))
    replica?.join()
    return replica?.isOpen === true ? replica : undefined
  }
}

const nameOf = (document: DocumentKey): string => keyName(document)

const askFor = (documents: readonly DocumentKey[]): UnsignedMessage => ({ type: 'ask', documents })

const digestOf = (replicas: readonly PresenceReplica[], wants: boolean): UnsignedMessage => ({
  type: 'digest',
  wants,
  documents: replicas.map((replica) => [documentKey(replica.document), replica.seq]),
})
