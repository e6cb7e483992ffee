import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../core/base/log.ts'
import { bucketOf } from '../../../core/store/buckets.ts'
import {
  type Cluster,
  type EndOfUse,
  EngineOpenError,
  type Key,
  type NodeAddress,
  NotOwnerError,
  StoreUnavailableError,
  type Term,
} from '../../../core/store/engine.ts'
import type { PostgresDatabase, WritePermission } from '../connection/database.ts'
import type { DatabaseSession } from '../connection/database-session.ts'
import { BucketTerms } from './bucket-terms.ts'
import type { DatabaseClock } from './database-clock.ts'
import { homeNodeOf } from './home-node.ts'
import {
  type ClusterNode,
  deadMs,
  firstDeadInMs,
  type HeartbeatResult,
  type NodeIdentity,
  type NodeReport,
  removeDeadNodes,
  removeNode,
  writeHeartbeat,
} from './node-rows.ts'
import type { NotifyBus } from './notify-bus.ts'
import { LeaseMonitor } from './row-lease.ts'
import { TermRows } from './term-rows.ts'

/**
 * Interval of the heartbeats, in ms. An additional heartbeat is sent when another node would count as dead
 * according to the last heartbeat, so that each node detects a death within 5 s.
 */
const beatEveryMs = 1_000
/**
 * Delay of the additional heartbeat, in ms, counted from the time at which the other node would count as
 * dead. With this delay, a node whose own heartbeat is slightly late is not mistaken for dead.
 */
const afterDeathMs = 20
const lookEveryMs = 100
/** Maximum time in ms for which a caller waits until the former owner has released a document. */
const holdMs = 10_000
/**
 * Topic on which nodes announce changes of the node list. A node that receives an announcement reads the list
 * immediately.
 */
const topic = 'cluster/nodes'

interface MembershipOptions {
  readonly schema: string
  /** Id of this node. It is the configured name, or a generated unique name. */
  readonly id: string
  /** The clock of the database; null if this process uses its own clock. */
  readonly clock: DatabaseClock | null
  readonly log: Log | undefined
}

/**
 * Represents this process among the nodes that share a schema. A node may write only while its heartbeats
 * succeed: if the other nodes consider it dead, it writes nothing until its next heartbeat succeeds. A write
 * that the node sent before it lost the permission may still be executed later. This is harmless: each append
 * of a room names its term, a lease protects each job, and checks protect each record.
 */
export class ClusterMembership implements WritePermission, Cluster {
  readonly isShared = true
  readonly #database: PostgresDatabase
  readonly #node: NodeIdentity
  readonly #options: MembershipOptions
  readonly #watching = new Set<{ readonly call: () => void }>()
  #report: NodeReport = { state: 'starting', url: null }
  #others: readonly ClusterNode[] = []
  #owners: (string | undefined)[] = []
  #refusal: string | null = 'it has not joined the others yet'
  /**
   * Before this time, no node counts as dead. The time is set after the database was unavailable or slow,
   * because no node could send a heartbeat then.
   */
  #patientUntil = 0
  #bus: NotifyBus | null = null
  /**
   * Start time of the latest successful heartbeat. The answer to an older heartbeat may arrive after the
   * answer to this one; it is then ignored.
   */
  #heartbeatAt = 0
  /**
   * Earliest time at which another node counts as dead if it sends no further heartbeat. Each successful
   * heartbeat of this node sets it. It is Infinity while no time is known.
   */
  #firstDeadAt = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | null = null
  /**
   * `#next` is the heartbeat that waits for the running heartbeat to end; null if none waits. `#beating` is
   * the waiting heartbeat if there is one, otherwise the running heartbeat.
   */
  #beating: Promise<HeartbeatResult | null> = Promise.resolve(null)
  #next: Promise<HeartbeatResult | null> | null = null
  #isLeaving = false
  readonly #terms: BucketTerms
  /** The terms of this process in the store. */
  readonly rows: TermRows

  private constructor(database: PostgresDatabase, options: MembershipOptions) {
    this.#database = database
    this.#options = options
    this.#node = { id: options.id, incarnation: randomUUID() }
    this.rows = new TermRows(options.schema, this.incarnation)
    this.#terms = new BucketTerms({
      database,
      rows: this.rows,
      isOwn: (bucket) => this.#ownerOf(bucket) === this.self,
      released: () => this.#announce(),
    })
  }

  /**
   * Joins the cluster. If a dead process still holds the id or the schema, waits until its lease expires.
   * @throws EngineOpenError if the process that holds the id or the schema is alive
   */
  static async join(database: PostgresDatabase, options: MembershipOptions): Promise<ClusterMembership> {
    const membership = new ClusterMembership(database, options)
    await database.once(removeDeadNodes)
    const signs = new LeaseMonitor()
    for (;;) {
      const found = await database.once((session) => membership.#beat(session))
      if (found.isListed) break
      signs.note(found.sign)
      if (signs.isAlive) throw membership.#inTheWay(found)
      await sleep(lookEveryMs)
    }
    membership.#schedule()
    return membership
  }

  /**
   * Connects the bus. From then on, this node publishes changes of the node list, and receives the changes of
   * other nodes immediately.
   */
  connect(bus: NotifyBus): void {
    this.#bus = bus
    bus.subscribe(topic, () => void this.#beatAside())
    this.#announce()
  }

  get self(): string {
    return this.#node.id
  }

  get incarnation(): string {
    return this.#node.incarnation
  }

  async isAlive(incarnation: string): Promise<boolean> {
    const isListed = (nodes: readonly ClusterNode[]) => nodes.some((node) => node.incarnation === incarnation)
    if (incarnation === this.incarnation || isListed(this.#others)) return true
    // The other node may have joined a moment ago, so this node reads the list again.
    const found = await this.#beatAside()
    return found === null || isListed(this.#others) || isListed(found.others.filter(({ isAlive }) => isAlive))
  }

  nodes(): readonly string[] {
    return [this.self, ...this.#others.map(({ id }) => id)].sort()
  }

  others(): readonly NodeAddress[] {
    return this.#others.filter(({ url }) => url !== null).map(({ id, url }) => ({ id, url }))
  }

  listening(url: string): void {
    this.#report = { state: this.#report.state === 'draining' ? 'draining' : 'serving', url }
    this.#changed()
    void this.#beatAside().then(() => this.#announce())
  }

  owner(document: Key): NodeAddress {
    const id = this.#ownerOf(bucketOf(document))
    const { url } = id === this.self ? this.#report : (this.#others.find((node) => node.id === id) ?? noUrl)
    return { id, url }
  }

  async hold(document: Key): Promise<Term> {
    const bucket = bucketOf(document)
    const until = performance.now() + holdMs
    for (;;) {
      const refusal = this.refusal()
      if (refusal !== null) throw new StoreUnavailableError(refusal)
      const term = this.#terms.of(bucket)
      if (term !== undefined) return term
      const leftMs = until - performance.now()
      if (this.#ownerOf(bucket) !== this.self || leftMs <= 0) throw new NotOwnerError(this.owner(document))
      await this.#terms.changed(leftMs)
    }
  }

  onLose(end: EndOfUse): void {
    this.#terms.onLose(end)
  }

  /** Must be called when an append was rejected because its term has ended. */
  termEnded(): void {
    this.#terms.recheck()
  }

  #ownerOf(bucket: number): string {
    this.#owners[bucket] ??= homeNodeOf(bucket, this.#serving())
    return this.#owners[bucket]
  }

  /**
   * Returns the ids of the nodes that can own documents: those that serve calls and do not drain. If there are none,
   * returns those that serve calls, or else all nodes.
   */
  #serving(): readonly string[] {
    const all = [{ id: this.self, ...this.#report }, ...this.#others]
    const reachable = all.filter(({ url }) => url !== null)
    const serving = reachable.filter(({ state }) => state === 'serving')
    const [able = all] = [serving, reachable].filter((nodes) => nodes.length > 0)
    return able.map(({ id }) => id)
  }

  on(_event: 'change', call: () => void): () => void {
    const watcher = { call }
    this.#watching.add(watcher)
    return () => void this.#watching.delete(watcher)
  }

  async drain(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    this.#report = { ...this.#report, state: 'draining' }
    this.#changed()
    let markedAt: number | null = null
    while (performance.now() < deadline && !this.#isLeaving) {
      const found = await this.#beatAside()
      if (markedAt === null && found !== null) {
        markedAt = found.now
        this.#announce()
      }
      if (markedAt !== null && this.#others.every(({ heartbeatAt }) => heartbeatAt > Number(markedAt))) return
      await sleep(Math.min(lookEveryMs, Math.max(0, deadline - performance.now())))
    }
  }

  refusal(): string | null {
    if (this.#refusal !== null) return this.#refusal
    return performance.now() < this.#heartbeatAt + deadMs
      ? null
      : 'the heartbeat of this node is late, and the other nodes regard it as stopped'
  }

  /** Also asks which terms have not ended, because another database server may have taken over. */
  async renew(session: DatabaseSession): Promise<void> {
    await this.#beat(session)
    this.#terms.recheck()
  }

  /** Removes this node from the list and notifies the other nodes. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#beating
    this.#refusal = 'it has left the others'
    await this.#terms.stop()
    // The other nodes take the documents of this node when it is not in the list.
    await this.#database.aside((session) => removeNode(session, this.#node)).catch(() => undefined)
    this.#announce()
  }

  #announce(): void {
    this.#bus?.publish(topic, new Uint8Array())
  }

  #schedule(): void {
    if (this.#isLeaving) return
    const inMs = Math.max(this.#firstDeadAt - performance.now(), 0) + afterDeathMs
    this.#firstDeadAt = Number.POSITIVE_INFINITY
    const beat = (): void => void this.#beatAside().then(() => this.#schedule())
    this.#timer = setTimeout(beat, Math.min(inMs, beatEveryMs)).unref()
  }

  /**
   * Runs a heartbeat on the additional connection. If a heartbeat is already running, waits for its end
   * first; all callers that wait get the same heartbeat. Returns null if the heartbeat failed. In that case
   * the database connection logs the error, and renews the permission after the reconnect.
   */
  #beatAside(): Promise<HeartbeatResult | null> {
    this.#next ??= this.#beating.then(() => {
      this.#next = null
      return this.#isLeaving ? null : this.#database.aside((session) => this.#beat(session)).catch(() => null)
    })
    this.#beating = this.#next
    return this.#next
  }

  async #beat(session: DatabaseSession): Promise<HeartbeatResult> {
    const [startedAt, measured] = [performance.now(), this.#options.clock?.measuring()]
    const found = await writeHeartbeat(session, this.#node, this.#report)
    measured?.(found.now)
    const refusal = found.isListed ? null : this.#inTheWay(found).message
    if (refusal !== null && this.#refusal === null)
      this.#options.log?.error({ reason: refusal }, 'this node has stopped writing')
    if (refusal === null && this.#heartbeatAt > 0 && this.refusal() !== null) this.#returned()
    this.#refusal = refusal
    if (refusal !== null || startedAt < this.#heartbeatAt) return found
    const answeredAt = performance.now()
    const slowestMs = Math.max(startedAt - this.#heartbeatAt, answeredAt - startedAt)
    if (this.#heartbeatAt > 0 && slowestMs > 2 * beatEveryMs) this.#patientUntil = answeredAt + deadMs
    this.#heartbeatAt = startedAt
    this.#firstDeadAt = answeredAt + firstDeadInMs(found)
    this.#look(found.others)
    if (!this.#terms.isSettled) this.#terms.settle()
    return found
  }

  /**
   * Called when a heartbeat succeeds after the permission had expired. The other nodes may have considered
   * this node dead, and may have made changes that this node has not received.
   */
  #returned(): void {
    this.#options.log?.warn('heartbeat recovered; writing resumes')
    this.#terms.recheck()
    this.#bus?.lost()
    this.#announce()
  }

  #look(found: readonly ClusterNode[]): void {
    const known = new Set(this.#others.map(({ id }) => id))
    const isPatient = performance.now() < this.#patientUntil
    const before = listOf(this.#others)
    this.#others = found.filter(({ id, isAlive }) => isAlive || (isPatient && known.has(id)))
    if (listOf(this.#others) === before) return
    this.#options.log?.info({ nodes: this.nodes() }, 'the list of nodes has changed')
    this.#changed()
  }

  #changed(): void {
    this.#owners = []
    this.#terms.settle()
    for (const { call } of Array.from(this.#watching)) call()
  }

  #inTheWay({ isOurs }: HeartbeatResult): EngineOpenError {
    const { schema } = this.#options
    return new EngineOpenError(
      'locked',
      isOurs
        ? `a node named ${this.self} is alive in the cluster of the schema ${schema}; give this node another name`
        : `the schema ${schema} of the database is in use by a single process; stop it`,
    )
  }
}

/**
 * Returns a text that differs if the list of nodes differs. The text contains the incarnations, because a
 * process that reuses the name of an earlier process is a different node.
 */
const listOf = (nodes: readonly ClusterNode[]): string =>
  JSON.stringify(nodes.map(({ id, incarnation, state, url }) => [id, incarnation, state, url]).sort())

const noUrl = { url: null }
