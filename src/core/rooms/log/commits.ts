import {
  type Appended,
  type AppendOptions,
  AppendRejectedError,
  type AppendResult,
  type AppendTo,
  type Job,
  type Key,
  type LoadedLog,
  type LogHead,
  StoreUnavailableError,
} from '../../store/engine.ts'
import { type AppliedUpdate, type UpdateBroadcast, updateBytesOf } from '../updates/broadcast.ts'
import type { RoomTrace } from '../updates/room-trace.ts'
import { fenceOf, recheckRights } from '../updates/write-rights.ts'
import { CommitWaiters, type Existence, LogPosition } from './log-position.ts'
import {
  type AppendNotice,
  LogTruncatedError,
  type RemoteAppend,
  RemoteAppendBuffer,
  readLogSince,
} from './read-log-since.ts'
import type { AppendBacklog, CommitLog } from './recorded-log.ts'

/** Applies the updates that other nodes have appended. */
export interface RemoteUpdates {
  /** Splits updates into parts that are applied one after the other. */
  split(foreign: readonly RemoteAppend[]): readonly (readonly RemoteAppend[])[]
  /**
   * Returns whether a thread must integrate a part before it is applied. Call it when all earlier parts have
   * been applied.
   */
  isExpensive(part: readonly RemoteAppend[]): boolean
  /**
   * Integrates an expensive part on a thread. The caller must call `apply` with this part immediately
   * afterwards.
   */
  place(part: readonly RemoteAppend[]): Promise<void>
  /**
   * Applies a part to the document and sends it to the members. The part is already durable. Call it in the
   * order of the log.
   */
  apply(part: readonly RemoteAppend[]): void
}

/** The room whose changes are committed. */
export interface CommittingRoom {
  /** Traces the commits; undefined if nothing is traced. */
  readonly trace: Pick<RoomTrace, 'committed'> | undefined
  /** Applies the updates of other nodes. Read only when such updates arrive. */
  readonly replica: RemoteUpdates
  /**
   * Sends the updates of a commit to the members. Called when they are durable, in the order of the commits. The
   * updates must not be sent before this call.
   */
  broadcast(broadcast: UpdateBroadcast): void
  /**
   * Called once for each commit whose append has ended with success, before `broadcast`. It is also called if
   * the commits have failed in the meantime.
   */
  accepted(broadcast: UpdateBroadcast): void
  /** Called once, when an append was rejected or has an unknown outcome. */
  fail(error: unknown): void
  /**
   * Called with the notice for the other nodes when this node has appended updates. Not called if the log has
   * only one writer.
   */
  notifyNodes(notice: AppendNotice): void
}

/** The commit of an update that is appended before it is applied. */
interface ConditionalCommit {
  readonly broadcast: UpdateBroadcast
  readonly at: number
  readonly jobs: readonly Job[]
  /**
   * Applies the update. Called when the update is durable, before it is sent. `among others`: the document
   * also contains updates that are not durable yet.
   */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** The updates of one commit that is not durable yet, and their jobs. */
interface QueuedCommit {
  readonly broadcast: UpdateBroadcast
  readonly jobs: readonly Job[] | undefined
  readonly bytes: number
}

type CommitState =
  | { readonly is: 'idle' }
  | { readonly is: 'appending' }
  /**
   * An append was rejected and not written. When the appends after it have also ended, `next` runs, and then
   * all these appends are repeated.
   */
  | { readonly is: 'interrupted'; readonly next: () => Promise<void> }
  /**
   * One of these operations is in progress: a read of the log, a recheck of permissions, or an append of
   * `commitAt`.
   */
  | { readonly is: 'working' }
  /** The commits have failed while an operation was in progress, and this operation has not ended yet. */
  | { readonly is: 'failing'; readonly error: unknown }
  | { readonly is: 'failed'; readonly error: unknown }

const idle: CommitState = { is: 'idle' }
const appending: CommitState = { is: 'appending' }
const working: CommitState = { is: 'working' }

/** Maximum bytes of one append. A single commit may be larger. */
const appendBytesMax = 8_388_608
/**
 * Maximum number of times in succession that rejected appends are repeated. Even two rejections in succession
 * are rare, because fences are rarely raised.
 */
const repeatsMax = 20
/** Maximum number of times that `reach` reads the log until this replica has all entries. */
const readsMax = 8

/**
 * Writes the changes of a room to its log, and passes them to the members when they are durable. All changes
 * of a room go through this class.
 *
 * Updates commute, so an append succeeds even if other nodes have appended in the meantime. The sequence
 * numbers of the append show whether another node was faster. If so, the updates of that node are applied
 * first.
 *
 * An append must not be stored if an earlier append fails. Therefore only one append is in progress at a
 * time, and the next append contains all updates that were committed in the meantime. Appends overlap only if
 * the log has one writer. Each append then expects the head that the previous append leaves. In this way, a
 * busy room applies and sends updates while the disk writes.
 *
 * The log rejects an append if a fence of one of its senders was raised. It then also rejects the appends
 * that follow. When all of these appends have ended, the permissions of their senders are rechecked, and the
 * appends are repeated in the same order. If a permission has ended, the commits fail: the document in memory
 * contains the rejected update, so the document must be loaded again.
 */
export class Commits {
  readonly #log: CommitLog
  readonly #doc: Key
  readonly #queued: AppendBacklog
  readonly #room: CommittingRoom
  readonly #position: LogPosition
  readonly #waiters = new CommitWaiters()
  /** The notices of other nodes that wait; null until the first notice arrives. */
  #notices: RemoteAppendBuffer | null = null
  /** Commits whose updates are applied and not durable yet, oldest first. */
  readonly #queue: QueuedCommit[] = []
  /**
   * The number of commits in each append that is in progress, oldest append first. `#inFlight` and
   * `#updatesInFlight` are the numbers of commits and of updates in all these appends.
   */
  readonly #appends: number[] = []
  #inFlight = 0
  #updatesInFlight = 0
  /** The broadcast that is being sent to the members at the moment. Its updates are applied and durable. */
  #broadcasting: UpdateBroadcast | null = null
  /** The epoch of the log; null if this replica contains no entries of a log. */
  #epoch: number | null
  #durableTo: number
  /** Number of updates that this node has committed; `#stored` is the number of those that are durable. */
  #committed = 0
  #stored = 0
  /**
   * Number of updates of this node that an applied snapshot contains and that `#stored` does not count yet.
   */
  #covered = 0
  /** The way in which the next append creates the log, if there is no log. */
  #made: AppendTo = 'create'
  /** True if the log must be read before the next append. */
  #isBehind = false
  #repeats = 0
  #state: CommitState = idle
  #whenSettled: (() => void)[] = []
  #whenFree: (() => void)[] = []

  /** @param queued counts the bytes that wait to be appended, in all documents of this process */
  constructor(log: CommitLog, doc: Key, loaded: LoadedLog, queued: AppendBacklog, room: CommittingRoom) {
    this.#log = log
    this.#doc = doc
    this.#queued = queued
    this.#room = room
    this.#position = new LogPosition(loaded)
    this.#epoch = loaded.state === 'live' ? loaded.epoch : null
    this.#durableTo = loaded.state === 'live' ? loaded.head : 0
  }

  /** True if only this process appends to the log. */
  get hasOneWriter(): boolean {
    return this.#log.hasOneWriter
  }

  /** True if this replica contains entries of a log. */
  get hasLog(): boolean {
    return this.#epoch !== null
  }

  get existence(): Existence {
    return this.#position.existence
  }

  get epoch(): number {
    return this.#position.epoch
  }

  /**
   * Sequence number of the last applied update, durable or not. If the update is not durable yet, its number
   * changes when other nodes append first.
   */
  get head(): number {
    return this.#durableTo + this.#committed - this.#stored - this.#covered
  }

  /** Sequence number up to which this replica has all entries of the log. */
  get durableTo(): number {
    return this.#durableTo
  }

  /** Replaces a user by the unknown user if the user has made the last change. */
  forgetAuthor(userId: string): void {
    const { at, by } = this.changed
    if (by === userId) this.#position.noteChange(at, '')
  }

  /** Time and user of the last update. */
  get changed(): { readonly at: number; readonly by: string } {
    return this.#position.changed
  }

  /**
   * Resolves when all updates that have been applied so far are durable and sent. The value is the sequence
   * number of the last of these updates. Rejects with the error of the log.
   */
  get durable(): Promise<number> {
    return new Promise((resolve, reject) => this.#awaitDurable(resolve, reject))
  }

  /**
   * Like `durable`, but resolves with null if other nodes have appended updates up to that sequence number
   * that this replica had not applied at the time of the call. A state that was read at that time is then not
   * a version of the document.
   */
  get exact(): Promise<number | null> {
    return new Promise((resolve, reject) =>
      this.#awaitDurable((seq, isExact) => resolve(isExact ? seq : null), reject),
    )
  }

  #awaitDurable(resolve: (seq: number, isExact: boolean) => void, reject: (error: unknown) => void): void {
    if ('error' in this.#state) reject(this.#state.error)
    else if (this.#queue.length === 0) resolve(this.#durableTo, true)
    else this.#waiters.add({ count: this.#committed, shift: this.#durableTo - this.#stored, resolve, reject })
  }

  /**
   * Queues applied updates for an append.
   * @param jobs jobs that the append enqueues in the same transaction
   */
  commit(broadcast: UpdateBroadcast, at: number, jobs?: readonly Job[]): void {
    if ('error' in this.#state) return broadcast.trace?.failed(this.#state.error)
    const { updates } = broadcast
    const bytes = updateBytesOf(updates)
    this.#queue.push({ broadcast, jobs, bytes })
    this.#queued.add(bytes)
    this.#committed += updates.length
    this.#position.noteChange(at, updates.at(-1)?.by ?? '')
    // From now on this node treats the log as existing.
    if (this.#position.existence !== 'live') this.#made = this.#position.target()
    if (this.#queued.isFull) this.#fail(new StoreUnavailableError('too many bytes wait for the store'))
    else if (this.#isIdle) this.#goOn()
    else if (this.#state.is === 'appending' && this.hasOneWriter) this.#append()
  }

  /**
   * Appends an update that is valid only for the document at `head`, and then applies it. Resolves with the
   * sequence number of the update. Resolves with null if nothing was appended: the document has changed, this
   * node had an operation in progress, or a permission had to be rechecked. The updates of other nodes are
   * then applied.
   * @throws the error of the log
   */
  async commitAt(head: number, commit: ConditionalCommit): Promise<number | null> {
    this.#checkAlive()
    if (!this.#isIdle || this.#queue.length > 0 || this.#durableTo !== head) {
      await this.settled()
      return null
    }
    this.#state = working
    const { updates } = commit.broadcast
    let outcome: { readonly seq: number } | 'moved' | 'fenced' = 'moved'
    try {
      const to = this.#epoch ?? (this.#position.existence === 'deleted' ? 'recreate' : 'create')
      const options = { expectHead: head, jobs: commit.jobs, fence: fenceOf(updates) }
      const result = await this.#log.append(this.#doc, to, updates, options)
      if (result.state === 'moved') await this.#readLog(result.missing)
      else {
        this.#storeExact(result, commit)
        outcome = { seq: result.last }
      }
    } catch (error) {
      if (isFenced(error)) outcome = 'fenced'
      else this.#fail(error)
    }
    this.#free()
    if (typeof outcome === 'object' && !this.#hasFailed) return outcome.seq
    if (outcome === 'fenced') await recheckRights([commit.broadcast])
    await this.settled()
    this.#checkAlive()
    return null
  }

  #storeExact(appended: Appended, { broadcast, at, apply }: ConditionalCommit): void {
    this.#room.accepted(broadcast)
    apply(this.#queue.length === 0 ? 'alone' : 'among others')
    this.#reached(appended)
    this.#position.noteChange(at, broadcast.updates.at(-1)?.by ?? '')
    this.#room.trace?.committed(appended, broadcast.updates)
    this.whileBroadcasting(broadcast, (given) => this.#room.broadcast(given))
    this.#notify(appended, at, broadcast.updates)
  }

  /** Receives a notice: another node has appended updates. Notices may be late, duplicated or lost. */
  received(notice: AppendNotice): void {
    if (this.#hasFailed || (notice.epoch === this.#epoch && notice.last <= this.#durableTo)) return
    this.#notices ??= new RemoteAppendBuffer()
    this.#notices.add(notice)
    if (this.#isIdle) this.#goOn()
  }

  /** Starts to read and apply the log entries that this replica lacks. */
  catchUp(): void {
    this.#isBehind = true
    if (this.#isIdle) this.#goOn()
  }

  /**
   * Returns whether the log has more entries than this replica, or has lost entries. Returns false while an
   * operation is in progress, because the operation itself will find any difference.
   * @param head the head of the log; null if there is no log
   * @param had the value of `durableTo` before the head was read
   */
  differs(head: LogHead | null, had: number): boolean {
    return this.#isIdle && this.#isElsewhere(head, had)
  }

  /**
   * Resolves when this replica has all entries that were in the log at the time of the call.
   * @throws the error of the log, StoreUnavailableError
   */
  async reach(): Promise<void> {
    if (this.hasOneWriter) return
    const had = this.#durableTo
    const [found = null] = await this.#log.heads([this.#doc])
    for (let reads = 0; this.#isElsewhere(found, had); reads += 1) {
      this.#checkAlive()
      if (reads === readsMax) throw new StoreUnavailableError('the log cannot be read')
      this.catchUp()
      if (this.#isBusy) await new Promise<void>((resolve) => this.#whenFree.push(resolve))
    }
    this.#checkAlive()
  }

  #isElsewhere(found: LogHead | null, had: number): boolean {
    if (found === null) return this.#epoch !== null
    return found.epoch !== this.#epoch || found.head > this.#durableTo || found.head < had
  }

  /**
   * Returns whether the log still ends at `head`. If it does not, applies the updates of other nodes before
   * it returns.
   * @throws the error of the log
   */
  async endsAt(head: number): Promise<boolean> {
    if (this.hasOneWriter) return true
    const [found = null] = await this.#log.heads([this.#doc])
    this.#checkAlive()
    if (found === null ? this.#epoch === null : found.epoch === this.#epoch && found.head === head)
      return true
    this.catchUp()
    await this.settled()
    this.#checkAlive()
    return false
  }

  /**
   * Resolves when no operation is in progress, regardless of whether the last operations succeeded. After a
   * failed append, it also waits for earlier appends that have not ended yet.
   */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSettled) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  /**
   * Runs `give`, which sends a durable broadcast to the members. While `give` runs, `broadcastClocks` leaves
   * out this broadcast: a member whose buffer becomes full at this moment has not received it.
   */
  whileBroadcasting(broadcast: UpdateBroadcast, give: (broadcast: UpdateBroadcast) => void): void {
    this.#broadcasting = broadcast
    try {
      give(broadcast)
    } finally {
      this.#broadcasting = null
    }
  }

  /**
   * Returns the clocks that the members have received: `clocks` without the updates that are not durable or
   * not sent yet.
   */
  broadcastClocks(clocks: ReadonlyMap<number, number>): Map<number, number> {
    const reached = new Map(clocks)
    if (this.#broadcasting !== null) takeOut(reached, this.#broadcasting)
    for (const { broadcast } of this.#queue) takeOut(reached, broadcast)
    return reached
  }

  get #isIdle(): boolean {
    return this.#state.is === 'idle'
  }

  /** True while an operation is in progress. */
  get #isBusy(): boolean {
    return !this.#isIdle && this.#state.is !== 'failed'
  }

  get #hasFailed(): boolean {
    return 'error' in this.#state
  }

  get #isSettled(): boolean {
    return this.#state.is === 'failed' || (this.#isIdle && this.#queue.length === 0)
  }

  /** Throws if the commits have failed. @throws the error with which they have failed */
  #checkAlive(): void {
    if ('error' in this.#state) throw this.#state.error
  }

  /**
   * Starts the next operation; no operation may be in progress. If this replica lacks log entries, reads them
   * before the next append.
   */
  #goOn(): void {
    this.#applyNotices()
    // Applying the notices may have failed, or may have committed pending updates that depended on them.
    if (!this.#isIdle) return
    if (this.#isBehind) void this.#run(() => this.#readLog())
    else if (this.#queue.length > 0) this.#append()
    else this.#settle()
  }

  /** Runs an operation, and starts the next one afterwards. Only one operation may run at a time. */
  async #run(work: () => Promise<void>): Promise<void> {
    if (this.#isIdle) this.#state = working
    try {
      await work()
    } catch (error) {
      this.#fail(error)
    }
    this.#free()
  }

  /**
   * Must be called when the current operation has ended, with or without success. Starts the next operation.
   */
  #free(): void {
    this.#state = 'error' in this.#state ? { is: 'failed', error: this.#state.error } : idle
    if (this.#whenFree.length > 0) for (const resolve of this.#whenFree.splice(0)) resolve()
    if (this.#isIdle) this.#goOn()
    else this.#settle()
  }

  /**
   * Appends the queued commits. If other nodes have appended updates in the meantime, these updates have
   * lower sequence numbers and are applied first.
   */
  #append(): void {
    this.#state = appending
    const start = this.#inFlight
    const to = this.#epoch ?? (start === 0 ? this.#made : this.#position.epoch)
    const expectsHead = this.hasOneWriter || typeof to !== 'number'
    const expectHead = this.#durableTo + this.#updatesInFlight
    const updates = this.#takeQueue()
    try {
      // Each append has the same properties, so that the engine reads them fast.
      const options: AppendOptions = {
        expectHead: expectsHead ? expectHead : undefined,
        knownHead: expectHead,
        jobs: jobsOf(this.#queue, start, this.#inFlight),
        fence: fenceOf(updates),
      }
      this.#log.append(this.#doc, to, updates, options).then(this.#appended, this.#refused)
    } catch (error) {
      // `fenceOf` throws if a permission has ended since the update was applied.
      queueMicrotask(() => this.#refused(error))
    }
  }

  /**
   * Returns the updates of the next append, from at least one commit. From now on the engine counts their
   * bytes, so they are removed from the backlog.
   */
  #takeQueue(): readonly AppliedUpdate[] {
    const start = this.#inFlight
    let bytes = 0
    let end = start
    do {
      bytes += (this.#queue[end] as QueuedCommit).bytes
      end += 1
    } while (end < this.#queue.length && bytes + (this.#queue[end] as QueuedCommit).bytes <= appendBytesMax)
    const updates = updatesOf(this.#queue, start, end)
    this.#queued.remove(bytes)
    this.#appends.push(end - start)
    this.#inFlight = end
    this.#updatesInFlight += updates.length
    return updates
  }

  readonly #appended = (result: AppendResult): void => {
    if (result.state === 'moved') return this.#interrupted(() => this.#readLog(result.missing))
    const commits = this.#appends.shift() as number
    for (let index = 0; index < commits; index += 1)
      this.#room.accepted((this.#queue[index] as QueuedCommit).broadcast)
    try {
      if (!this.#hasFailed && result.first <= this.#durableTo) throw new LogTruncatedError()
      if (this.#lacksBefore(result)) this.#applyNotices()
      if (this.#lacksBefore(result)) return void this.#run(() => this.#fill(result, commits))
      this.#store(result, commits)
    } catch (error) {
      this.#fail(error)
    }
    this.#ended()
  }

  readonly #refused = (error: unknown): void => {
    if (isFenced(error)) return this.#interrupted(() => this.#recheckRights())
    // After an append that was not written, the log also rejects the appends that follow.
    const isBehindRefused = this.#state.is === 'interrupted' && error instanceof AppendRejectedError
    if (!isBehindRefused) this.#fail(error)
    this.#notWritten()
  }

  #interrupted(next: () => Promise<void>): void {
    if (this.#state.is === 'appending') this.#state = { is: 'interrupted', next }
    this.#notWritten()
  }

  /**
   * Removes an append that was not written from the appends in progress. Appends after it are not written
   * either, so it does not matter which of them is removed.
   */
  #notWritten(): void {
    this.#appends.pop()
    this.#ended()
  }

  /**
   * Must be called when an append has ended, with or without success. When no append is left, starts the next
   * operation.
   */
  #ended(): void {
    if (this.#appends.length > 0) return
    if (this.#state.is !== 'interrupted') return this.#free()
    const { next } = this.#state
    for (let index = 0; index < this.#inFlight; index += 1)
      this.#queued.add((this.#queue[index] as QueuedCommit).bytes)
    this.#inFlight = 0
    this.#updatesInFlight = 0
    this.#state = working
    void this.#run(next)
  }

  async #recheckRights(): Promise<void> {
    this.#repeats += 1
    if (this.#repeats > repeatsMax) throw new StoreUnavailableError('rights change too often')
    await recheckRights(this.#queue.map(({ broadcast }) => broadcast))
  }

  #lacksBefore({ first }: Appended): boolean {
    return !this.#hasFailed && first > this.#durableTo + 1
  }

  /** Reads and applies the log entries that precede `appended`, then calls `#store`. */
  async #fill(appended: Appended, commits: number): Promise<void> {
    for await (const { epoch, foreign } of readLogSince(this.#log, this.#doc, this.#logPosition)) {
      const before = foreign.filter(({ is, seq }) => is === 'state' || seq < appended.first)
      await this.#applyInParts(epoch, before, (seq) => {
        this.#covered = Math.max(0, Math.min(seq, appended.last) - appended.first + 1)
      })
      if (this.#hasFailed) return
      if (before.length < foreign.length) break
    }
    if (this.#lacksBefore(appended))
      throw new StoreUnavailableError('the log does not have what was appended to it')
    this.#store(appended, commits)
  }

  /**
   * Removes the first commits from the queue, because they are durable. Sends them to the members unless an
   * operation has failed in the meantime, resolves the callers that wait for them, and notifies the other
   * nodes.
   */
  #store(appended: Appended, commits: number): void {
    const shift = appended.first - 1 - this.#stored
    const { trace } = this.#room
    const updates = this.hasOneWriter && trace === undefined ? [] : updatesOf(this.#queue, 0, commits)
    if (trace !== undefined) trace.committed(appended, updates)
    for (let left = commits; left > 0; left -= 1) {
      const { broadcast } = this.#queue[0] as QueuedCommit
      try {
        if (!this.#hasFailed) this.#room.broadcast(broadcast)
      } finally {
        // The commit is removed after its broadcast, because until then `broadcastClocks` must not include
        // it.
        this.#queue.shift()
        this.#inFlight -= 1
        this.#updatesInFlight -= broadcast.updates.length
        this.#stored += broadcast.updates.length
      }
    }
    this.#covered = 0
    this.#repeats = 0
    this.#reached(appended)
    this.#waiters.answer(this.#stored, shift)
    if (!this.#hasFailed) this.#notify(appended, this.changed.at, updates)
  }

  #notify({ epoch, first, last }: Appended, at: number, updates: readonly AppliedUpdate[]): void {
    if (!this.hasOneWriter) this.#room.notifyNodes({ epoch, first, last, at, updates })
  }

  #reached({ epoch, last }: Pick<Appended, 'epoch' | 'last'>): void {
    this.#epoch = epoch
    this.#position.found(epoch)
    this.#durableTo = Math.max(this.#durableTo, last)
  }

  get #logPosition(): { readonly epoch: number | null; readonly seq: number } {
    return { epoch: this.#epoch, seq: this.#durableTo }
  }

  /**
   * Reads and applies the log entries that this replica lacks.
   * @param missing the first page of these entries, if it was already read
   */
  async #readLog(missing?: LoadedLog): Promise<void> {
    this.#isBehind = false
    try {
      for await (const { epoch, foreign } of readLogSince(this.#log, this.#doc, this.#logPosition, missing)) {
        await this.#applyInParts(epoch, foreign)
        if (this.#hasFailed) return
      }
    } catch (error) {
      // If nothing waits to be appended, the error is ignored: the next comparison finds the difference
      // again.
      if (!(error instanceof StoreUnavailableError) || this.#queue.length > 0) throw error
    }
  }

  /**
   * Applies the updates in the waiting notices. If an update is so expensive that a thread must integrate it,
   * the log is read instead.
   */
  #applyNotices(): void {
    const next = this.#notices?.next(this.#logPosition) ?? null
    if (next === 'behind') this.#isBehind = true
    if (next === null || next === 'behind') return
    try {
      const remote = this.#room.replica
      for (const part of remote.split(next.foreign)) {
        if (remote.isExpensive(part)) {
          this.#isBehind = true
          return
        }
        this.#apply(next.epoch, part)
        if (this.#hasFailed) return
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Applies updates of other nodes, part by part.
   * @param reaches called before each part is applied, with the last sequence number of the part
   */
  async #applyInParts(
    epoch: number,
    foreign: readonly RemoteAppend[],
    reaches: (seq: number) => void = () => {},
  ): Promise<void> {
    const remote = this.#room.replica
    for (const part of remote.split(foreign)) {
      if (remote.isExpensive(part)) await remote.place(part)
      if (this.#hasFailed) return
      reaches(part.at(-1)?.seq ?? 0)
      this.#apply(epoch, part)
    }
  }

  #apply(epoch: number, foreign: readonly RemoteAppend[]): void {
    const last = foreign.at(-1)
    if (last === undefined) return
    this.#reached({ epoch, last: last.seq })
    if (this.#queue.length === 0) this.#position.noteChange(last.at, last.update.by)
    this.#room.replica.apply(foreign)
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return
    this.#state = { is: this.#isIdle ? 'failed' : 'failing', error }
    for (const { bytes } of this.#queue.slice(this.#inFlight)) this.#queued.remove(bytes)
    for (const { broadcast } of this.#queue) broadcast.trace?.failed(error)
    this.#room.fail(error)
    this.#settle()
  }

  #settle(): void {
    if (this.#state.is === 'failed') this.#waiters.reject(this.#state.error)
    if (this.#whenSettled.length > 0 && this.#isSettled)
      for (const resolve of this.#whenSettled.splice(0)) resolve()
  }
}

/** Returns whether an append was rejected because a permission must be rechecked. */
export const isFenced = (error: unknown): boolean =>
  error instanceof AppendRejectedError && error.reason === 'fence'

function updatesOf(queue: readonly QueuedCommit[], start: number, end: number): readonly AppliedUpdate[] {
  if (end - start === 1) return (queue[start] as QueuedCommit).broadcast.updates
  return queue.slice(start, end).flatMap(({ broadcast }) => broadcast.updates)
}

/** Returns the jobs of several commits. If commits have a job with the same id, only the first one is returned. */
function jobsOf(queue: readonly QueuedCommit[], start: number, end: number): readonly Job[] | undefined {
  let first: readonly Job[] | undefined
  let all: Map<string, Job> | undefined
  for (let index = start; index < end; index += 1) {
    const more = queue[index]?.jobs
    if (more === undefined || more.length === 0) continue
    if (first === undefined) {
      first = more
      continue
    }
    all ??= new Map(first.map((job) => [jobName(job), job]))
    for (const job of more) if (!all.has(jobName(job))) all.set(jobName(job), job)
  }
  return all === undefined ? first : [...all.values()]
}

const jobName = ({ queue, id }: Job): string => `${queue} ${id}`

/** Lowers `clocks` to their values before the updates of a broadcast. */
function takeOut(clocks: Map<number, number>, { updates }: UpdateBroadcast): void {
  for (const { summary } of updates)
    for (const { client, from } of summary.clients)
      if (from < (clocks.get(client) ?? 0)) clocks.set(client, from)
}
