import type { Clock } from '../../base/clock.ts'
import { readJsonOrNull } from '../../base/json.ts'
import * as s from '../../base/schema.ts'
import type { DocumentScope } from '../../model/address.ts'
import type { Bus, Cluster } from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { NodeRequests } from '../../store/node-requests.ts'
import { HybridLogicalClock } from './hybrid-logical-clock.ts'
import {
  allTopic,
  bucketTopic,
  type DocumentKey,
  documentKeySchema,
  encodePresence,
  type MessageSender,
  nodeTopic,
  type PresenceMessage,
  presenceMessageSchema,
  senderSchema,
  type UnsignedMessage,
} from './presence-messages.ts'
import type { PresenceRecord } from './presence-records.ts'
import {
  PresenceReplica,
  type PresenceReplicaDependencies,
  type PresenceReplicaOwner,
} from './presence-replica.ts'
import type { PresenceDelta } from './state-log.ts'

/**
 * Longest interval between two digests of a bucket, in milliseconds. A lost message is detected within about
 * this time.
 */
const digestMs = 4_000
const tickMs = 1_000
/**
 * Maximum number of digests that are published in one tick. Later ticks publish the digests of the remaining
 * buckets.
 */
const digestsMax = 2_000

interface Bucket {
  readonly replicas: Set<PresenceReplica>
  readonly unsubscribe: () => void
  /**
   * Time at which the next digest of the bucket is due, in epoch milliseconds. `requestsReply` is true if
   * that digest must request the digests of the other nodes.
   */
  dueAt: number
  requestsReply: boolean
}

interface PresenceSyncResponse {
  /**
   * The last sequence number of the responding node for the document; -1 if the node does not use the
   * document.
   */
  readonly seq: number
  readonly sender: MessageSender
}

interface PresenceSyncRequest {
  readonly document: DocumentKey
  readonly sender: MessageSender
  readonly seq: number
  /** For each node, the sequence number up to which the requesting node has its changes. */
  readonly have: Readonly<Record<string, number>>
}

const syncResponseSchema = s.object({ seq: s.number, sender: senderSchema })
const syncRequestSchema = s.object({
  document: documentKeySchema,
  sender: senderSchema,
  seq: s.number,
  have: s.map(s.number),
})

/**
 * Exchanges the presence of all documents with the other nodes. Each node publishes only its own states: as
 * numbered deltas, and in periodic digests with its last sequence number. If a node has missed changes, it
 * requests a snapshot. If a node stops, the other nodes drop its states.
 */
export class PresenceSync {
  readonly requests: NodeRequests
  readonly #bus: Bus
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #logicalClock: HybridLogicalClock
  readonly #replicaDependencies: PresenceReplicaDependencies
  readonly #incarnation: number
  /** The replicas of all documents with presence on this node, by document name. */
  readonly #replicas = new Map<string, PresenceReplica>()
  readonly #openReplicas = new Set<PresenceReplica>()
  readonly #buckets = new Map<number, Bucket>()
  readonly #ends: (() => void)[]
  /** The incarnations of the processes that have announced their shutdown, by node. */
  readonly #stoppedNodes = new Map<string, number>()
  #nodes: ReadonlySet<string>
  /**
   * True if other nodes exist, or have existed. A node that has stopped may return, so this node keeps
   * records of REST calls for it.
   */
  #hasSeenOthers: boolean
  #lastSeq = 0
  #state: 'open' | 'ended' = 'open'
  #cancelTick: (() => void) | null = null

  constructor(bus: Bus, cluster: Cluster, clock: Clock) {
    this.#bus = bus
    this.#cluster = cluster
    this.#clock = clock
    this.#incarnation = clock.now() + Math.random()
    this.#logicalClock = new HybridLogicalClock(clock)
    this.#nodes = new Set(cluster.nodes())
    this.#hasSeenOthers = this.#nodes.size > 1
    this.requests = new NodeRequests(bus, cluster, clock)
    this.#replicaDependencies = {
      clock,
      logicalClock: this.#logicalClock,
      nextSeq: () => ++this.#lastSeq,
      hasOtherNodes: () => this.#state === 'open' && this.#hasSeenOthers,
      opened: (replica) => this.#onReplicaOpen(replica),
      closed: (replica) => this.#onReplicaClose(replica),
      publish: (replica, deltas) => this.#publishDeltas(replica, deltas),
      requestSnapshots: ({ document }, node) => this.#publish(nodeTopic(node), snapshotRequest([document])),
      sync: (replica) => this.#sync(replica),
    }
    const receive = (message: Uint8Array): undefined => this.#receive(message)
    this.#ends = [
      bus.subscribe(nodeTopic(cluster.self), receive),
      bus.subscribe(allTopic, receive),
      bus.onLoss(() => this.#invalidate()),
      cluster.on('change', () => this.#nodesChanged()),
    ]
    this.requests.answer('presence.sync', 'any', syncRequestSchema, (call) => this.#answerSync(call))
  }

  /** Creates the replica of a document. Call `remove` when it is no longer needed. */
  add(document: DocumentScope, owner: PresenceReplicaOwner): PresenceReplica {
    const replica = new PresenceReplica(document, owner, this.#replicaDependencies)
    this.#replicas.set(keyName(replica.document), replica)
    return replica
  }

  remove(replica: PresenceReplica): void {
    const name = keyName(replica.document)
    if (this.#replicas.get(name) === replica) this.#replicas.delete(name)
    replica.end()
  }

  /** Ends the exchange with the other nodes. They drop the states of this node immediately. */
  close(): void {
    if (this.#state === 'ended') return
    for (const replica of this.#openReplicas) replica.flush()
    this.#publish(allTopic, { type: 'leave' })
    this.#state = 'ended'
    this.#cancelTick?.()
    for (const replica of this.#openReplicas) replica.end()
    for (const { unsubscribe } of this.#buckets.values()) unsubscribe()
    for (const end of this.#ends) end()
    this.requests.close()
  }

  #onReplicaOpen(replica: PresenceReplica): void {
    const number = replica.bucket
    const bucket = this.#buckets.get(number) ?? this.#openBucket(number)
    bucket.replicas.add(replica)
    this.#openReplicas.add(replica)
    this.#cancelTick ??= this.#clock.after(tickMs, () => this.#tick())
    void this.#bus.flushed().then(() => {
      if (replica.isOpen) this.#publish(bucketTopic(number), digestOf([replica], true))
    })
  }

  #openBucket(number: number): Bucket {
    const unsubscribe = this.#bus.subscribe(bucketTopic(number), (message) => this.#receive(message))
    const bucket: Bucket = {
      replicas: new Set(),
      unsubscribe,
      dueAt: this.#nextDigest(),
      requestsReply: false,
    }
    this.#buckets.set(number, bucket)
    return bucket
  }

  #onReplicaClose(replica: PresenceReplica): void {
    this.#openReplicas.delete(replica)
    const bucket = this.#buckets.get(replica.bucket)
    bucket?.replicas.delete(replica)
    if (bucket?.replicas.size !== 0) return
    bucket.unsubscribe()
    this.#buckets.delete(replica.bucket)
  }

  /**
   * Publishes changes of this node, if other nodes are known to use the document. A node that starts to use
   * the document later requests a snapshot.
   */
  #publishDeltas(replica: PresenceReplica, deltas: readonly PresenceDelta<PresenceRecord>[]): void {
    if (!replica.hasRemoteNodes) return
    const { document } = replica
    const topic = bucketTopic(replica.bucket)
    for (const delta of deltas) this.#publish(topic, { type: 'delta', document, ...delta })
  }

  #publishSnapshotsOf(replica: PresenceReplica, node: string): void {
    const { document } = replica
    for (const full of replica.snapshots())
      this.#publish(nodeTopic(node), { type: 'snapshot', document, ...full })
  }

  #publish(topic: string, message: UnsignedMessage): void {
    this.#bus.publish(topic, encodePresence({ ...message, ...this.#sender() }))
  }

  #sender(): MessageSender {
    return {
      from: this.#cluster.self,
      incarnation: this.#incarnation,
      at: this.#logicalClock.next(),
    }
  }

  #receive(bytes: Uint8Array): undefined {
    // A lost delta is detected by the sequence numbers, so a malformed message is dropped.
    const message = readJsonOrNull(presenceMessageSchema, bytes)
    if (message === null || !this.#isFromActiveNode(message)) return
    this.#logicalClock.observe(message.at)
    switch (message.type) {
      case 'delta':
        this.#replicaOf(message.document)?.applyDelta(message, message)
        break
      case 'snapshot':
        this.#replicaOf(message.document)?.applySnapshot(message, message)
        break
      case 'digest':
        this.#receiveDigest(message)
        break
      case 'request':
        for (const document of message.documents) this.#publishSnapshots(document, message.from)
        break
      case 'leave':
        this.#stoppedNodes.set(message.from, message.incarnation)
        for (const replica of this.#openReplicas) replica.dropNode(message.from)
    }
  }

  /**
   * Returns whether a message is from another node that currently counts as alive. When a dead node returns,
   * the nodes exchange their digests, so ignored messages do no harm.
   */
  #isFromActiveNode({ from, incarnation }: MessageSender): boolean {
    if (from === this.#cluster.self || !this.#nodes.has(from)) return false
    return (this.#stoppedNodes.get(from) ?? 0) < incarnation
  }

  #receiveDigest(message: Extract<PresenceMessage, { type: 'digest' }>): void {
    const [missing, shared]: [DocumentKey[], PresenceReplica[]] = [[], []]
    for (const [document, seq] of message.documents) {
      const replica = this.#replicaOf(document)
      if (replica === undefined) continue
      shared.push(replica)
      if (replica.compareDigest(message, seq) === 'missing') missing.push(document)
    }
    if (missing.length > 0) this.#publish(nodeTopic(message.from), snapshotRequest(missing))
    if (message.requestsReply && shared.length > 0)
      this.#publish(nodeTopic(message.from), digestOf(shared, false))
  }

  #publishSnapshots(document: DocumentKey, node: string): void {
    const replica = this.#replicaOf(document)
    if (replica !== undefined) return this.#publishSnapshotsOf(replica, node)
    const nothing = { seq: ++this.#lastSeq, part: 0, parts: 1, entries: [] }
    this.#publish(nodeTopic(node), { type: 'snapshot', document, ...nothing })
  }

  async #sync(replica: PresenceReplica): Promise<'complete' | 'partly'> {
    await this.#bus.flushed()
    replica.flush()
    const { self } = this.#cluster
    const others = this.#cluster.nodes().filter((node) => node !== self)
    const call: PresenceSyncRequest = {
      document: replica.document,
      sender: this.#sender(),
      seq: replica.seq,
      have: Object.fromEntries(others.map((node) => [node, replica.knownSeq(node)])),
    }
    const answers = await this.requests.ask('presence.sync', call, syncResponseSchema)
    await Promise.all(
      [...answers.values()]
        .filter(({ seq }) => seq >= 0)
        .map(({ seq, sender }) => replica.waitForSeq(sender, seq)),
    )
    return others.every((node) => answers.has(node)) ? 'complete' : 'partly'
  }

  async #answerSync({ document, sender, seq, have }: PresenceSyncRequest): Promise<PresenceSyncResponse> {
    this.#logicalClock.observe(sender.at)
    const replica = this.#replicaOf(document)
    if (replica === undefined) return { seq: -1, sender: this.#sender() }
    await replica.waitForSeq(sender, seq)
    replica.flush()
    if ((have[this.#cluster.self] ?? -1) < replica.seq) this.#publishSnapshotsOf(replica, sender.from)
    return { seq: replica.seq, sender: this.#sender() }
  }

  #nodesChanged(): void {
    const before = this.#nodes
    this.#nodes = new Set(this.#cluster.nodes())
    this.#hasSeenOthers ||= this.#nodes.size > 1
    for (const replica of this.#openReplicas) replica.keepNodes(this.#nodes)
    for (const replica of this.#replicas.values()) replica.join()
    if ([...this.#nodes].some((node) => !before.has(node))) this.#invalidate()
  }

  /**
   * Publishes the digests of this node and requests those of the other nodes, because messages may have been
   * lost.
   */
  #invalidate(): void {
    for (const bucket of this.#buckets.values()) {
      bucket.dueAt = 0
      bucket.requestsReply = true
      for (const replica of bucket.replicas) replica.invalidate()
    }
    this.#publishDigests()
  }

  #tick(): void {
    this.#cancelTick = null
    for (const replica of this.#openReplicas) replica.tick()
    this.#publishDigests()
    if (this.#buckets.size > 0) this.#cancelTick ??= this.#clock.after(tickMs, () => this.#tick())
  }

  #publishDigests(): void {
    const now = this.#clock.now()
    let count = 0
    for (const [number, bucket] of this.#buckets) {
      if (bucket.dueAt > now) continue
      if (count++ === digestsMax) return
      this.#publish(bucketTopic(number), digestOf([...bucket.replicas], bucket.requestsReply))
      bucket.dueAt = this.#nextDigest()
      bucket.requestsReply = false
    }
  }

  /**
   * Returns the time of the next digest of a bucket. The interval is random, so that nodes that started at
   * the same time do not publish at the same time.
   */
  #nextDigest(): number {
    return this.#clock.now() + digestMs * (1 - Math.random() / 4)
  }

  #replicaOf(document: DocumentKey): PresenceReplica | undefined {
    const replica = this.#replicas.get(keyName(document))
    replica?.join()
    return replica?.isOpen === true ? replica : undefined
  }
}

const snapshotRequest = (documents: readonly DocumentKey[]): UnsignedMessage => ({
  type: 'request',
  documents,
})

const digestOf = (replicas: readonly PresenceReplica[], requestsReply: boolean): UnsignedMessage => ({
  type: 'digest',
  requestsReply,
  documents: replicas.map(({ document, seq }) => [document, seq]),
})
