import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { MalformedJsonError } from '../../base/json.ts'
import type { InitialContent } from '../../content/initial-content.ts'
import { type DocumentReading, type EncodedContent, readStateEncoded } from '../../content/read-document.ts'
import { type RemovalTask, removalTopic } from '../../directory/removal/removal-task.ts'
import { mapInSlices } from '../../directory/store/batch.ts'
import { uncounted } from '../../directory/usage-counts.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { addressKey, type DocumentAddress, organizationPrefix } from '../../model/address.ts'
import { parseBranchEditorId } from '../../model/branch-address.ts'
import { type Close, close } from '../../model/close.ts'
import { versionOf } from '../../model/version.ts'
import {
  CorruptRecordError,
  type Engine,
  type Key,
  NotOwnerError,
  StoreUnavailableError,
  type Term,
} from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { loadStepsMax } from '../document/integration-limits.ts'
import { LoopSlices } from '../document/loop-slices.ts'
import { DocumentExpensiveError, ExpensiveDocuments, Quarantine } from '../document/unreadable-documents.ts'
import { BackendEdits, type DocumentRead } from '../edits/backend-edits.ts'
import { noContent } from '../edits/edit-conditions.ts'
import { readInline, readOnThread } from '../edits/on-thread.ts'
import { inlineSizeMax } from '../edits/replacement.ts'
import { BackgroundCompaction, compactAtShutdown } from '../log/background-compaction.ts'
import { AppendBacklog } from '../log/commit-queue.ts'
import { compactIdleLog } from '../log/compaction-policy.ts'
import { GenerationStore } from '../log/generation-store.ts'
import { LargeDeletionError, type LoadedRoom, loadRoom } from '../log/load-room.ts'
import { PresenceRegistry } from '../presence/presence-registry.ts'
import { LiveMessageHub } from '../room/live-messages.ts'
import { OpenConnections } from '../room/open-connections.ts'
import { Room } from '../room/room.ts'
import type { RoomDependencies, RoomLimits, RoomRegistryOptions } from '../room/room-dependencies.ts'
import { documentDeleted, documentMoved, isMoved } from '../room/room-errors.ts'
import { TickScheduler } from '../room/tick-scheduler.ts'
import { type ThreadPoolOptions, type ThreadPoolSet, threadPools } from '../threads/thread-pool.ts'
import {
  type ResultOf,
  runTask,
  type TaskName,
  type TaskOf,
  type ThreadTask,
  taskBytes,
} from '../threads/thread-task.ts'
import { WorkShares } from '../updates/work-shares.ts'
import { BranchFollower, type ReplacedContent } from './branch-follower.ts'
import { RoomHibernation } from './hibernation.ts'
import { OpenDocumentLimit } from './open-document-limit.ts'
import { isPartOfRemoval, removedAmong, removeLateAppends } from './room-deletion.ts'

interface RoomsOptions extends RoomLimits, ThreadPoolOptions {
  /** Milliseconds that a room without sessions stays in memory. */
  readonly idleMs: number
  /**
   * Interval in milliseconds of a check that drops the Y.Doc of each room that had no work since the last
   * check. A room without work keeps its Y.Doc for at most twice this time.
   */
  readonly restMs: number
  /** Maximum number of open documents of one workspace; 0: no limit. */
  readonly documentsPerWorkspaceMax: number
}

/**
 * Pause in ms for each client that is disconnected because its document moves, and maximum total of these pauses for
 * the documents that move together. The clients connect to other nodes, and each connection costs them about 1 ms.
 */
const movePauses = { perClientMs: 1, totalMsMax: 300 }

/** A claim that keeps a room open. */
export interface RoomHandle {
  readonly room: Room
  /** Ends the claim. Must be called exactly once. */
  release(): void
}

interface OpenRoom {
  readonly room: Room
  /** Copies the changes of the main editor; null if the room was not an open branch when it was last opened. */
  follower: BranchFollower | null
  /** Removes the room from the count of open documents. */
  readonly leave: () => void
  leases: number
  cancelIdle: (() => void) | null
}

/**
 * The open rooms of this process, at most one for each editor. A room stays open while a caller has a handle
 * of it, and `idleMs` longer. A room that failed or was deleted is removed immediately; the next client then
 * loads the log again.
 */
export class RoomRegistry {
  /** The presence of each document. */
  readonly presence: PresenceRegistry
  /** The listeners for messages from backends. */
  readonly live = new LiveMessageHub()
  /** The connected clients of all API keys. */
  readonly connections: OpenConnections
  readonly #engine: Engine
  readonly #options: RoomsOptions
  readonly #dependencies: RoomDependencies
  readonly #clock: Clock
  readonly #metrics: Metrics
  readonly #rooms = new Map<string, OpenRoom>()
  /**
   * Documents that cannot be opened at the moment, by key: each promise resolves when the load, the deletion,
   * the compaction or the last appends of the document have ended.
   */
  readonly #opening = new Map<string, Promise<unknown>>()
  readonly #pools: ThreadPoolSet
  readonly #quarantine: Quarantine
  readonly #expensive: ExpensiveDocuments
  readonly #occupancy: OpenDocumentLimit
  readonly #upkeep: BackgroundCompaction
  readonly #unsubscribe: () => void
  readonly #resting: RoomHibernation

  constructor(
    engine: Engine,
    options: RoomsOptions,
    { records, visits, spans = null, ...parts }: RoomRegistryOptions,
  ) {
    this.#engine = engine
    this.#options = options
    this.#clock = parts.clock
    this.#metrics = parts.metrics
    this.#quarantine = new Quarantine(parts)
    this.#expensive = new ExpensiveDocuments(parts)
    this.#occupancy = new OpenDocumentLimit(options.documentsPerWorkspaceMax)
    this.#pools = threadPools(options, parts)
    this.presence = new PresenceRegistry(engine, parts.clock, visits)
    const { requests } = this.presence
    this.connections = new OpenConnections(requests, parts.clock, engine.cluster.self)
    this.#upkeep = new BackgroundCompaction(
      engine.log,
      parts.clock,
      parts.logger,
      options.keepVersionsMs,
      (doc) => this.#finishLog(doc),
    )
    const tickScheduler = new TickScheduler()
    this.#dependencies = {
      usage: (scope) => uncounted.hold(scope),
      ...parts,
      spans,
      presence: this.presence,
      log: engine.log,
      generationStore: new GenerationStore(engine.blobs),
      fences: engine.fences,
      health: () => engine.health(),
      tickScheduler,
      ...this.#pools,
      limits: options,
      backlog: new AppendBacklog(() => engine.pendingBytes()),
      records,
      work: new WorkShares(parts.clock, parts.overspent),
      slices: new LoopSlices(tickScheduler),
      expensive: this.#expensive,
      keepsAttribution: ([workspaceId = '']) =>
        parts.keepsAttribution?.(workspaceId) ?? Promise.resolve(true),
      upkeep: this.#upkeep,
      quarantine: this.#quarantine,
      ended: (room) => this.#forget(room),
    }
    this.#resting = new RoomHibernation(parts.clock, options.restMs, () => this.#rooms.values())
    const endRemovals = removalTopic.subscribe(engine.bus, (news) => {
      if (news.kind === 'begun') this.#closeGoing(news.task)
      else if (news.kind === 'restored') this.announceBranch(news.branch)
      else for (const prefix of news.prefixes) this.#removed(prefix)
    })
    // Messages about removals may have been lost.
    const endLosses = engine.bus.onLoss(
      () => void this.#endIfRemoved([...this.openRooms()].filter(({ commits }) => commits.hasLog)),
    )
    this.#unsubscribe = () => {
      endRemovals()
      endLosses()
    }
    engine.cluster.onLose((isLost) => this.#endLost(isLost))
  }

  /**
   * Returns a handle of the open room. Loads the room if it is not open. A branch then contains everything of
   * the editor that it follows.
   * @throws NotOwnerError if another node owns the document; StoreUnavailableError if the store is unavailable, or if
   * other nodes may take this one for dead; DocumentDamagedError; ApiError RESOURCE_EXHAUSTED if the workspace has too
   * many open documents
   */
  async open(address: DocumentAddress): Promise<RoomHandle> {
    const doc = addressKey(address)
    const key = keyName(doc)
    for (let term = await this.#hold(key, doc); ; ) {
      const open = this.#rooms.get(key)
      if (open?.room.term === term) return mayBeBranch(address) ? this.#leaseBranch(open) : this.#lease(open)
      open?.room.close(documentMoved)
      const opening = this.#opening.get(key)
      if (opening === undefined) await this.#exclusively(key, () => this.#load(key, address, term))
      else await opening.catch(() => {})
      // Nothing may run between a load and its lease: a deletion would end the room, and the next load would then
      // create the document again.
      if (this.#rooms.get(key)?.room.term !== term) term = await this.#hold(key, doc)
    }
  }

  /** Returns the term in which this node holds a document. If it does not hold it, ends the room. */
  async #hold(key: string, doc: Key): Promise<Term> {
    try {
      return await this.#engine.cluster.hold(doc)
    } catch (error) {
      if (error instanceof NotOwnerError) this.#rooms.get(key)?.room.close(documentMoved)
      throw error
    }
  }

  /** Ends the rooms of documents that this node does not own any more, with pauses in proportion to their clients. */
  async #endLost(isLost: (doc: Key) => boolean): Promise<void> {
    const lost = [...this.#rooms.values()].map(({ room }) => room).filter(({ doc }) => isLost(doc))
    const clients = lost.reduce((sum, { memberCount }) => sum + memberCount, 0)
    const pauseMs = Math.min(movePauses.perClientMs, movePauses.totalMsMax / clients)
    for (const room of lost) {
      const { memberCount } = room
      room.flush()
      room.close(documentMoved)
      if (memberCount > 0) await sleep(memberCount * pauseMs)
    }
    this.presence.endVirtualUsers(isLost)
    await Promise.all(lost.map((room) => room.settled()))
  }

  /** Yields the open rooms. */
  *openRooms(): Generator<Room> {
    for (const { room } of this.#rooms.values()) yield room
  }

  /**
   * Runs `work` with the open room. If `work` finds that the document is expensive to read, opens the room
   * again with the help of a thread and runs `work` a second time. This is safe, because the first run has
   * changed nothing.
   */
  async use<T>(address: DocumentAddress, work: (room: Room) => Promise<T>): Promise<T> {
    for (let isAgain = false; ; isAgain = true) {
      const lease = await this.open(address)
      try {
        return await work(lease.room)
      } catch (error) {
        if (!(error instanceof DocumentExpensiveError) || isAgain) throw error
        lease.room.closeAsExpensive()
      } finally {
        lease.release()
      }
    }
  }

  /**
   * Reads one root of an editor as `BackendEdits.read` does. If another node owns the document, reads the log,
   * which has every acknowledged change.
   * @throws the errors of `open` and of `BackendEdits.read`, except NotOwnerError
   */
  async read(
    address: DocumentAddress,
    reading: DocumentReading,
    bytesMax: number,
  ): Promise<DocumentRead<EncodedContent> | null> {
    try {
      return await this.use(address, (room) => new BackendEdits(room).read(reading, bytesMax))
    } catch (error) {
      if (!(error instanceof NotOwnerError)) throw error
    }
    const { loaded, state } = await this.#read(address)
    if (loaded.state !== 'live') return null
    const { epoch, head: seq, changed } = loaded
    const bytes = state.diff(null)
    const result = await this.readState(address, bytes, reading, bytesMax)
    const version = versionOf({ epoch, seq })
    return { result, version, vector: state.vector(), changed, sizeBytes: bytes.length }
  }

  /**
   * Returns the whole state (V1) of an editor after a prune that has begun; null without content. If another node owns the
   * document, reads the log.
   * @throws as `read`
   */
  async stateOf(address: DocumentAddress): Promise<Uint8Array | null> {
    try {
      const captured = await this.use(address, async (room) => {
        await room.applied()
        return new BackendEdits(room).capture()
      })
      return captured?.bytes ?? null
    } catch (error) {
      if (!(error instanceof NotOwnerError)) throw error
    }
    const { loaded, state } = await this.#read(address)
    return loaded.state === 'live' ? state.diff(null) : null
  }

  /**
   * Deletes the document permanently, then ends its sessions. Between these two steps the log rejects
   * appends, so that no client can bring the document back.
   * @throws NotOwnerError if another node owns the document
   */
  async destroy(address: DocumentAddress): Promise<void> {
    const doc = addressKey(address)
    const key = keyName(doc)
    const term = await this.#engine.cluster.hold(doc)
    for (;;) {
      const opening = this.#opening.get(key)
      if (opening === undefined) break
      await opening.catch(() => {})
    }
    await this.#exclusively(key, async () => {
      // A later owner may have created the document again.
      await this.#engine.log.destroy(doc, term).catch((error: unknown) => {
        throw isMoved(error) ? new NotOwnerError(this.#engine.cluster.owner(doc)) : error
      })
      this.#quarantine.delete(key)
      this.#expensive.delete(key)
      this.#rooms.get(key)?.room.close(documentDeleted)
      // A room that has ended removes what it stores later.
      await this.#dependencies.generationStore.remove(doc)
    })
  }

  /**
   * Reads one root from a whole state (V1), without a room. A large state is read on a thread.
   * @param bytesMax limit for the content, as for `readEncoded`
   * @throws ApiError INVALID_ARGUMENT as for `readDocument`; RESOURCE_EXHAUSTED if too many reads of large
   * states wait, or if the content exceeds `bytesMax`
   */
  async readState(
    address: DocumentAddress,
    bytes: Uint8Array,
    reading: DocumentReading,
    bytesMax: number,
  ): Promise<EncodedContent> {
    const { readers } = this.#pools
    const read = await readInline(readers, bytes.length, bytesMax, (max) =>
      readStateEncoded(bytes, reading, max, readers.enabled ? loadStepsMax(bytes.length) : undefined),
    )
    return read ?? readers.use(address, (thread) => readOnThread(thread, bytes, reading, bytesMax))
  }

  /** Sends the clients of a document a message that a branch was created, changed, decided or deleted. */
  announceBranch(branch: DocumentAddress): void {
    const { editorId } = branch
    this.live.broadcast(branch, null, JSON.stringify({ event: 'weft.branchChanged', data: { editorId } }))
  }

  /**
   * Runs `work`, which copies changes of a branch to its main editor. The branch then loses the originals in the
   * update in which it gets the copies. `work` must not open the branch.
   * @throws the errors of `open` and of `work`; ApiError NOT_FOUND if the editor is not an open branch
   */
  async replaceInBranch<T>(
    branch: DocumentAddress,
    work: () => Promise<{ readonly result: T; readonly replaced: ReplacedContent | null }>,
  ): Promise<T> {
    const lease = await this.open(branch)
    try {
      const follower = this.#rooms.get(keyName(addressKey(branch)))?.follower ?? null
      if (follower === null) throw noContent()
      return await follower.replace(work)
    } finally {
      lease.release()
    }
  }

  /**
   * Runs a task that reads, without a room. A task with much input runs on a thread.
   * @throws the errors of the task; ApiError RESOURCE_EXHAUSTED if it takes too long or too many large reads wait
   */
  async compute<Name extends TaskName>(
    address: DocumentAddress,
    task: TaskOf<Name>,
  ): Promise<ResultOf<Name>> {
    if (taskBytes(task as ThreadTask) <= inlineSizeMax) return runTask(task)
    return this.#pools.readers.use(address, (thread) => thread.run(task))
  }

  /**
   * Parses the large response of a backend (JSON in UTF-8) on a thread. The data of a target is encoded.
   * @throws MalformedJsonError if the response has the wrong form; ApiError RESOURCE_EXHAUSTED if it takes too long or
   * too many jobs wait for a thread
   */
  async parse(address: DocumentAddress, json: Uint8Array): Promise<InitialContent> {
    const { threads } = this.#pools
    const { content, problem } = await threads.use(address, (thread) => thread.run({ is: 'parse', json }))
    if (content === null) throw new MalformedJsonError(problem)
    return content
  }

  /** Ends every room. All earlier commits are durable when the caller has also closed the engine. */
  async closeAll(reason: Close): Promise<void> {
    this.#resting.stop()
    this.#unsubscribe()
    const rooms = [...this.#rooms.values()].map(({ room }) => room)
    for (const room of rooms) room.flush()
    await Promise.all(rooms.map((room) => room.settled()))
    await compactAtShutdown(rooms, this.#engine, this.#clock)
    for (const room of rooms) room.close(reason)
    this.presence.close()
    await this.#upkeep.stop()
    await Promise.all([this.#pools.threads.close(), this.#pools.readers.close()])
  }

  #removed(prefix: Key): void {
    this.#endRemoved(prefix)
    const start = keyName(prefix)
    this.#quarantine.deleteUnder(start)
    this.#expensive.deleteUnder(start)
    this.presence.endVirtualUsers((document) => keyName(document).startsWith(start))
  }

  /** Ends the rooms of documents whose logs have been removed. */
  #endRemoved(prefix: Key): void {
    this.#whenOpened(prefix, (key) => this.#endRoom(key))
    for (const key of this.#openUnder(prefix)) this.#endRoom(key)
  }

  /**
   * Closes the rooms of the documents that a removal task deletes. The task removes the logs of these
   * documents later; until then no client can open the documents.
   */
  #closeGoing(task: RemovalTask): void {
    const prefix = organizationPrefix(task.scope)
    const closeIt = (key: string): Promise<void> => this.#closeIfGoing(key, task)
    this.#whenOpened(prefix, closeIt)
    void mapInSlices(this.#openUnder(prefix), closeIt)
  }

  async #closeIfGoing(key: string, task: RemovalTask): Promise<void> {
    const room = this.#rooms.get(key)?.room
    if (room === undefined) return
    try {
      if (await isPartOfRemoval(task, room, this.#dependencies.records)) room.close(documentDeleted)
    } catch (err) {
      this.#dependencies.logger.warn(
        { err },
        'could not check whether an open document is being deleted; it is closed when its log is removed',
      )
    }
  }

  #openUnder(prefix: Key): readonly string[] {
    const start = keyName(prefix)
    return [...this.#rooms.keys()].filter((key) => key.startsWith(start))
  }

  #whenOpened(prefix: Key, work: (key: string) => unknown): void {
    const start = keyName(prefix)
    for (const [key, opening] of this.#opening)
      if (key.startsWith(start)) void opening.catch(() => {}).then(() => work(key))
  }

  /** Ends a room whose log was removed, unless the document was created again since. */
  #endRoom(key: string): void {
    const room = this.#rooms.get(key)?.room
    if (room === undefined) return
    if (room.commits.hasLog) return void this.#endIfRemoved([room])
    room.close(documentDeleted)
    // No client can open the document until the log that the room may have created is removed as well.
    void this.#exclusively(key, () => removeLateAppends(this.#engine.log, room)).catch((err: unknown) =>
      this.#dependencies.logger.warn({ err }, 'could not remove late appends to a removed document'),
    )
  }

  /** Ends those of the rooms whose logs were removed. */
  async #endIfRemoved(rooms: readonly Room[]): Promise<void> {
    try {
      for (const room of await removedAmong(this.#engine.log, rooms)) room.close(documentDeleted)
    } catch (err) {
      this.#dependencies.logger.warn(
        { err },
        'could not check whether open documents were removed; their next updates show it',
      )
    }
  }

  /**
   * Loads a room, unless this node has lost the document meanwhile. The caller must create a handle of the room in the
   * same tick, because the idle timer starts only when a handle is released.
   */
  async #load(key: string, address: DocumentAddress, term: Term): Promise<void> {
    const health = this.#engine.health()
    if (!health.ok) throw new StoreUnavailableError(health.reason)
    const leave = this.#occupancy.enter(address.workspaceId)
    try {
      const loaded = await this.#loaded(key, address)
      const generations = await this.#dependencies.generationStore.load(address, loaded.state.clocks)
      if ((await this.#hold(key, addressKey(address))) !== term) return leave()
      const room = new Room(address, { ...loaded, generations }, term, this.#dependencies)
      this.#rooms.set(key, { room, leave, leases: 0, cancelIdle: null, follower: null })
      this.#metrics.documentsOpen.set(this.#rooms.size)
    } catch (error) {
      leave()
      throw error
    }
  }

  async #loaded(key: string, address: DocumentAddress): Promise<LoadedRoom> {
    const loaded = await this.#read(address)
    this.#quarantine.delete(key)
    // The directory may have no record of the document: the server may have crashed after the first update,
    // or a version without such records may have stored the document.
    if (loaded.loaded.state === 'live') await this.#dependencies.records.ensure(address, address.documentId)
    return loaded
  }

  async #read(address: DocumentAddress): Promise<LoadedRoom> {
    // A restore of a branch copies its log.
    if (mayBeBranch(address)) await this.#dependencies.records.mainOf(address)
    try {
      return await this.#readLog(address)
    } catch (error) {
      throw error instanceof CorruptRecordError ? this.#quarantine.add(address, error) : error
    }
  }

  async #readLog(address: DocumentAddress): Promise<LoadedRoom> {
    const { log } = this.#engine
    const doc = addressKey(address)
    const trust = this.#quarantine.has(keyName(doc)) ? 'doubted' : 'trusted'
    if (!this.#expensive.has(keyName(doc))) {
      try {
        return await loadRoom(log, doc, {
          trust,
          runSlice: this.#dependencies.slices.of(address.workspaceId),
          split: (bytes) =>
            this.#pools.threads.use(address, (thread) => thread.run({ is: 'split', updates: [bytes] })),
        })
      } catch (error) {
        if (!(error instanceof DocumentExpensiveError)) throw error
        if (!(error instanceof LargeDeletionError)) this.#expensive.add(address)
      }
    }
    return loadRoom(log, doc, {
      trust,
      place: (updates) => this.#pools.threads.use(address, (thread) => thread.run({ is: 'open', updates })),
    })
  }

  /** Runs `work`. Until `work` ends, no other call opens or destroys the room. */
  async #exclusively(key: string, work: () => Promise<void>): Promise<void> {
    const running = work()
    this.#opening.set(key, running)
    try {
      await running
    } finally {
      if (this.#opening.get(key) === running) this.#opening.delete(key)
    }
  }

  /** Returns a handle of a room that may be a branch. If it is one, it has caught up. */
  async #leaseBranch(open: OpenRoom): Promise<RoomHandle> {
    const lease = this.#lease(open)
    const { room } = open
    try {
      const main = await this.#dependencies.records.mainOf(room.address)
      if (main !== null)
        open.follower ??= new BranchFollower(
          room,
          () => this.open(main),
          () => this.announceBranch(room.address),
        )
      await open.follower?.catchUp()
      return lease
    } catch (error) {
      lease.release()
      throw error
    }
  }

  #lease(open: OpenRoom): RoomHandle {
    open.leases += 1
    open.cancelIdle?.()
    open.cancelIdle = null
    return {
      room: open.room,
      release: () => {
        open.leases -= 1
        if (open.leases === 0 && !open.room.hasEnded) this.#watchIdle(open)
      },
    }
  }

  #watchIdle(open: OpenRoom): void {
    const retire = (): void => {
      cancel()
      void this.#retire(open)
    }
    const cancelTimer = this.#clock.after(this.#options.idleMs, retire)
    const cancelRest = this.#occupancy.rest(open.room.address.workspaceId, { retire })
    const cancel = (): void => {
      cancelTimer()
      cancelRest()
      open.cancelIdle = null
    }
    open.cancelIdle = cancel
  }

  /** Finishes the work of an idle room, then closes the room unless a client has joined in the meantime. */
  async #retire(open: OpenRoom): Promise<void> {
    do {
      await open.room.applied()
      await open.room.compact('leaving', () => open.leases === 0)
      await open.room.settled()
    } while (open.leases === 0 && open.room.isLocked)
    if (open.leases === 0) open.room.close(close('serviceRestart', 'the room was idle'))
  }

  /**
   * Compacts the log of an idle document that this node owns. Meanwhile no other call can open the document.
   */
  async #finishLog(doc: Key): Promise<'done' | 'later'> {
    const { cluster } = this.#engine
    if (cluster.owner(doc).id !== cluster.self) return 'done'
    const key = keyName(doc)
    const editedSince = this.#clock.now() - this.#options.keepVersionsMs
    if (this.#opening.has(key)) return 'later'
    const open = this.#rooms.get(key)
    if (open !== undefined) return open.room.finishLog(editedSince)
    let outcome: 'done' | 'later' = 'done'
    await this.#exclusively(key, async () => {
      const { keepsAttribution } = this.#dependencies
      outcome = await compactIdleLog(this.#engine.log, doc, editedSince, keepsAttribution).catch(ifExpensive)
    })
    return outcome
  }

  /**
   * Delays the next open of a document until the appends of its ended room have ended, because the next room
   * must find them in the log.
   */
  #awaitAppends(key: string, room: Room): void {
    const before = this.#opening.get(key)
    const settled = Promise.allSettled([before, room.settled()]).then(() => {
      if (this.#opening.get(key) === settled) this.#opening.delete(key)
    })
    this.#opening.set(key, settled)
  }

  #forget(room: { readonly doc: Key }): void {
    const key = keyName(room.doc)
    const open = this.#rooms.get(key)
    if (open?.room !== room) return
    open.cancelIdle?.()
    open.follower?.end()
    open.leave()
    this.#rooms.delete(key)
    this.#metrics.documentsOpen.set(this.#rooms.size)
    this.#awaitAppends(key, open.room)
  }

  /** Bytes of all applied updates that are not durable. */
  get undurableBytes(): number {
    return this.#dependencies.backlog.undurableBytes
  }
}

/**
 * Returns `done` for a DocumentExpensiveError, because an expensive document is only compacted while it is
 * open. Throws any other error.
 */
function ifExpensive(error: unknown): 'done' {
  if (error instanceof DocumentExpensiveError) return 'done'
  throw error
}

const mayBeBranch = ({ editorId }: DocumentAddress): boolean => parseBranchEditorId(editorId) !== null
