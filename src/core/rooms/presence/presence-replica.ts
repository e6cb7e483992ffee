import type { Clock } from '../../base/clock.ts'
import type { DocumentScope } from '../../model/address.ts'
import { bucketOf } from '../../store/buckets.ts'
import { answerMs } from '../../store/node-requests.ts'
import type { HybridLogicalClock } from './hybrid-logical-clock.ts'
import { type DocumentKey, documentKey, type MessageSender } from './presence-messages.ts'
import {
  type ClientRecord,
  clientName,
  isVirtualUser,
  mergeRestRecords,
  type NodeUserRecord,
  type PresenceRecord,
  parseRecordName,
  type RestUserRecord,
  recordName,
  repeatForMs,
  userRecordName,
} from './presence-records.ts'
import { type RemoteChanges, RemotePresence } from './remote-presence.ts'
import {
  LocalStateLog,
  type PresenceDelta,
  type PresenceSnapshot,
  type PresenceStateEntry,
  RemotePresenceState,
  type StateSource,
} from './state-log.ts'

/**
 * Milliseconds without a message from a node about a document, after which this node drops the states of that
 * node for the document.
 */
const nodeTimeoutMs = 60_000
/**
 * Milliseconds for which a replica without users stays open, so that the next REST call for the document gets
 * an immediate response.
 */
const lingerMs = 20_000
/** Minimum milliseconds between two requests for the missing changes of a node. */
const requestAgainMs = 300
/**
 * Maximum milliseconds by which the publication of a changed status, or of a writer that moves, is delayed. These
 * changes occur in bursts, so they wait for the next message with awareness states.
 */
const statusDelayMs = 40

/**
 * Interval in milliseconds at which a single node deletes expired records. In a cluster, each tick deletes
 * the expired records.
 */
const sweepMs = 15_000

/**
 * Maximum number of records of REST calls for which the normal retention applies. If there are more, the
 * records of users who are not virtual users are published only for `repeatForMs`.
 */
export const restRecordsMax = 1_000

/** The owner of the replica: the presence of the document on this node. */
export interface PresenceReplicaOwner {
  /** Returns the record of a user; null if the user has no visible socket on this node. */
  userRecord(userId: string): NodeUserRecord | null
  /** Returns the record of a client; null if the client has no state on this node. */
  clientRecord(editorId: string, clientId: number): ClientRecord | null
  /** Returns all user and client records of this node. */
  records(): Iterable<NodeUserRecord | ClientRecord>
  remoteChanged(changes: RemoteChanges): void
  /** True if the document has no users on this node. */
  readonly isIdle: boolean
  /** Called when the replica has closed. */
  closed(): void
}

/** The dependencies that all replicas of this node have in common. */
export interface PresenceReplicaDependencies {
  readonly clock: Clock
  readonly logicalClock: HybridLogicalClock
  /** Returns a sequence number that is higher than all earlier ones of this process. */
  readonly nextSeq: () => number
  /** True if other nodes exist, or have existed. */
  readonly hasOtherNodes: () => boolean
  opened(replica: PresenceReplica): void
  closed(replica: PresenceReplica): void
  publish(replica: PresenceReplica, deltas: readonly PresenceDelta<PresenceRecord>[]): void
  requestSnapshots(replica: PresenceReplica, node: string): void
  /**
   * Resolves when the other nodes have the changes of this node for the document, and this node has the
   * changes of the other nodes. Resolves with `partly` if some nodes do not reply in time.
   */
  sync(replica: PresenceReplica): Promise<'complete' | 'partly'>
}

interface RemoteNode {
  readonly incarnation: number
  readonly state: RemotePresenceState<PresenceRecord>
  confirmedAt: number
  requestedAt: number
}

interface ExpectedSnapshot {
  readonly node: string
  readonly seq: number
  readonly resolve: () => void
}

/**
 * Exchanges the presence of one document with the other nodes: publishes the states of this node, and applies
 * the states of the other nodes. The replica is open while the document has users on this node, and for
 * `lingerMs` after its last use.
 */
export class PresenceReplica implements StateSource<PresenceRecord> {
  readonly document: DocumentKey
  /** Number of the bucket of the document. It determines the bus topic. */
  readonly bucket: number
  readonly remote = new RemotePresence()
  readonly #dependencies: PresenceReplicaDependencies
  readonly #owner: PresenceReplicaOwner
  readonly #remoteNodes = new Map<string, RemoteNode>()
  /**
   * For each user, the merged record of the REST calls that this node has received, or has adopted from a
   * node that stopped.
   */
  readonly #restRecords = new Map<string, RestUserRecord>()
  /** Time of the last awareness state of a user's clients on other nodes, in epoch milliseconds, by user. */
  readonly #lastClientUpdates = new Map<string, number>()
  #log: LocalStateLog<PresenceRecord>
  #state: 'closed' | 'open' = 'closed'
  #usedAt = 0
  #isSynced = false
  #expected: ExpectedSnapshot[] = []
  #flushing: { readonly at: number; readonly cancel: () => void } | null = null
  #cancelSweep: (() => void) | null = null

  constructor(
    document: DocumentScope,
    owner: PresenceReplicaOwner,
    dependencies: PresenceReplicaDependencies,
  ) {
    this.document = documentKey(document)
    this.bucket = bucketOf(this.document)
    this.#owner = owner
    this.#dependencies = dependencies
    this.#log = new LocalStateLog(this, dependencies.nextSeq)
  }

  get logicalClock(): HybridLogicalClock {
    return this.#dependencies.logicalClock
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** True if this node has states of another node for the document. */
  get hasRemoteNodes(): boolean {
    return this.#remoteNodes.size > 0
  }

  /** Sequence number of the last published change of this node. */
  get seq(): number {
    return this.#log.seq
  }

  /** Opens the replica, if there are other nodes. Call it whenever the document is used on this node. */
  open(): void {
    this.#usedAt = this.#dependencies.clock.now()
    this.#open()
  }

  #open(): void {
    if (this.#state === 'open' || !this.#dependencies.hasOtherNodes()) return
    this.#state = 'open'
    this.#dependencies.opened(this)
  }

  /**
   * Opens the replica, if the document has users or records on this node. Call it when another node uses the
   * document.
   */
  join(): void {
    if (!this.#owner.isIdle || this.#restRecords.size > 0) this.#open()
  }

  /** Returns the current record of this node with this name; null if there is none. */
  value(name: string): PresenceRecord | null {
    const named = parseRecordName(name)
    if (named.kind === 'client') return this.#owner.clientRecord(named.editorId, named.clientId)
    return named.kind === 'user' ? this.#owner.userRecord(named.userId) : this.#ownRest(named.userId)
  }

  /** Returns all current records of this node, with their names. */
  *entries(): Iterable<PresenceStateEntry<PresenceRecord>> {
    for (const record of this.#owner.records()) yield [recordName(record), record]
    for (const record of this.#restRecords.values()) yield [recordName(record), record]
  }

  /**
   * Publishes the changed record of a user on this node.
   * @param what the part of the record that has changed: `sockets` is published immediately, `status` after a
   * short delay
   */
  userChanged(userId: string, what: 'sockets' | 'status' = 'sockets'): void {
    this.open()
    this.#change(userRecordName(userId), what === 'sockets' ? 0 : statusDelayMs)
  }

  /** Publishes the changed state of a client on this node. */
  clientChanged(editorId: string, clientId: number): void {
    this.#change(clientName(editorId, clientId), 0)
  }

  writeRest(record: RestUserRecord): void {
    this.open()
    const isMove = record.fields.writerOf !== undefined && this.#restRecords.has(record.userId)
    this.#storeRest(record, isMove ? statusDelayMs : 0)
    this.#scheduleSweep()
  }

  /** Returns the record of the REST calls for a user, merged from all nodes; null if there were no calls. */
  restRecord(userId: string): RestUserRecord | null {
    const own = this.#ownRest(userId)
    const remote = this.remote.restRecord(userId)
    return own === null || remote === null ? (own ?? remote) : mergeRestRecords(own, remote)
  }

  /**
   * Returns whether this node has received a REST call for the user, or has adopted the record of the user
   * from a node that stopped.
   */
  hasOwnRest(userId: string): boolean {
    return this.#ownRest(userId) !== null
  }

  /** Returns the time of the last message of a user on another node, in epoch milliseconds. */
  lastSeen(record: NodeUserRecord): number {
    return Math.max(record.lastSeen, this.#lastClientUpdates.get(record.userId) ?? 0)
  }

  /**
   * Waits until this node has the states of the other nodes, or until a timeout.
   * @param need `changes`: also waits until the other nodes have received the last change of this node
   */
  async sync(need: 'state' | 'changes'): Promise<void> {
    this.open()
    if (!this.isOpen || (need === 'state' && this.#isSynced)) return
    const outcome = await this.#dependencies.sync(this)
    this.#isSynced = outcome === 'complete' && this.#state === 'open'
  }

  /** Publishes the waiting changes immediately. */
  flush(): void {
    this.#flushing?.cancel()
    this.#flushing = null
    if (this.#state === 'open') this.#dependencies.publish(this, this.#log.deltas())
  }

  snapshots(): readonly PresenceSnapshot<PresenceRecord>[] {
    this.flush()
    return this.#log.snapshots()
  }

  /**
   * Marks the states of other nodes as possibly outdated, so that the next `sync` requests them again. Call
   * it when messages may have been lost.
   */
  invalidate(): void {
    this.#isSynced = false
  }

  applyDelta(sender: MessageSender, delta: PresenceDelta<PresenceRecord>): void {
    const node = this.#remoteNode(sender)
    if (node === null) return
    this.#apply(sender.from, node.state.applyDelta(delta))
    if (delta.seq > node.state.knownSeq) this.#request(sender.from, node)
  }

  applySnapshot(sender: MessageSender, snapshots: PresenceSnapshot<PresenceRecord>): void {
    const node = this.#remoteNode(sender)
    if (node !== null) this.#apply(sender.from, node.state.applySnapshot(snapshots))
  }

  /**
   * Returns whether changes of another node are missing on this node.
   * @param seq the last sequence number of the other node, from its digest
   */
  compareDigest(sender: MessageSender, seq: number): 'missing' | 'complete' {
    const node = this.#remoteNode(sender)
    if (node === null || node.state.knownSeq >= seq) return 'complete'
    node.requestedAt = this.#dependencies.clock.now()
    return 'missing'
  }

  knownSeq(node: string): number {
    return this.#remoteNodes.get(node)?.state.knownSeq ?? -1
  }

  /**
   * Resolves when all changes of a node up to this sequence number have arrived, or after `answerMs`.
   * Requests the changes if they are missing.
   */
  waitForSeq(sender: MessageSender, seq: number): Promise<void> {
    const node = this.#remoteNode(sender)
    if (node === null || node.state.knownSeq >= seq) return Promise.resolve()
    this.#request(sender.from, node)
    return new Promise((resolve) => {
      const cancel = this.#dependencies.clock.after(answerMs, resolve)
      const done = (): void => {
        cancel()
        resolve()
      }
      this.#expected.push({ node: sender.from, seq, resolve: done })
    })
  }

  /**
   * Drops the states of a node that has stopped. This node adopts the virtual users of that node: it
   * publishes their records until they expire.
   */
  dropNode(node: string): void {
    const remoteNode = this.#remoteNodes.get(node)
    if (remoteNode === undefined) return
    const entries = [...remoteNode.state.entries()]
    if (this.isOpen) for (const [, record] of entries) if (record.kind === 'rest') this.#adopt(record)
    this.#remoteNodes.delete(node)
    this.#apply(
      node,
      entries.map(([name]): PresenceStateEntry<PresenceRecord> => [name, null]),
    )
  }

  /** Drops the states of all nodes that are not in the set. */
  keepNodes(nodes: ReadonlySet<string>): void {
    for (const node of this.#remoteNodes.keys()) if (!nodes.has(node)) this.dropNode(node)
  }

  /**
   * Drops the states of nodes that have timed out, deletes expired records, and closes the replica if it is
   * no longer used.
   */
  tick(): void {
    const now = this.#dependencies.clock.now()
    for (const [node, { confirmedAt }] of this.#remoteNodes)
      if (confirmedAt + nodeTimeoutMs <= now) this.dropNode(node)
    this.#expireRests(now)
    if (this.#owner.isIdle && this.#restRecords.size === 0 && this.#usedAt + lingerMs <= now) this.#close()
  }

  /** Stops publishing. The states of the users stay. */
  end(): void {
    this.#state = 'closed'
    this.#flushing?.cancel()
    this.#flushing = null
    this.#cancelSweep?.()
    this.#cancelSweep = null
    for (const { resolve } of this.#expected) resolve()
  }

  #close(): void {
    this.flush()
    this.end()
    this.#isSynced = false
    for (const node of this.#remoteNodes.keys()) this.dropNode(node)
    this.#log = new LocalStateLog(this, this.#dependencies.nextSeq)
    this.#dependencies.closed(this)
    this.#owner.closed()
  }

  #ownRest(userId: string): RestUserRecord | null {
    return this.#restRecords.get(userId) ?? null
  }

  #storeRest(record: RestUserRecord, waitMs = 0): void {
    this.#restRecords.set(record.userId, record)
    this.#change(recordName(record), waitMs)
  }

  #expireRests(now: number): void {
    const areTooMany = this.#restRecords.size > restRecordsMax
    for (const [userId, rest] of this.#restRecords) {
      if (rest.keptUntil > now && !(areTooMany && isPast(rest, now))) continue
      this.#restRecords.delete(userId)
      this.#change(recordName(rest), 0)
    }
  }

  #scheduleSweep(): void {
    if (this.isOpen || this.#restRecords.size === 0) return
    const { clock } = this.#dependencies
    this.#cancelSweep ??= clock.after(sweepMs, () => {
      this.#cancelSweep = null
      this.#expireRests(clock.now())
      this.#scheduleSweep()
    })
  }

  /**
   * Stores the merged record of a user as a record of this node. The record of the stopped node alone is not
   * enough, because other nodes with a record of the user may know of later calls.
   */
  #adopt({ userId }: RestUserRecord): void {
    const merged = this.restRecord(userId)
    if (merged !== null && merged.keptUntil > this.#dependencies.clock.now()) this.#storeRest(merged)
  }

  /**
   * Replaces this node's record of a user with the merged record, if that is newer. Otherwise the old record
   * would take effect again when the newer record of the other node expires.
   */
  #storeNewerRest(userId: string): void {
    const own = this.#ownRest(userId)
    const merged = this.restRecord(userId)
    if (own !== null && merged !== null && merged !== own) this.#storeRest(merged)
  }

  #change(name: string, waitMs: number): void {
    if (!this.isOpen) return
    this.#log.change(name)
    this.#schedule(waitMs)
  }

  #schedule(waitMs: number): void {
    const { clock } = this.#dependencies
    const at = clock.now() + waitMs
    if (this.#flushing !== null && this.#flushing.at <= at) return
    this.#flushing?.cancel()
    this.#flushing = { at, cancel: clock.after(waitMs, () => this.flush()) }
  }

  /**
   * Returns the node that sent a message, and records that the node is alive. Returns null if an earlier
   * process of the node sent the message.
   */
  #remoteNode({ from, incarnation }: MessageSender): RemoteNode | null {
    const now = this.#dependencies.clock.now()
    const known = this.#remoteNodes.get(from)
    if (known !== undefined && known.incarnation > incarnation) return null
    if (known !== undefined && known.incarnation < incarnation) this.dropNode(from)
    const node = this.#remoteNodes.get(from) ?? {
      incarnation,
      state: new RemotePresenceState(),
      confirmedAt: now,
      requestedAt: 0,
    }
    this.#remoteNodes.set(from, node)
    node.confirmedAt = now
    return node
  }

  #request(node: string, remoteNode: RemoteNode): void {
    const now = this.#dependencies.clock.now()
    if (remoteNode.requestedAt + requestAgainMs > now) return
    remoteNode.requestedAt = now
    this.#dependencies.requestSnapshots(this, node)
  }

  #apply(node: string, entries: readonly PresenceStateEntry<PresenceRecord>[]): void {
    this.#resolveExpected(node)
    if (entries.length === 0) return
    const changes = this.remote.apply(node, entries)
    for (const userId of changes.userIds) this.#storeNewerRest(userId)
    const now = this.#dependencies.clock.now()
    for (const [, record] of entries)
      if (record?.kind === 'client') this.#lastClientUpdates.set(record.userId, now)
    for (const userId of changes.userIds)
      if (this.remote.userRecords(userId).length === 0) this.#lastClientUpdates.delete(userId)
    this.#owner.remoteChanged(changes)
  }

  #resolveExpected(node: string): void {
    if (this.#expected.length === 0) return
    const knownSeq = this.knownSeq(node)
    const arrived = this.#expected.filter((each) => each.node === node && each.seq <= knownSeq)
    this.#expected = this.#expected.filter((each) => !arrived.includes(each))
    for (const { resolve } of arrived) resolve()
  }
}

/**
 * Returns whether a record is no longer needed: the user is not a virtual user, and all nodes have had time
 * to receive this information.
 */
const isPast = (rest: RestUserRecord, now: number): boolean =>
  !isVirtualUser(rest, now) && rest.lastSeen + repeatForMs <= now
