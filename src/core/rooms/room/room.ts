import { ApiError, errorMessage } from '../../base/errors.ts'
import type { Generations } from '../../content/generations/generations.ts'
import type { RootSchema } from '../../content/schemas/content-schema.ts'
import type { UsageCounts } from '../../directory/usage-counts.ts'
import type { StartedWindows } from '../../events/debounce-windows.ts'
import { addressKey, type DocumentAddress } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { baseVersionExpired, type Version, versionOf } from '../../model/version.ts'
import { limitOf } from '../../quota/limits.ts'
import { AppendRejectedError, type Key, type Term } from '../../store/engine.ts'
import { writeStateVector } from '../../update/state-vector.ts'
import { isEmpty, missingClocks, type UpdateSummary } from '../../update/summary.ts'
import { RoomAwareness } from '../awareness/room-awareness.ts'
import {
  type DocumentState,
  type EncodedState,
  emptyUpdate,
  type PlacedBatch,
  type PlacedIntegration,
} from '../document/document-state.ts'
import { isTooLargeToPredict } from '../document/integration-limits.ts'
import { DocumentDamagedError, DocumentExpensiveError } from '../document/unreadable-documents.ts'
import { CommitQueue, type CommittingRoom, type Existence, isFenced } from '../log/commit-queue.ts'
import { CommitTrace } from '../log/commit-trace.ts'
import { hasOlderVersions } from '../log/compaction-policy.ts'
import { type LoadedRoom, loadVersionUpdates } from '../log/load-room.ts'
import { RoomCompaction } from '../log/room-compaction.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import { authorsOf, type Change, type ClientChange, Commit, type Member } from '../updates/change.ts'
import { PendingUpdateBuffer, withOwnBytes } from '../updates/pending-updates.ts'
import { RoomTrace } from '../updates/room-trace.ts'
import { UpdateApplier, UpdateApplyError } from '../updates/update-applier.ts'
import { mayBeCostly, partsOfCostly, type Work } from '../updates/work-shares.ts'
import { WriteLock } from '../updates/write-lock.ts'
import { allowedOf, fenceOf, mayBeStale, staleRightsOf } from '../updates/write-rights.ts'
import type { RoomDependencies } from './room-dependencies.ts'
import {
  damageIn,
  documentDeleted,
  documentMoved,
  headConflict,
  isDeletion,
  isMoved,
  recreated,
  roomClosing,
  roomReloaded,
  toUnavailable,
} from './room-errors.ts'
import { joinedWith, type PruneResult, RoomGenerations } from './room-generations.ts'
import { SyncReplyCache, type SyncReplyEncoder } from './sync-reply-cache.ts'
import { UpdateBacklog } from './update-backlog.ts'

/** Number of clients that every state vector may contain (`vectorClientsMax` is at least this number). */
const vectorClientsMin = 20_000

const haveCostly = (incoming: readonly ClientChange[]): boolean =>
  incoming.length > partsOfCostly || incoming.some(({ summary }) => mayBeCostly(summary))

/** Returns whether an error shows that the document in memory cannot be used. */
const endsRoom = (error: unknown): boolean =>
  !(error instanceof ApiError) || damageIn(error) !== null || error instanceof DocumentExpensiveError

/**
 * Maximum number of tries to integrate an update on a thread. A try fails if another holder of the lock changes the
 * document before it ends.
 */
const placeTriesMax = 3

/** Milliseconds until a room tries again to make changes while too many bytes are not durable. */
const crowdedMs = 20

/** Maximum bytes of updates that wait for the end of the tick and are not counted in the backlog. */
const uncountedBytesMax = 262_144

/** The phase of a room: whether the room accepts updates, and the updates that wait. */
type RoomPhase =
  /** No update waits. */
  | { readonly is: 'idle' }
  /**
   * Updates wait for the end of the tick, or for the lock on the document. A new array is created for each
   * tick: a reused array would reach the old generation of the heap, and its new entries would then be freed
   * late.
   */
  | { readonly is: 'receiving'; updates: ClientChange[]; bytes: number; readonly since: number }
  | { readonly is: 'ended'; readonly reason: Close }

const idle: RoomPhase = { is: 'idle' }

interface OpenedRoom extends LoadedRoom {
  readonly generations: Generations
}

/**
 * One open editor: a cache of its log, with the sessions on it. Every change, from any source, takes the same
 * steps: vet → apply → append → (durable) → members. No member receives a change before it is durable.
 */
export class Room implements CommittingRoom {
  readonly address: DocumentAddress
  readonly doc: Key
  /** The term in which this node is the only writer of the document. */
  readonly term: Term
  readonly state: DocumentState
  readonly awareness: RoomAwareness
  readonly answering: SyncReplyCache
  /** Counts the usage of the organization. */
  readonly usage: UsageCounts
  readonly dependencies: RoomDependencies
  /** The trace of this room; undefined if no step of the room is traced. */
  readonly trace: RoomTrace | undefined
  readonly #members = new Set<Member>()
  /** Open branches of this editor; null if there are none. */
  #followers: Set<CommitFollower> | null = null
  readonly commits: CommitQueue
  readonly generations: RoomGenerations
  readonly #applier: UpdateApplier
  readonly #compaction: RoomCompaction
  #phase: RoomPhase = idle
  /**
   * Counts the updates that wait longer than the current tick, including an update that a thread is
   * integrating.
   */
  readonly #backlog: UpdateBacklog
  /** The lock on the document. While it is locked, arriving updates wait. */
  readonly lock = new WriteLock()
  /** Cancels the timer of the last pause. */
  #cancelPause = (): void => {}
  /** The encoding of the state that is in progress; null if there is none. */
  #encoding: Promise<EncodedState> | null = null
  /** True if the document was used since the last call of `rest`. */
  #worked = true
  /** True if the last edits were expensive and the workspace had no event loop time left. */
  #isCostly = false
  /** Time of the last edit that this room committed, in epoch milliseconds; 0: there was none. */
  #editedAt = 0

  constructor(address: DocumentAddress, given: OpenedRoom, term: Term, dependencies: RoomDependencies) {
    const { loaded, state } = given
    const { clock, limits, metrics, memory } = dependencies
    const owner = { workspaceId: address.workspaceId, address: null }
    this.address = address
    this.doc = addressKey(address)
    this.term = term
    this.state = state
    this.answering = new SyncReplyCache(state)
    this.usage = dependencies.usage(address)
    this.dependencies = dependencies
    this.trace = RoomTrace.of(dependencies.tracer, address, dependencies.threads.enabled)
    this.awareness = new RoomAwareness({
      members: this.#members,
      presence: dependencies.presence.presenceOf(address),
      editorId: address.editorId,
      clock,
      windowMs: limits.awarenessWindowMs,
      hasContent: () => this.existence === 'live',
      refused: () => metrics.statesRefused.inc(),
      trace: this.trace,
    })
    this.#applier = new UpdateApplier(
      state,
      new PendingUpdateBuffer(limits.pendingUpdateBytesMax, clock, (drop) =>
        memory.pendingUpdates.open(owner, drop),
      ),
      this.trace,
      ({ bytes }) => this.generations.concern(bytes),
    )
    this.#backlog = new UpdateBacklog((from) => memory.queuedUpdates.open(owner, () => this.#drop(from)))
    this.commits = new CommitQueue(dependencies.log, this.doc, loaded, dependencies.backlog, this)
    this.#compaction = new RoomCompaction(this, given)
    this.generations = new RoomGenerations(this, this.#compaction, given.generations)
  }

  /**
   * Maximum number of clients that the server accepts in a state vector. The limit is higher than the number
   * of clients of the document, because a client may have written offline under client ids that are new to
   * it.
   */
  get vectorClientsMax(): number {
    return Math.max(vectorClientsMin, 2 * this.state.clocks.size)
  }

  get hasEnded(): boolean {
    return this.#phase.is === 'ended'
  }

  get existence(): Existence {
    return this.commits.existence
  }

  get epoch(): number {
    return this.commits.epoch
  }

  get memberCount(): number {
    return this.#members.size
  }

  /**
   * Resolves when all updates that have been applied so far are durable and sent. The value is the sequence
   * number of the last of these updates.
   */
  get durable(): Promise<number> {
    return this.commits.durable
  }

  /** Resolves when every append has ended, with or without success. */
  settled(): Promise<void> {
    return this.commits.settled()
  }

  /** Adds a member. If the room has already ended, the member ends immediately. */
  join(member: Member): void {
    if (this.#phase.is === 'ended') return member.end(this.#phase.reason)
    this.#members.add(member)
    this.awareness.join(member)
  }

  leave(member: Member): void {
    if (this.#members.delete(member)) this.awareness.leave(member)
  }

  /**
   * Accepts a vetted update. Returns false, and does not accept the update, if the document would exceed its
   * size limit.
   */
  receive(incoming: ClientChange): boolean {
    const phase = this.#phase
    if (phase.is === 'ended') return true
    if (isEmpty(incoming.summary)) {
      incoming.onApplied?.()
      return true
    }
    const { length } = incoming.bytes
    const bytes = length + (phase.is === 'receiving' ? phase.bytes : 0)
    if (!this.state.hasRoomFor(bytes, this.dependencies.limits.documentBytesMax)) return false
    const waits = this.lock.held !== null || !this.#backlog.isEmpty
    const kept = waits ? withOwnBytes(incoming) : incoming
    if (phase.is === 'idle') {
      this.#phase = { is: 'receiving', updates: [kept], bytes, since: this.dependencies.clock.now() }
      this.dependencies.tickScheduler.add(this)
    } else {
      phase.updates.push(kept)
      phase.bytes = bytes
    }
    this.#worked = true
    if (waits) this.#backlog.add(kept)
    // The end of the tick may be late if other documents take a long time. A large number of bytes is
    // therefore counted now.
    else if (bytes > uncountedBytesMax) this.#countWaiting()
    return true
  }

  /** Counts the updates that wait, and `placing`, the updates that a thread is integrating. */
  #countWaiting(placing: readonly ClientChange[] = []): void {
    const phase = this.#phase
    if (phase.is === 'ended') return
    if (phase.is === 'receiving') phase.updates = phase.updates.map(withOwnBytes)
    const incoming = phase.is === 'receiving' ? phase.updates : []
    this.#backlog.set([...placing, ...incoming])
  }

  /** Drops the waiting updates of a member and ends the member, because the updates take too much memory. */
  #drop(
    from: Member,
    reason = close('tryAgainLater', 'too many updates wait for this document: try again'),
  ): void {
    this.#backlog.forget(from)
    if (this.#phase.is === 'receiving') {
      const { updates, since } = this.#phase
      const left = updates.filter((incoming) => incoming.from !== from)
      this.#phase = left.length === 0 ? idle : { is: 'receiving', updates: left, bytes: bytesIn(left), since }
    }
    from.end(reason)
  }

  /** True while the document is locked and arriving updates wait. */
  get isLocked(): boolean {
    return this.lock.held !== null
  }

  /** Returns whether updates of this member are pending because their dependencies are missing. */
  hasPendingOf(member: Member): boolean {
    return this.#applier.hasPendingOf(member)
  }

  /**
   * Returns a promise that resolves when the waiting updates of this member can be applied; null if no update
   * of the member waits.
   */
  waitingOf(member: Member): Promise<void> | null {
    return this.#backlog.has(member) ? this.lock.held : null
  }

  get workspaceId(): string {
    return this.address.workspaceId
  }

  /** Applies and commits the updates that arrived in this tick. */
  endTick(): void {
    this.#take('in a tick')
  }

  #take(when: 'in a tick' | 'at the end'): void {
    const phase = this.#phase
    if (phase.is !== 'receiving' || this.lock.held !== null) return
    const isCostly = when === 'in a tick' && (this.#isCostly || haveCostly(phase.updates))
    const mustWait = when === 'in a tick' && this.isCrowded
    if (mustWait) this.#pause(crowdedMs)
    if (mustWait || (isCostly && this.#waitForShare()) || this.#awaitsRights(phase.updates))
      return this.#countWaiting()
    const bytesToSplit = when === 'in a tick' && this.#needDoc(phase.updates) ? this.state.bytesToSplit : null
    if (bytesToSplit !== null) {
      void this.#open(bytesToSplit, () => this.#dropWaiting())
      return this.#countWaiting()
    }
    const { since } = phase
    this.#phase = idle
    const incoming = this.#present(allowedOf(phase.updates), since, when)
    if (incoming === null) return
    const meter = this.#metered()
    try {
      const mustShare = when === 'in a tick' && this.dependencies.tickScheduler.mustShare(this)
      const { accepted, expensive, later } = this.#applier.take(
        incoming,
        mustShare ? 'in a shared tick' : when,
      )
      if (accepted.length > 0) this.commit(accepted, since)
      const left = [...this.#applier.takeOutdated(), ...later]
      this.#putBack(left, since)
      const taken = incoming.slice(0, incoming.length - later.length)
      this.#slowDown(meter(taken.length), taken)
      if (expensive.length > 0) void this.#place(expensive, since)
      else if (left.length > 0) this.#waitForTick()
      // This must be the last step, because it may resume reading from a sender, which may then send more
      // updates immediately. These updates wait while the document is locked.
      if (left.length > 0 || expensive.length > 0 || !this.#backlog.isEmpty) this.#countWaiting(expensive)
    } catch (error) {
      this.fail(error)
    }
  }

  /**
   * Returns the updates before the first one that must be rebased, and puts back the others. If it is the first one,
   * starts to rebase it, and returns null. When the room is closed next, its senders must offer such updates again.
   */
  #present(
    incoming: readonly ClientChange[],
    since: number,
    when: 'in a tick' | 'at the end',
  ): readonly ClientChange[] | null {
    const isOutdated = ({ bytes }: ClientChange): boolean => this.generations.concern(bytes)
    if (when === 'at the end') return incoming.filter((item) => !isOutdated(item))
    const at = incoming.findIndex(isOutdated)
    const [first, ...others] = at === -1 ? [] : incoming.slice(at)
    if (first === undefined) return incoming
    if (at === 0) {
      const { item, left } = this.charged(1, () => joinedWith(first, others), 1, [first])
      this.#putBack(left, since)
      void this.#rebase(item, since)
      this.#countWaiting([item])
      return null
    }
    this.#putBack([first, ...others], since)
    this.#waitForTick()
    return incoming.slice(0, at)
  }

  /** Rebases an update. Updates that arrive in the meantime wait. */
  async #rebase(item: ClientChange, since: number): Promise<void> {
    const release = this.lock.hold(() => this.endTick())
    try {
      if (mayBeStale(this.dependencies.fences, item.from)) return this.#putBack([item], since)
      const outcome = await this.generations.rebase(item)
      if (this.hasEnded) return
      if (outcome === 'again') this.#putBack([item], since)
      else if (outcome === 'done') {
        const accepted = this.#applier.retry()
        if (accepted.length > 0) this.commit(accepted, since)
        this.#putBack(this.#applier.takeOutdated(), since)
      } else if (missingClocks(item.summary, this.state.clocks).length > 0) this.#applier.addPending(item)
      else item.from.end(close('badRequest', 'the update depends on updates that are missing'))
    } catch (error) {
      this.#refuse(item, error)
    } finally {
      this.#countWaiting()
      release()
    }
  }

  /**
   * Keeps the parts of an edit whose place was deleted as a branch of the document. If the edit could not be stored
   * afterwards, its client offers it again: the branch then exists.
   * @returns false if the permission of the sender may have ended
   */
  async keepUnplaced(item: ClientChange, state: Uint8Array): Promise<boolean> {
    const { from, bytes, by, meta = null } = item
    const { user } = from
    const { records, log, fences } = this.dependencies
    if (mayBeStale(fences, from)) return false
    const branch = await records.addBranch(this.address, user, bytes, versionOf(this.commits.version))
    const entry = { bytes: state, by, source: 'socket', meta } as const
    try {
      const options = { term: this.term, fence: fenceOf([item]) }
      await log.append(addressKey(branch), 'recreate', [entry], options)
    } catch (error) {
      if (!(error instanceof AppendRejectedError)) throw error
      if (error.reason === 'fence') return false
      if (error.reason !== 'exists') throw error
    }
    return true
  }

  /**
   * Starts a new generation of the document; see `RoomGenerations`.
   * @param expected the version that the caller has saved
   * @param check called while the document is locked; if it rejects, nothing is changed
   * @returns null if the document has another version, or an open branch follows it
   * @throws ApiError as `RoomGenerations.prune`
   */
  async prune(
    authorship: Omit<Change, 'bytes' | 'summary' | 'from'>,
    expected: string,
    check = async (): Promise<void> => {},
  ): Promise<PruneResult | null> {
    const release = await this.pauseIncoming()
    try {
      await check()
      this.begin()
      const isFollowed = (this.#followers?.size ?? 0) > 0
      if (versionOf(this.commits.version) !== expected || isFollowed) return null
      return await this.generations.prune(authorship)
    } catch (error) {
      if (endsRoom(error)) this.fail(error)
      return toUnavailable(error)
    } finally {
      release()
    }
  }

  /** Puts back updates that were not applied. They precede the updates that have arrived since. */
  #putBack(later: readonly ClientChange[], since: number): void {
    const phase = this.#phase
    if (later.length === 0 || phase.is === 'ended') return
    const updates = phase.is === 'receiving' ? [...later, ...phase.updates] : [...later]
    this.#phase = { is: 'receiving', updates, bytes: bytesIn(updates), since }
  }

  /**
   * Locks the document until the next tick, because it has used its share of this tick. Otherwise, updates
   * from other sockets could start more work for the document in the same tick.
   */
  #waitForTick(): void {
    this.#resume(this.lock.hold(() => this.endTick()))
  }

  /** Unlocks the document in the share that its workspace has of the next tick. */
  #resume(letGo: () => void): void {
    this.dependencies.tickScheduler.resume({ workspaceId: this.workspaceId, endTick: letGo })
  }

  /**
   * Starts to measure the work of edits. Returns a function that returns the work since then, without the
   * time to create the Y.Doc.
   */
  #metered(): (updates: number) => Work {
    const { steps, loadMs } = this.state
    const startedAt = performance.now()
    return (updates) => ({
      updates,
      steps: this.state.steps - steps,
      ms: performance.now() - startedAt - (this.state.loadMs - loadMs),
    })
  }

  /** Runs `work`, which makes edits on the event loop, and charges its time to the share of the workspace. */
  charged<T>(updates: number, work: () => T, weight = 1, incoming: readonly ClientChange[] = []): T {
    const meter = this.#metered()
    try {
      return work()
    } finally {
      const spent = meter(updates)
      this.#slowDown({ ...spent, ms: spent.ms * weight }, incoming)
    }
  }

  /** Returns whether the room may apply an update after a wait. */
  accepts({ from }: ClientChange): boolean {
    return !this.hasEnded && this.#members.has(from)
  }

  /** Charges the time of a rebase to the workspace and to the sender of the update. */
  spent(ms: number, item: ClientChange): void {
    this.#slowDown({ updates: 1, steps: 0, ms }, [item])
  }

  /** Resolves when the workspace has event loop time left. Until then, arriving updates wait. */
  async share(): Promise<void> {
    while (!this.hasEnded && this.#waitForShare()) await this.lock.held
  }

  /**
   * Charges the work of edits to the workspace. If the workspace has then used up its share of the event
   * loop, pauses incoming updates for the time that `WorkShares` returns.
   * @param incoming the updates of clients in this work
   */
  #slowDown(spent: Work, incoming: readonly ClientChange[]): void {
    const { work } = this.dependencies
    const waitMs = work.spend(this.workspaceId, spent)
    this.#isCostly = waitMs > 0
    if (!this.#isCostly) return
    this.#pause(waitMs)
    const counts = new Map<Member, number>()
    for (const { from } of incoming) counts.set(from, (counts.get(from) ?? 0) + 1)
    for (const [from, count] of counts)
      if (work.exceeds(from, (spent.ms * count) / incoming.length) && this.#hasManyOf(from))
        this.#drop(from, tooMuchTime)
  }

  /** Returns whether one update with all waiting updates of a member would cost much less than these. */
  #hasManyOf(member: Member): boolean {
    const updates = this.#phase.is === 'receiving' ? this.#phase.updates : []
    return updates.filter(({ from }) => from === member).length >= manyUpdates
  }

  /**
   * Returns whether updates must wait because the documents of the workspace have used up its event loop
   * time. If so, pauses incoming updates.
   */
  #waitForShare(): boolean {
    const waitMs = this.dependencies.work.waitMs(this.workspaceId)
    if (waitMs > 0) this.#pause(waitMs)
    return waitMs > 0
  }

  /** True if changes must wait because too many bytes, of any documents, are not durable. */
  get isCrowded(): boolean {
    return !this.hasEnded && this.dependencies.backlog.isCrowded
  }

  /** Resolves when changes need not wait for the disk. @throws ApiError UNAVAILABLE as `begin` */
  async uncrowded(): Promise<void> {
    while (this.isCrowded) {
      this.begin()
      await new Promise<void>((resolve) => this.dependencies.clock.after(crowdedMs, resolve))
    }
  }

  #pause(ms: number): void {
    if (this.lock.held !== null || this.hasEnded) return
    const letGo = this.lock.hold(() => this.endTick())
    this.#cancelPause = this.dependencies.clock.after(ms, () => this.#resume(letGo))
  }

  /**
   * Returns whether an update needs the Y.Doc. If a thread integrates one of them, it integrates all. An offer is often
   * known.
   */
  #needDoc(incoming: readonly ClientChange[]): boolean {
    if (incoming.some(({ summary }) => isTooLargeToPredict(summary))) return false
    return incoming.some(({ bytes, summary }) => !this.state.isKnown(bytes, summary))
  }

  /**
   * Calls `use`, which encodes the state. If the state is large, opens and encodes it in slices before, and `encode`
   * then returns this state: updates that arrive in the meantime wait.
   * @param use gets the result of the slices; null if there were none
   * @throws ApiError RESOURCE_EXHAUSTED as `openFor`
   */
  async whenEncoded<T>(use: (sliced: EncodedState | null) => T): Promise<T> {
    await this.openFor('state')
    const { state } = this
    if (this.hasEnded || !state.isSlowToEncode) return use(null)
    const release = this.lock.hold(() => this.endTick())
    try {
      // All callers share the slices.
      this.#encoding ??= state.encodeIn(this.dependencies.slices.of(this.workspaceId)).finally(() => {
        this.#encoding = null
      })
      return use(await this.#encoding)
    } finally {
      release()
    }
  }

  /**
   * Creates the Y.Doc of a large document in slices if the next read needs it: to read the content (`doc`), or to encode
   * the state (`state`), for which `whenEncoded` is to be used.
   * @throws ApiError RESOURCE_EXHAUSTED if too many jobs wait for a thread
   */
  async openFor(read: 'doc' | 'state'): Promise<void> {
    for (;;) {
      const bytes = read === 'doc' ? this.state.bytesToSplit : this.state.bytesToEncode
      if (bytes === null || this.hasEnded) return
      if (this.lock.held !== null) await this.lock.held
      else
        await this.#open(bytes, (error) => {
          throw error
        })
    }
  }

  /**
   * Opens a large document in slices. Updates that arrive in the meantime wait.
   * @param refused called if the document cannot be opened at the moment
   */
  async #open(bytes: Uint8Array, refused: (error: unknown) => void): Promise<void> {
    const release = this.lock.hold(() => this.endTick())
    try {
      const parts = await this.dependencies.threads.use(this.address, (thread) =>
        thread.run({ is: 'split', updates: [bytes] }),
      )
      if (!this.hasEnded && this.state.bytesToSplit === bytes)
        await this.state.openIn(parts, this.dependencies.slices.of(this.address.workspaceId))
    } catch (error) {
      if (endsRoom(error)) this.fail(error)
      else refused(error)
    } finally {
      release()
    }
  }

  /** Ends the senders of the updates that wait. */
  #dropWaiting(): void {
    for (const { from } of this.#phase.is === 'receiving' ? this.#phase.updates : []) this.#drop(from)
  }

  /**
   * Integrates expensive updates on a thread, and applies the result in the share that the workspace has of a tick.
   * Updates that arrive in the meantime wait.
   */
  async #place(items: readonly ClientChange[], since: number): Promise<void> {
    const release = this.lock.hold(() => this.endTick())
    try {
      if (items.length > 1 && (await this.#placeBatch(items, since))) return
      // One by one, the sender of an update that fails gets the reason, and the others do not wait for it again.
      for (const [index, item] of items.entries())
        if (!(await this.#placeOne(item, since))) return this.#putBack(items.slice(index), since)
    } finally {
      this.#countWaiting()
      release()
    }
  }

  /** Integrates one update. Returns false if it must be tried again. */
  async #placeOne(item: ClientChange, since: number): Promise<boolean> {
    if (!this.accepts(item)) return true
    try {
      const placed = await this.placeOnThread(item.bytes)
      const { revision } = this.state
      return await this.dependencies.tickScheduler.run(
        this.workspaceId,
        () => this.state.revision === revision && this.#takePlaced(item, placed, since),
      )
    } catch (error) {
      this.#refuse(item, error)
      return true
    }
  }

  /** Integrates several updates. Returns false, and changes nothing, if one of them must be integrated alone. */
  async #placeBatch(items: readonly ClientChange[], since: number): Promise<boolean> {
    try {
      const batch = items.map(({ bytes }) => bytes)
      const placed = await this.#onThread((thread, updates) =>
        thread.run({ is: 'placeAll', updates: [...updates, ...batch], count: batch.length }),
      )
      const { revision } = this.state
      const isAllowed = (item: ClientChange): boolean =>
        this.accepts(item) && !mayBeStale(this.dependencies.fences, item.from)
      return await this.dependencies.tickScheduler.run(this.workspaceId, () => {
        if (this.state.revision !== revision || !items.every(isAllowed)) return false
        this.#takeBatch(items, placed, since)
        return true
      })
    } catch (error) {
      if (endsRoom(error)) this.fail(error)
      return false
    }
  }

  #takeBatch(items: readonly ClientChange[], batch: PlacedBatch, since: number): void {
    const { length } = items
    const accepted = this.charged(length, () => this.#applier.takeBatch(items, batch), 1, items)
    this.#commitPlaced(accepted, since)
  }

  #commitPlaced(accepted: readonly Change[], since: number): void {
    if (accepted.length > 0) this.commit(accepted, this.dependencies.clock.now())
    const next = this.#applier.takeExpensive()
    if (next !== null) this.#putBack([next], since)
  }

  /** Returns false if the permission of the sender may have ended. */
  #takePlaced(item: ClientChange, placed: PlacedIntegration, since: number): boolean {
    if (!this.accepts(item)) return true
    if (mayBeStale(this.dependencies.fences, item.from)) return false
    if (placed.problem !== null) {
      item.from.end(close('badRequest', placed.problem))
      return true
    }
    const accepted = this.charged(1, () => this.#applier.takePlaced(item, placed), 1, [item])
    this.#commitPlaced(accepted, since)
    return true
  }

  /**
   * Integrates an update (V1) into a copy of the document, on a thread. The document must be locked, because
   * the result is valid only for the current state of the document.
   * @param schema the schema that the result must match; null without one
   * @throws ApiError INVALID_ARGUMENT if it does not match; RESOURCE_EXHAUSTED if the update is too expensive or too
   * many jobs wait for a thread; UNAVAILABLE if the store is unavailable; ABORTED if the document keeps changing
   */
  placeOnThread(update: Uint8Array, schema: RootSchema | null = null): Promise<PlacedIntegration> {
    return this.#onThread((thread, updates) => {
      const isOpen = this.state.bytesToSplit === null
      return thread.run({ is: 'place', updates, update, schema, isOpen })
    })
  }

  /** Runs `work` on the updates that make up the document. Repeats it if the document changes meanwhile. */
  async #onThread<T>(work: (thread: PooledThread, updates: readonly Uint8Array[]) => Promise<T>): Promise<T> {
    const { state } = this
    // The wait for the disk comes before the use of a thread, so that a slow disk does not occupy the thread.
    if (state.bytes === null) await this.durable.catch(toUnavailable)
    return this.dependencies.threads.use(this.address, async (thread) => {
      for (let tries = 1; ; tries += 1) {
        const { revision } = state
        // The updates are read only when a thread is free, so that waiting jobs keep no copies of the document.
        const updates = await this.updatesOf(this.commits.version, true)
        const result = await work(thread, updates)
        if (state.revision === revision) return result
        if (tries === placeTriesMax) throw headConflict()
      }
    })
  }

  /**
   * Returns the updates (V1) that make up the document at a version, for a thread. For the current version, returns
   * the bytes in memory if there are any; otherwise reads the log.
   * @param isPresent true if `version` is the current version
   */
  async updatesOf(version: Version, isPresent: boolean): Promise<readonly Uint8Array[]> {
    const atHand = isPresent ? this.state.bytes : null
    if (atHand !== null) return [atHand]
    if (this.existence !== 'live') return [emptyUpdate]
    await this.durable.catch(toUnavailable)
    const updates = await loadVersionUpdates(this.dependencies.log, this.doc, version)
    if (updates === null) throw isPresent ? recreated() : baseVersionExpired()
    return updates
  }

  #refuse({ from }: ClientChange, error: unknown): void {
    if (endsRoom(error)) return this.fail(error)
    const limit = limitOf(error)
    if (error instanceof ApiError && error.code === 'branch/too-many')
      return from.end(close('tooLarge', error.message))
    const isTooExpensive = limit === 'integrationSteps' || limit === 'threadJobSeconds'
    if (limit === 'maxDocumentBytes') return from.end(close('tooLarge', errorMessage(error), limit))
    from.end(
      isTooExpensive
        ? close('tooLarge', 'the update is too expensive to integrate', 'integrationSteps')
        : close('tryAgainLater', 'the update could not be integrated: try again', limit),
    )
  }

  /**
   * Returns whether permissions of the senders may have ended. If so, rechecks these permissions, and updates
   * wait until that is done.
   */
  #awaitsRights(incoming: readonly ClientChange[]): boolean {
    const stale = staleRightsOf(incoming, this.dependencies.fences)
    if (stale === null) return false
    const release = this.lock.hold(() => this.endTick())
    Promise.all([...stale].map((right) => right.recheck())).then(release, (error: unknown) => {
      this.fail(error)
      release()
    })
    return true
  }

  /**
   * Locks the document, and resolves when no append is in progress: all applied updates are then durable.
   * Resolves with a function that releases the lock.
   */
  async pauseIncoming(): Promise<() => void> {
    while (this.lock.held !== null) await this.lock.held
    this.endTick()
    const release = this.lock.hold(() => this.endTick())
    await this.commits.settled()
    return release
  }

  /** Resolves when no update waits to be applied. */
  async applied(): Promise<void> {
    this.endTick()
    while (this.lock.held !== null) await this.lock.held
  }

  /**
   * Applies and commits all arrived updates, including updates that wait for the lock. The caller must close
   * the room next.
   */
  flush(): void {
    this.lock.release('without calling letGo')
    this.#take('at the end')
  }

  /**
   * Runs `work`, which sends a reply. Runs it now, or in a later tick if the replies of all rooms have used
   * their share of this tick.
   */
  scheduleAnswer(work: () => void): void {
    this.dependencies.tickScheduler.answer(work)
  }

  /**
   * Returns the frames with the content that a client with this state vector lacks. Returns null if the
   * document cannot be read; the room has then ended.
   */
  answer(encoder: SyncReplyEncoder, vector: Uint8Array): readonly Uint8Array[] | null {
    return this.#read(() => this.answering.framesFor(encoder, vector))
  }

  /**
   * Returns one update with the content that a client with this state vector lacks. Returns null if the
   * document cannot be read; the room has then ended.
   */
  missed(vector: Uint8Array): Uint8Array | null {
    return this.#read(() => this.state.diff(vector))
  }

  /**
   * Returns whether the document already has the whole vetted update. This is expensive if the update deletes
   * something, so call it rarely.
   */
  contains(bytes: Uint8Array, summary: UpdateSummary): boolean {
    return this.#read(() => this.state.contains(bytes, summary)) ?? false
  }

  /**
   * Returns the state vector of the document with only those updates that have been sent to the members. This
   * is the state that a slow member has when the server stops sending to it.
   */
  broadcastVector(): Uint8Array {
    return writeStateVector(this.commits.broadcastClocks(this.state.clocks))
  }

  /**
   * Compacts the log if it has enough new entries. A failure is only logged, because the log is complete
   * without a compaction.
   * @param isWanted called before the compaction starts; if it returns false, nothing is compacted
   */
  async compact(when: 'editing' | 'leaving' = 'editing', isWanted = (): boolean => true): Promise<void> {
    // A compaction that already runs lacks the last updates.
    if (when === 'leaving') await this.#compaction.settled()
    if (!isWanted()) return
    const { due, dueAtLeaving } = this.#compaction
    if (this.hasEnded || !(when === 'leaving' ? dueAtLeaving && this.#editedAt > 0 : due)) return
    try {
      await this.#compaction.run()
      if (this.#compaction.isCompactable) this.dependencies.upkeep.note(this.doc)
    } catch (err) {
      this.dependencies.logger.warn({ err }, 'compaction failed')
    }
  }

  /**
   * Stores the authors of a change with `attribution`, which is durable: until then, its sender is their author.
   * @throws the errors of the log
   */
  storeAuthors(): Promise<void> {
    return this.#compaction.compactAll()
  }

  /**
   * Replaces a user by the unknown author in the log, and discards the older versions of the log. A later call
   * is necessary if the log still has updates of the user: it may be compacted or get updates meanwhile.
   * @throws the errors of the log
   */
  async forgetAuthor(userId: string): Promise<void> {
    this.commits.forgetAuthor(userId)
    if (!this.hasEnded) await this.#compaction.finish(userId)
  }

  /**
   * Compacts the log to one snapshot, unless the document was edited at or after `editedSince`. @throws the
   * errors of the log
   */
  async finishLog(editedSince: number): Promise<'done' | 'later'> {
    if (Math.max(this.#editedAt, this.commits.changed.at) >= editedSince) return 'later'
    // An earlier room may have left entries that a compaction can remove.
    const isCompactable =
      this.#compaction.isCompactable || (await hasOlderVersions(this.dependencies.log, this.doc))
    if (isCompactable && !this.hasEnded) await this.#compaction.finish()
    return 'done'
  }

  /**
   * Ends the room because its document is expensive to read. At the next open, a thread reads the document.
   */
  closeAsExpensive(): void {
    this.dependencies.expensive.add(this.address)
    this.close(close('tryAgainLater', 'the document is expensive to open and is being prepared: try again'))
  }

  /** Ends all sessions of the room. The room cannot be used afterwards. */
  close(reason: Close): void {
    if (this.#phase.is === 'ended') return
    this.#phase = { is: 'ended', reason }
    this.trace?.of()?.('room_closed', { code: reason.code, reason: reason.reason })
    if (this.#editedAt > 0 && this.#compaction.isCompactable) this.dependencies.upkeep.note(this.doc)
    this.awareness.close()
    this.#cancelPause()
    this.#applier.clear()
    const members = [...this.#members]
    this.#members.clear()
    for (const member of members) member.end(reason)
    this.#backlog.set([])
    // Operations that wait for the lock then find that the room has ended.
    this.lock.release()
    const followers = [...(this.#followers ?? [])]
    this.#followers = null
    for (const follower of followers) follower.ended()
    // Appends in progress may still be accepted.
    void this.commits.settled().then(() => this.usage.release())
    this.dependencies.ended(this)
  }

  commit(updates: readonly Change[], since: number): void {
    const now = this.dependencies.clock.now()
    this.#worked = true
    this.#compaction.added(updates, now)
    const trace = CommitTrace.start(this.dependencies.spans, this.address, updates, since)
    const begun = this.#noted(updates, now, trace)
    this.commits.commit(new Commit(updates, since, begun?.jobs, trace), now)
    if (begun !== null) this.commits.whenDurable(begun.stored, begun.lost)
  }

  /**
   * Reports the authors of the updates to the edit listener. Returns the debounce windows that this edit
   * starts; null if it starts none.
   */
  #noted(updates: readonly Change[], now: number, trace: CommitTrace | null): StartedWindows | null {
    const { edits } = this.dependencies
    this.#editedAt = now
    const own = updates.some(isCopy) ? updates.filter((update) => !isCopy(update)) : updates
    return own.length === 0 ? null : edits.noted(this.address, authorsOf(own), trace?.current.context ?? null)
  }

  record(decided: () => void): Promise<unknown> {
    return this.dependencies.records.create(this.address, decided)
  }

  accepted({ changes }: Commit): void {
    this.dependencies.metrics.updates[changes[0]?.from === null ? 'rest' : 'socket'] += changes.length
    for (const change of changes) if (!isCopy(change)) this.usage.updates += 1
  }

  /** Starts to report the durable commits of the room. */
  follow(follower: CommitFollower): void {
    if (this.hasEnded) return follower.ended()
    this.#followers ??= new Set()
    this.#followers.add(follower)
  }

  unfollow(follower: CommitFollower): void {
    this.#followers?.delete(follower)
  }

  broadcast(commit: Commit): void {
    const { since, trace } = commit
    if (trace === null) this.#send(commit)
    else trace.broadcast(this.#members.size, () => this.#send(commit))
    const { metrics, clock } = this.dependencies
    metrics.commitLatencySeconds.observe((clock.now() - since) / 1000)
  }

  #send(commit: Commit): void {
    if (this.trace !== undefined) this.trace.broadcast(commit, this.#members)
    for (const member of this.#members) member.deliver(commit)
    for (const follower of this.#followers ?? []) follower.committed(commit.changes)
    // The follow-up work runs after the broadcast, so that it does not delay the members.
    if (this.state.isDue || this.#compaction.due) this.dependencies.tickScheduler.follow(this)
  }

  /**
   * Applies waiting updates and compacts the log, if the last commit has made this necessary. Runs after the
   * broadcast.
   */
  followUp(): void {
    if (this.hasEnded) return
    try {
      this.state.applyDue()
    } catch (error) {
      const isExpensive = error instanceof DocumentExpensiveError
      return this.fail(
        isExpensive ? error : new UpdateApplyError('stored updates could not be applied', { cause: error }),
      )
    }
    if (this.#compaction.due) void this.compact()
  }

  /** Replaces the Y.Doc with its bytes if the document was not used since the last call, and frees what was not. */
  rest(): void {
    if (!this.#worked && !this.hasEnded) this.state.drop()
    this.state.restElements()
    this.#worked = false
  }

  /**
   * Prepares the room for an operation: applies the arrived updates. @throws ApiError if the room has ended
   */
  begin(): void {
    this.#worked = true
    this.endTick()
    if (this.hasEnded) throw roomClosing()
  }

  /**
   * Runs a read. Often it is this read in which Yjs parses the stored bytes for the first time. If the bytes
   * are damaged or too expensive, the room ends, and the result is null.
   */
  #read<T>(work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof DocumentDamagedError || error instanceof DocumentExpensiveError)) throw error
      this.fail(error)
      return null
    }
  }

  /**
   * Ends the room after an error, and drops its state in memory. When clients reconnect, the next room reads
   * the log, and the handshake of each client sends the updates that were lost.
   */
  fail(error: unknown): void {
    if (this.hasEnded) return
    const damage = damageIn(error)
    if (damage !== null) {
      this.dependencies.quarantine.add(this.address, damage.record)
      return this.close(close('internalError', 'the stored document is damaged; contact the operator'))
    }
    if (isDeletion(error)) return this.close(documentDeleted)
    if (isMoved(error)) return this.close(documentMoved)
    if (error instanceof DocumentExpensiveError) return this.closeAsExpensive()
    this.#logFailure(error)
    this.close(roomReloaded(error))
  }

  #logFailure(error: unknown): void {
    const { organizationId, documentId, editorId } = this.address
    const { logger } = this.dependencies
    // These errors are not failures of the server: a permission has ended, or a limit was reached, before an
    // update was stored.
    if (isFenced(error) || error instanceof ApiError) {
      const reason = errorMessage(error)
      logger.info(
        { event: 'document.reloaded', organizationId, documentId, editorId, reason },
        'reloading a document: an update was rejected before it was stored',
      )
    } else logger.error({ err: error, organizationId }, 'room failed')
  }
}

/**
 * Minimum number of waiting updates of a client that is closed because of its work. A user who types while a large
 * update is integrated has fewer.
 */
const manyUpdates = 500

/**
 * After this close, a client offers everything that the server lacks in one update, which costs far less than
 * many small ones.
 */
const tooMuchTime = close(
  'tryAgainLater',
  'the updates take too long to integrate: try again',
  'integrationMsPerSecond',
)

const isCopy = (update: Change): boolean => update.isCopy === true

const bytesIn = (updates: readonly ClientChange[]): number =>
  updates.reduce((sum, { bytes }) => sum + bytes.length, 0)

/** Receives the durable commits of a room. */
export interface CommitFollower {
  /** Called when updates are durable, in the order of the commits. Must not throw and must not block. */
  committed(updates: readonly Change[]): void
  /** Called once, when the room ends. */
  ended(): void
}
