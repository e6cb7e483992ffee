import type { Clock } from '../../clock.ts'
import { bucketOf } from '../../engine/buckets.ts'
import { keyName } from '../../engine/key-encoding.ts'
import type { DocumentScope } from '../../model/address.ts'
import { answerMs } from '../replication/node-requests.ts'
import type { HybridLogicalClock } from './hybrid-logical-clock.ts'
import { documentKey, type MessageSender } from './presence-messages.ts'
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

/** A node that is not heard of a document for so long has nothing to do with it any more. */
const nodeTimeoutMs = 60_000
/** Who has nothing to say goes on listening for so long: whoever asks next is answered at once. */
const lingerMs = 20_000
/** What is missing is asked for again after this. */
const requestAgainMs = 300
/** What clients say of their users changes in bursts: it goes with what they show, or so much later. */
const statusDelayMs = 40

/** How often a node without others deletes expired records; with others, each tick does. */
const sweepMs = 15_000

/** Of more users than these the ones who are no virtual users are repeated no longer than `repeatForMs`. */
export const restRecordsMax = 1_000

/** The presence of the document on this node. */
export interface PresenceReplicaOwner {
  /** The record of a user with sockets here; null without one that is shown. */
  userRecord(userId: string): NodeUserRecord | null
  /** The record of a client here; null: it shows nothing. */
  clientRecord(editorId: string, clientId: number): ClientRecord | null
  /** All of these. */
  records(): Iterable<NodeUserRecord | ClientRecord>
  remoteChanged(changes: RemoteChanges): void
  /** Is nobody here? */
  readonly isIdle: boolean
  /** Nothing is heard any more. */
  closed(): void
}

/** All documents of this node. */
export interface PresenceReplicaDependencies {
  readonly clock: Clock
  readonly logicalClock: HybridLogicalClock
  /** Numbers that only grow. */
  readonly nextSeq: () => number
  /** True if other nodes exist, or have existed. */
  readonly hasOtherNodes: () => boolean
  opened(replica: PresenceReplica): void
  closed(replica: PresenceReplica): void
  publish(replica: PresenceReplica, deltas: readonly PresenceDelta<PresenceRecord>[]): void
  requestSnapshots(replica: PresenceReplica, node: string): void
  /** Resolves when the others have what this node has said, and it has what they have; or has waited long enough. */
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
 * Where one document's presence is exchanged with the other nodes: what this node says of it, and what the others do.
 * Open while somebody is here, or has asked a moment ago.
 */
export class PresenceReplica implements StateSource<PresenceRecord> {
  readonly document: DocumentScope
  /** Where it is told of. */
  readonly bucket: number
  readonly remote = new RemotePresence()
  readonly #dependencies: PresenceReplicaDependencies
  readonly #owner: PresenceReplicaOwner
  readonly #remoteNodes = new Map<string, RemoteNode>()
  /** The last REST call on each user, to this node. */
  readonly #restRecords = new Map<string, RestUserRecord>()
  /** When a client of a user showed something last. */
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
    this.document = document
    this.bucket = bucketOf(keyName(documentKey(document)))
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

  /** True if another node uses the document. */
  get hasRemoteNodes(): boolean {
    return this.#remoteNodes.size > 0
  }

  /** Number of what was said last. */
  get seq(): number {
    return this.#log.seq
  }

  /** The document is used here: exchanges it from now on, if there are other nodes. */
  open(): void {
    this.#usedAt = this.#dependencies.clock.now()
    this.#open()
  }

  #open(): void {
    if (this.#state === 'open' || !this.#dependencies.hasOtherNodes()) return
    this.#state = 'open'
    this.#dependencies.opened(this)
  }

  /** Exchanges the document because another node does, if it is used here. */
  join(): void {
    if (!this.#owner.isIdle || this.#restRecords.size > 0) this.#open()
  }

  /** The current record of a name. */
  value(name: string): PresenceRecord | null {
    const named = parseRecordName(name)
    if (named.kind === 'client') return this.#owner.clientRecord(named.editorId, named.clientId)
    return named.kind === 'user' ? this.#owner.userRecord(named.userId) : this.#ownRest(named.userId)
  }

  /** All current records. */
  *entries(): Iterable<PresenceStateEntry<PresenceRecord>> {
    for (const record of this.#owner.records()) yield [recordName(record), record]
    for (const record of this.#restRecords.values()) yield [recordName(record), record]
  }

  /** @param what the part of a user's record that has changed; `there` is published at once */
  userChanged(userId: string, what: 'sockets' | 'status' = 'sockets'): void {
    this.open()
    this.#change(userRecordName(userId), what === 'sockets' ? 0 : statusDelayMs)
  }

  /** A client here shows something else, or nothing. */
  clientChanged(editorId: string, clientId: number): void {
    this.#change(clientName(editorId, clientId), 0)
  }

  writeRest(record: RestUserRecord): void {
    this.open()
    this.#storeRest(record)
    this.#scheduleSweep()
  }

  /** What REST has said of a user, to any node. */
  restRecord(userId: string): RestUserRecord | null {
    const own = this.#ownRest(userId)
    const remote = this.remote.restRecord(userId)
    return own === null || remote === null ? (own ?? remote) : mergeRestRecords(own, remote)
  }

  /** Has REST said it here, or is it kept here for a node that is gone? */
  hasOwnRest(userId: string): boolean {
    return this.#ownRest(userId) !== null
  }

  /** When another node has seen a user: epoch milliseconds. */
  lastSeen(record: NodeUserRecord): number {
    return Math.max(record.lastSeen, this.#lastClientUpdates.get(record.userId) ?? 0)
  }

  /** @param need `changes`: something has just been said here, which the others shall have, too */
  async sync(need: 'state' | 'changes'): Promise<void> {
    this.open()
    if (!this.isOpen || (need === 'state' && this.#isSynced)) return
    const outcome = await this.#dependencies.sync(this)
    this.#isSynced = outcome === 'complete' && this.#state === 'open'
  }

  /** Says what has changed, at once. */
  flush(): void {
    this.#flushing?.cancel()
    this.#flushing = null
    if (this.#state === 'open') this.#dependencies.publish(this, this.#log.deltas())
  }

  snapshots(): readonly PresenceSnapshot<PresenceRecord>[] {
    this.flush()
    return this.#log.snapshots()
  }

  /** Messages may be missing. */
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

  /** Another node has said so much of the document. Returns whether something of it is missing here. */
  compareDigest(sender: MessageSender, seq: number): 'missing' | 'complete' {
    const node = this.#remoteNode(sender)
    if (node === null || node.state.knownSeq >= seq) return 'complete'
    node.requestedAt = this.#dependencies.clock.now()
    return 'missing'
  }

  knownSeq(node: string): number {
    return this.#remoteNodes.get(node)?.state.knownSeq ?? -1
  }

  /** Resolves when all is known that a node has said up to this number, or after a time. */
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

  /** A node is gone, and with it all that it has said. Users whom REST has named to it stay for their time. */
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

  /** Drops what is not in the list. */
  keepNodes(nodes: ReadonlySet<string>): void {
    for (const node of this.#remoteNodes.keys()) if (!nodes.has(node)) this.dropNode(node)
  }

  /** What is over after some time. */
  tick(): void {
    const now = this.#dependencies.clock.now()
    for (const [node, { confirmedAt }] of this.#remoteNodes)
      if (confirmedAt + nodeTimeoutMs <= now) this.dropNode(node)
    this.#expireRests(now)
    if (this.#owner.isIdle && this.#restRecords.size === 0 && this.#usedAt + lingerMs <= now) this.#close()
  }

  /** Says no more, and does not care who is there. */
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

  #storeRest(record: RestUserRecord): void {
    this.#restRecords.set(record.userId, record)
    this.#change(recordName(record), 0)
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

  /** With what is known besides: who else says that may not have heard of all of it. */
  #adopt({ userId }: RestUserRecord): void {
    const merged = this.restRecord(userId)
    if (merged !== null && merged.keptUntil > this.#dependencies.clock.now()) this.#storeRest(merged)
  }

  /** What was said later elsewhere is said here, too: it must not come back when that is repeated no more. */
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

  /** Null: it has gone, and somebody else has taken its name. */
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

/** True if all nodes have had time to receive that this is not a virtual user. */
const isPast = (rest: RestUserRecord, now: number): boolean =>
  !isVirtualUser(rest, now) && rest.lastSeen + repeatForMs <= now
