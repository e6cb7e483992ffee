import * as s from '../../base/schema.ts'
import type { DomainEvent } from '../../events/event-recorder.ts'
import type { OutboundEvent } from '../../events/outbound-event.ts'
import type { VisitChange, Visitor } from '../../events/visit-tracker.ts'
import { deletedUser, namedUserSchema, withoutUser } from '../../model/named-users.ts'
import type { Cluster, Engine, Key, Kv, KvEntry } from '../../store/engine.ts'
import { lastSegment } from '../../store/key-encoding.ts'
import { entryPages } from '../../store/pages.ts'
import { type RecordType, readRecord } from '../../store/stored-record.ts'
import type { DirectoryOptions } from '../directory-options.ts'
import { areUsersErased, isUserErased, userDigest } from '../organizations/erased-users.ts'
import { type OrganizationScope, organizationPart } from '../organizations/organization-keys.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { mapInSlices } from '../store/batch.ts'
import type { DirectoryReader } from '../store/directory-reader.ts'
import type { Transaction } from '../store/transaction.ts'

/** Partition with one entry for each pair of a node and an organization in which that node has visits. */
const nodesPart: Key = ['visits']
const visitKeys = {
  all: ['visits'] satisfies Key,
  of: (documentId: string, userId: string): Key => ['visits', documentId, userDigest(userId)],
}
/** Maximum number of entries in one read. */
const pageMax = 500
const allVisits = { prefix: visitKeys.all, limit: pageMax }
/**
 * Maximum number of cached organizations. For a cached organization, the entry in `nodesPart` is known to be
 * written.
 */
const markedMax = 100_000
/**
 * Interval in ms of the check for dead nodes that no change of the node list has reported. While a dead node
 * still has visits, the interval is `awayMs`, but at least `soonMs`.
 */
const lookMs = 60_000
const soonMs = 1_000

/** A visit that has not ended, as it is stored. */
interface VisitRecord extends Omit<Visitor, 'kind'> {
  /** Absent in older records. */
  readonly kind?: Visitor['kind']
  readonly documentId: string
  /**
   * Incarnations of the nodes to which the user is connected, or was connected a moment ago. Older records
   * contain names of nodes instead.
   */
  readonly nodes: readonly string[]
  /** Start of the visit, in epoch milliseconds. */
  readonly at: number
}

const visitRecordType: RecordType<VisitRecord> = {
  name: 'visit',
  schema: s.object(
    {
      user: namedUserSchema,
      source: s.choice(['socket', 'rest']),
      documentId: s.string,
      nodes: s.array(s.string),
      at: s.number,
    },
    { kind: s.choice(['user', 'agent']) },
  ),
}

/**
 * Tracks the visits of users across several nodes. The record of a visit lists the nodes to which the user is
 * connected. The first of these nodes writes the record, and the last one removes it, each in one commit with
 * the event. So each visit has exactly one join and one leave, independent of the messages between nodes. If
 * a node dies, another node ends its visits.
 */
export class ClusterVisits {
  readonly #kv: Kv
  readonly #cluster: Cluster
  readonly #options: Pick<DirectoryOptions, 'store' | 'events' | 'clock' | 'log' | 'awayMs'>
  readonly #marked = new Set<string>()
  /** For each dead node that still has visits: the time at which this node first noticed its death. */
  readonly #goneSince = new Map<string, number>()
  #state: 'running' | 'stopped' = 'stopped'
  #unsubscribe: () => void = () => {}
  #cancel: () => void = () => {}
  #sweeping: Promise<void> | null = null
  #hasChanged = false

  constructor(
    { kv, cluster }: Pick<Engine, 'kv' | 'cluster'>,
    options: Pick<DirectoryOptions, 'store' | 'events' | 'clock' | 'log' | 'awayMs'>,
  ) {
    this.#kv = kv
    this.#cluster = cluster
    this.#options = options
  }

  /** Starts the checks for dead nodes. These checks end the visits of dead nodes. */
  start(): void {
    this.#state = 'running'
    this.#unsubscribe = this.#cluster.on('change', () => {
      this.#hasChanged = true
      this.#sweepIn(0)
    })
    this.#sweepIn(0)
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#unsubscribe()
    this.#cancel()
    await this.#sweeping
  }

  /**
   * Records that this node has visits in an organization. Call this method before you write visits: if this
   * node dies, only the visits of recorded organizations are ended.
   */
  async mark(scope: OrganizationScope): Promise<void> {
    const key = [this.#cluster.incarnation, scope.workspaceId, scope.apiKey, scope.organizationId]
    const name = JSON.stringify(key)
    if (this.#marked.has(name)) return
    await this.#kv.commit(nodesPart, { puts: [{ key, value: Buffer.from('{}') }] })
    if (this.#marked.size >= markedMax) this.#marked.clear()
    this.#marked.add(name)
  }

  /**
   * Applies joins and leaves to the stored visits. Returns those whose events must be recorded: a join if the
   * user was connected to no node before, a leave if the user is connected to no other node.
   */
  async admit(transaction: Transaction, visits: readonly VisitEvent[]): Promise<readonly VisitEvent[]> {
    // In an organization that is being deleted, visits are not stored.
    if ((await findOrganization(transaction)) === null) return visits
    const recorded: VisitEvent[] = []
    for (const visit of visits) {
      const isRecorded =
        visit.event.type === 'presence.join'
          ? await this.#comes(transaction, visit)
          : await leaves(transaction, keyOf(visit), this.#cluster.incarnation)
      if (isRecorded) recorded.push(visit)
    }
    return recorded
  }

  async #comes(transaction: Transaction, { visitor, documentId, at }: VisitEvent): Promise<boolean> {
    const { incarnation: self } = this.#cluster
    const key = visitKeys.of(documentId, visitor.user.userId)
    const record = await transaction.get(key, visitRecordType)
    const nodes = [...(record?.nodes ?? []).filter((node) => node !== self), self]
    if (record !== null) transaction.put(key, { ...record, nodes })
    else {
      const isErased = await isUserErased(transaction, visitor.user.userId, at)
      const user = isErased ? deletedUser : visitor.user
      transaction.put(key, { ...visitor, user, documentId, nodes, at })
    }
    return record === null
  }

  #sweepIn(ms: number): void {
    this.#cancel()
    if (this.#state === 'stopped') return
    this.#cancel = this.#options.clock.after(ms, () => {
      this.#sweeping ??= this.#sweep()
        .catch((err: unknown) =>
          this.#options.log.warn(
            { err },
            'could not record that the users of stopped nodes have left; retrying',
          ),
        )
        .finally(() => {
          this.#sweeping = null
          this.#sweepIn(this.#nextSweepMs())
        })
    })
  }

  #nextSweepMs(): number {
    if (this.#hasChanged) return 0
    return this.#goneSince.size > 0 ? Math.max(this.#options.awayMs, soonMs) : lookMs
  }

  async #sweep(): Promise<void> {
    this.#hasChanged = false
    // Another node may have considered this node dead, and may have removed its entries.
    this.#marked.clear()
    const gone = new Set<string>()
    for await (const page of entryPages((range) => this.#kv.scan(nodesPart, range), { limit: pageMax }))
      await mapInSlices(page, ({ key }) => this.#sweepMarked(key, gone))
    for (const node of this.#goneSince.keys()) if (!gone.has(node)) this.#goneSince.delete(node)
  }

  /**
   * Ends the visits of an entry of `nodesPart` if its node is dead. Only one node does this: the home node of
   * the entry. If that node fails, another node becomes the home node. If two nodes did it at the same time,
   * that would be harmless.
   */
  async #sweepMarked(key: Key, gone: Set<string>): Promise<void> {
    const [node = '', workspaceId = '', apiKey = '', organizationId = ''] = key
    if (await this.#cluster.isAlive(node)) return
    gone.add(node)
    if (!this.#isLongGone(node) || this.#cluster.owner(['visits', node]).id !== this.#cluster.self) return
    if (await this.#endVisits({ workspaceId, apiKey, organizationId }, node))
      await this.#kv.commit(nodesPart, { dels: [key] })
  }

  /**
   * Returns whether the node has been dead for `awayMs`, so that its users have had time to return on another
   * node.
   */
  #isLongGone(node: string): boolean {
    const { clock, awayMs } = this.#options
    const since = this.#goneSince.get(node) ?? clock.now()
    this.#goneSince.set(node, since)
    return since + awayMs <= clock.now()
  }

  /**
   * Ends the visits of a dead node in an organization. Returns true when all of these visits have ended;
   * false if this service was stopped before that.
   */
  async #endVisits(scope: OrganizationScope, node: string): Promise<boolean> {
    const part = organizationPart(scope)
    for await (const page of entryPages((range) => this.#kv.scan(part, range), allVisits)) {
      const left = page.filter((entry) => readRecord(visitRecordType, entry).nodes.includes(node))
      await mapInSlices(left, (entry) => this.#endVisit(scope, entry, node))
      if (this.#state === 'stopped') return false
    }
    return true
  }

  async #endVisit(scope: OrganizationScope, entry: KvEntry, node: string) {
    const { documentId, at, kind = 'user', ...visitor } = readRecord(visitRecordType, entry)
    await this.#options.store.carryOut(scope, async (transaction) => {
      if (!(await leaves(transaction, entry.key, node))) return
      const visit = { ...leaveEvent(documentId, { ...visitor, kind }), at }
      const recorded = await withoutErasedUsers(transaction, [visit])
      this.#options.events.recordNew(transaction, scope, recorded)
    })
  }
}

/**
 * Removes a node from a visit. Returns true if the visit has ended because of this: the user is connected to
 * no other node.
 */
async function leaves(transaction: Transaction, key: Key, node: string): Promise<boolean> {
  const record = await transaction.get(key, visitRecordType)
  if (record === null || !record.nodes.includes(node)) return false
  const nodes = record.nodes.filter((each) => each !== node)
  if (nodes.length === 0) transaction.delete(key)
  else transaction.put(key, { ...record, nodes })
  return nodes.length === 0
}

const keyOf = ({ visitor, documentId }: VisitEvent): Key => visitKeys.of(documentId, visitor.user.userId)

/**
 * Replaces a user with the deleted user in up to `limit` visits that have not ended. The key of a visit has only a
 * digest of the user, so the visit ends as before. Returns the number of changed visits.
 */
export async function anonymizeVisits(
  transaction: Transaction,
  userId: string,
  limit: number,
): Promise<number> {
  const digest = userDigest(userId)
  let count = 0
  for await (const page of entryPages((range) => transaction.scan(range), allVisits)) {
    for (const entry of page) {
      if (lastSegment(entry.key) !== digest || count === limit) continue
      const record = readRecord(visitRecordType, entry)
      if (record.user.userId !== userId) continue
      transaction.put(entry.key, { ...record, user: deletedUser })
      count += 1
    }
    if (count === limit) break
  }
  return count
}

/** The event that a user has joined or left a document. */
export interface VisitEvent extends Omit<VisitChange, 'document'> {
  readonly event: OutboundEvent
  readonly documentId: string
}

/** Returns the event that a user has left a document, without its time. No call has caused it. */
function leaveEvent(documentId: string, { user, kind, source }: Visitor): Omit<VisitEvent, 'at'> {
  const event: OutboundEvent = {
    type: 'presence.leave',
    documentId,
    actionUser: user,
    data: { user, kind, source },
  }
  return { event, visitor: { user, kind, source }, documentId, trace: null }
}

/**
 * Returns the events, except those of users whose data was deleted after the event. The name of such a user
 * must not appear again.
 */
export async function withoutErasedUsers(
  reader: DirectoryReader,
  visits: readonly VisitEvent[],
): Promise<readonly DomainEvent[]> {
  const erased = await areUsersErased(
    reader,
    visits.map(({ event, at }) => ({ userId: event.actionUser.userId, at })),
  )
  return visits.map(({ event, trace }, index) => {
    const outbound = erased[index] === true ? withoutUser(event, { userId: event.actionUser.userId }) : event
    return { activity: null, outbound, trace }
  })
}
