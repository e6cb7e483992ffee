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
const silentMs = 60_000
/** Who has nothing to say goes on listening for so long: whoever asks next is answered at once. */
const lingerMs = 20_000
/** What is missing is asked for again after this. */
const askAgainMs = 300
/** What clients say of their users changes in bursts: it goes with what they show, or so much later. */
const sayingMs = 40

/** How often a node without others deletes expired records; with others, each tick does. */
const sweepMs = 15_000

/** Of more users than these the ones who are no virtual users are repeated no longer than `repeatForMs`. */
export const restsMax = 1_000

/** The presence of the document on this node. */
export interface PresenceReplicaOwner {
  /** The record of a user with sockets here; null without one that is shown. */
  personRecord(userId: string): NodeUserRecord | null
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
  readonly stamps: HybridLogicalClock
  /** Numbers that only grow. */
  readonly next: () => number
  /** True if other nodes exist, or have existed. */
  readonly hasListeners: () => boolean
  opened(replica: PresenceReplica): void
  closed(replica: PresenceReplica): void
  publish(replica: PresenceReplica, deltas: readonly PresenceDelta<PresenceRecord>[]): void
  askFor(replica: PresenceReplica, node: string): void
  /** Resolves when the others have what this node has said, and it has what they have; or has waited long enough. */
  sync(replica: PresenceReplica): Promise<'complete' | 'partly'>
}

interface Other {
  readonly life: number
  readonly account: RemotePresenceState<PresenceRecord>
  confirmedAt: number
  askedAt: number
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
  readonly #tools: PresenceReplicaDependencies
  readonly #owner: PresenceReplicaOwner
  readonly #others = new Map<string, Other>()
  /** The last REST call on each user, to this node. */
  readonly #rests = new Map<string, RestUserRecord>()
  /** When a client of a user showed something last. */
  readonly #seen = new Map<string, number>()
  #log: LocalStateLog<PresenceRecord>
  #state: 'closed' | 'open' = 'closed'
  #usedAt = 0
  #isSynced = false
  #expected: ExpectedSnapshot[] = []
  #flushing: { readonly at: number; readonly cancel: () => void } | null = null
  #cancelSweep: (() => void) | null = null

  constructor(document: DocumentScope, owner: PresenceReplicaOwner, tools: PresenceReplicaDependencies) {
    this.document = document
    this.bucket = bucketOf(keyName(documentKey(document)))
    this.#owner = owner
    this.#tools = tools
    this.#log = new LocalStateLog(this, tools.next)
  }

  get stamps(): HybridLogicalClock {
    return this.#tools.stamps
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** True if another node uses the document. */
  get hasOthers(): boolean {
    return this.#others.size > 0
  }

  /** Number of what was said last. */
  get seq(): number {
    return this.#log.seq
  }

  /** The document is used here: exchanges it from now on, if there are other nodes. */
  use(): void {
    this.#usedAt = this.#tools.clock.now()
    this.open()
  }

  open(): void {
    if (this.#state === 'open' || !this.#tools.hasListeners()) return
    this.#state = 'open'
    this.#tools.opened(this)
  }

  /** Exchanges the document because another node does, if it is used here. */
  join(): void {
    if (!this.#owner.isIdle || this.#rests.size > 0) this.open()
  }

  /** The current record of a name. */
  value(name: string): PresenceRecord | null {
    const named = parseRecordName(name)
    if (named.kind === 'client') return this.#owner.clientRecord(named.editorId, named.clientId)
    return named.kind === 'person' ? this.#owner.personRecord(named.userId) : this.#ownRest(named.userId)
  }

  /** All current records. */
  *entries(): Iterable<PresenceStateEntry<PresenceRecord>> {
    for (const record of this.#owner.records()) yield [recordName(record), record]
    for (const record of this.#rests.values()) yield [recordName(record), record]
  }

  /** @param what the part of a user's record that has changed; `there` is published at once */
  personChanged(userId: string, what: 'there' | 'saying' = 'there'): void {
    this.use()
    this.#change(userRecordName(userId), what === 'there' ? 0 : sayingMs)
  }

  /** A client here shows something else, or nothing. */
  clientChanged(editorId: string, clientId: number): void {
    this.#change(clientName(editorId, clientId), 0)
  }

  write(record: RestUserRecord): void {
    this.use()
    this.#keepRest(record)
    this.#scheduleSweep()
  }

  /** What REST has said of a user, to any node. */
  rest(userId: string): RestUserRecord | null {
    const own = this.#ownRest(userId)
    const remote = this.remote.rest(userId)
    return own === null || remote === null ? (own ?? remote) : mergeRestRecords(own, remote)
  }

  /** Has REST said it here, or is it kept here for a node that is gone? */
  keepsRest(userId: string): boolean {
    return this.#ownRest(userId) !== null
  }

  /** When another node has seen a user: epoch milliseconds. */
  lastSeen(record: NodeUserRecord): number {
    return Math.max(record.lastSeen, this.#seen.get(record.userId) ?? 0)
  }

  /** @param need `changes`: something has just been said here, which the others shall have, too */
  async sync(need: 'state' | 'changes'): Promise<void> {
    this.use()
    if (!this.isOpen || (need === 'state' && this.#isSynced)) return
    const outcome = await this.#tools.sync(this)
    this.#isSynced = outcome === 'complete' && this.#state === 'open'
  }

  /** Says what has changed, at once. */
  flush(): void {
    this.#flushing?.cancel()
    this.#flushing = null
    if (this.#state === 'open') this.#tools.publish(this, this.#log.deltas())
  }

  full(): readonly PresenceSnapshot<PresenceRecord>[] {
    this.flush()
    return this.#log.full()
  }

  /** Messages may be missing. */
  doubt(): void {
    this.#isSynced = false
  }

  hearDelta(sender: MessageSender, delta: PresenceDelta<PresenceRecord>): void {
    const other = this.#other(sender)
    if (other === null) return
    this.#changed(sender.from, other.account.delta(delta))
    if (delta.seq > other.account.have) this.#ask(sender.from, other)
  }

  hearFull(sender: MessageSender, full: PresenceSnapshot<PresenceRecord>): void {
    const other = this.#other(sender)
    if (other !== null) this.#changed(sender.from, other.account.full(full))
  }

  /** Another node has said so much of the document. Returns whether something of it is missing here. */
  hearDigest(sender: MessageSender, seq: number): 'missing' | 'known' {
    const other = this.#other(sender)
    if (other === null || other.account.have >= seq) return 'known'
    other.askedAt = this.#tools.clock.now()
    return 'missing'
  }

  have(node: string): number {
    return this.#others.get(node)?.account.have ?? -1
  }

  /** Resolves when all is known that a node has said up to this number, or after a time. */
  caughtUp(sender: MessageSender, seq: number): Promise<void> {
    const other = this.#other(sender)
    if (other === null || other.account.have >= seq) return Promise.resolve()
    this.#ask(sender.from, other)
    return new Promise((resolve) => {
      const cancel = this.#tools.clock.after(answerMs, resolve)
      const done = (): void => {
        cancel()
        resolve()
      }
      this.#expected.push({ node: sender.from, seq, resolve: done })
    })
  }

  /** A node is gone, and with it all that it has said. Users whom REST has named to it stay for their time. */
  drop(node: string): void {
    const other = this.#others.get(node)
    if (other === undefined) return
    const entries = [...other.account.entries()]
    if (this.isOpen) for (const [, record] of entries) if (record.kind === 'rest') this.#adopt(record)
    this.#others.delete(node)
    this.#changed(
      node,
      entries.map(([name]): PresenceStateEntry<PresenceRecord> => [name, null]),
    )
  }

  /** Drops what is not in the list. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of this.#others.keys()) if (!nodes.has(node)) this.drop(node)
  }

  /** What is over after some time. */
  tick(): void {
    const now = this.#tools.clock.now()
    for (const [node, { confirmedAt }] of this.#others) if (confirmedAt + silentMs <= now) this.drop(node)
    this.#forgetRests(now)
    if (this.#owner.isIdle && this.#rests.size === 0 && this.#usedAt + lingerMs <= now) this.#close()
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
    for (const node of this.#others.keys()) this.drop(node)
    this.#log = new LocalStateLog(this, this.#tools.next)
    this.#tools.closed(this)
    this.#owner.closed()
  }

  #ownRest(userId: string): RestUserRecord | null {
    return this.#rests.get(userId) ?? null
  }

  #keepRest(record: RestUserRecord): void {
    this.#rests.set(record.userId, record)
    this.#change(recordName(record), 0)
  }

  #forgetRests(now: number): void {
    const areTooMany = this.#rests.size > restsMax
    for (const [userId, rest] of this.#rests) {
      if (rest.keptUntil > now && !(areTooMany && isPast(rest, now))) continue
      this.#rests.delete(userId)
      this.#change(recordName(rest), 0)
    }
  }

  #scheduleSweep(): void {
    if (this.isOpen || this.#rests.size === 0) return
    const { clock } = this.#tools
    this.#cancelSweep ??= clock.after(sweepMs, () => {
      this.#cancelSweep = null
      this.#forgetRests(clock.now())
      this.#scheduleSweep()
    })
  }

  /** With what is known besides: who else says that may not have heard of all of it. */
  #adopt({ userId }: RestUserRecord): void {
    const merged = this.rest(userId)
    if (merged !== null && merged.keptUntil > this.#tools.clock.now()) this.#keepRest(merged)
  }

  /** What was said later elsewhere is said here, too: it must not come back when that is repeated no more. */
  #renewRest(userId: string): void {
    const own = this.#ownRest(userId)
    const merged = this.rest(userId)
    if (own !== null && merged !== null && merged !== own) this.#keepRest(merged)
  }

  #change(name: string, waitMs: number): void {
    if (!this.isOpen) return
    this.#log.change(name)
    this.#schedule(waitMs)
  }

  #schedule(waitMs: number): void {
    const { clock } = this.#tools
    const at = clock.now() + waitMs
    if (this.#flushing !== null && this.#flushing.at <= at) return
    this.#flushing?.cancel()
    this.#flushing = { at, cancel: clock.after(waitMs, () => this.flush()) }
  }

  /** Null: it has gone, and somebody else has taken its name. */
  #other({ from, life }: MessageSender): Other | null {
    const now = this.#tools.clock.now()
    const known = this.#others.get(from)
    if (known !== undefined && known.life > life) return null
    if (known !== undefined && known.life < life) this.drop(from)
    const other = this.#others.get(from) ?? {
      life,
      account: new RemotePresenceState(),
      confirmedAt: now,
      askedAt: 0,
    }
    this.#others.set(from, other)
    other.confirmedAt = now
    return other
  }

  #ask(node: string, other: Other): void {
    const now = this.#tools.clock.now()
    if (other.askedAt + askAgainMs > now) return
    other.askedAt = now
    this.#tools.askFor(this, node)
  }

  #changed(node: string, entries: readonly PresenceStateEntry<PresenceRecord>[]): void {
    this.#checkExpected(node)
    if (entries.length === 0) return
    const changes = this.remote.take(node, entries)
    for (const userId of changes.userIds) this.#renewRest(userId)
    const now = this.#tools.clock.now()
    for (const [, record] of entries) if (record?.kind === 'client') this.#seen.set(record.userId, now)
    for (const userId of changes.userIds)
      if (this.remote.person(userId).length === 0) this.#seen.delete(userId)
    this.#owner.remoteChanged(changes)
  }

  #checkExpected(node: string): void {
    if (this.#expected.length === 0) return
    const have = this.have(node)
    const arrived = this.#expected.filter((each) => each.node === node && each.seq <= have)
    this.#expected = this.#expected.filter((each) => !arrived.includes(each))
    for (const { resolve } of arrived) resolve()
  }
}

/** True if all nodes have had time to receive that this is not a virtual user. */
const isPast = (rest: RestUserRecord, now: number): boolean =>
  !isVirtualUser(rest, now) && rest.lastSeen + repeatForMs <= now
