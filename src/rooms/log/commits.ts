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
} from '../../engine/engine.ts'
import { LogTruncatedError, type RemoteAppend, readLogSince } from '../replication/read-log-since.ts'
import { RemoteAppendBuffer } from '../replication/remote-append-buffer.ts'
import type { AppendNotice } from '../replication/replica-messages.ts'
import { type AppliedUpdate, type UpdateBroadcast, updateBytesOf } from '../room/broadcast.ts'
import { fencing, recheckRights } from '../room/write-rights.ts'
import type { AppendBacklog } from './append-backlog.ts'
import { CommitWaiters } from './commit-waiters.ts'
import { type Existence, LogPosition } from './log-position.ts'
import type { CommitLog } from './recorded-log.ts'

/** Applies the updates that other nodes have appended. */
export interface RemoteUpdates {
  /** Splits updates into parts that are applied one after the other. */
  split(foreign: readonly RemoteAppend[]): readonly (readonly RemoteAppend[])[]
  /**
   * Returns whether a thread must integrate a part before it is applied. All earlier parts must already be
   * applied.
   */
  isExpensive(part: readonly RemoteAppend[]): boolean
  /**
   * Integrates an expensive part on a thread. The caller must call `apply` with this part immediately
   * afterwards.
   */
  place(part: readonly RemoteAppend[]): Promise<void>
  /** Applies a part, which is durable. The parts are applied in the order of the log. */
  apply(part: readonly RemoteAppend[]): void
}

export interface CommitListeners {
  /**
   * Called when these updates are durable, in the order of commits. They may be sent to members from now on,
   * and not earlier.
   */
  durable(broadcast: UpdateBroadcast): void
  /** Called once, when an append was rejected, or when it is unknown whether the append was written. */
  failed(error: unknown): void
  /** Called when the log has these updates, before `durable`. Undefined if nothing is traced. */
  readonly stored?: ((appended: Appended, updates: readonly AppliedUpdate[]) => void) | undefined
  /** Called when this node has appended updates, unless the log has only one writer. */
  appended(notice: AppendNotice): void
  /** Returns the object that applies the updates of other nodes. Called when such updates arrive. */
  remote(): RemoteUpdates
}

export interface CommitsOptions {
  readonly log: CommitLog
  readonly doc: Key
  readonly loaded: LoadedLog
  /** Bytes that wait to be appended, in all documents of this process. */
  readonly queued: AppendBacklog
  readonly listeners: CommitListeners
}

/** An update that is appended before it is applied. */
export interface ConditionalCommit {
  readonly broadcast: UpdateBroadcast
  readonly at: number
  readonly jobs: readonly Job[]
  /**
   * Called when the update is durable, before it is sent. `among others`: the document has updates that are
   * not durable yet.
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
   * An append was not written. The appends after it must end first. Then `next` runs, and all these appends
   * are repeated.
   */
  | { readonly is: 'interrupted'; readonly next: () => Promise<void> }
  /** The log or the permissions are being read, or an update that expects a head is being appended. */
  | { readonly is: 'working' }
  /** The commits have failed while an operation was in progress; that operation has not ended yet. */
  | { readonly is: 'failing'; readonly error: unknown }
  | { readonly is: 'failed'; readonly error: unknown }

const idle: CommitState = { is: 'idle' }
const appending: CommitState = { is: 'appending' }
const working: CommitState = { is: 'working' }

/** Maximum bytes of one append, unless its first commit alone is larger. */
const appendBytesMax = 8_388_608
/**
 * Maximum number of successive repetitions of rejected appends. A fence is rarely raised even twice in that
 * time.
 */
const repeatsMax = 20
/** Maximum number of reads of the log for one caller until this replica has all entries. */
const readsMax = 8

/**
 * Writes the changes of a room to its log, and passes them to the members when they are durable. Changes
 * leave a room only here.
 *
 * Updates commute, so an append succeeds even if other nodes have appended meanwhile. The sequence numbers of
 * the append show whether another node was faster; the updates of that node are then applied first. An append
 * must not be stored if an earlier append fails. Therefore only one append is in progress at a time, and the
 * next append contains all updates that were committed meanwhile. Appends overlap only if the log has one
 * writer. Each of them then expects the head that the previous append leaves, so that a busy room applies and
 * sends updates while the disk writes.
 *
 * The log rejects an append if a fence of one of its senders was raised, and then also rejects the appends
 * after it. Once all of these appends have ended, the permissions of their senders are rechecked, and the
 * appends are repeated in the same order. If a permission has ended, the commits fail: the document in memory
 * contains the rejected update, so the document must be loaded again.
 */
export class Commits {
  readonly #log: CommitLog
  readonly #doc: Key
  readonly #queued: AppendBacklog
  readonly #listeners: CommitListeners
  readonly #position: LogPosition
  readonly #waiters = new CommitWaiters()
  /** Null until another node has sent a notice. */
  #notices: RemoteAppendBuffer | null = null
  /** Commits that are applied and not durable, oldest first. */
  readonly #queue: QueuedCommit[] = []
  /**
   * Number of commits in each append that is in progress. `#inFlight` and `#updatesInFlight` count the
   * commits and updates of all these appends.
   */
  readonly #appends: number[] = []
  #inFlight = 0
  #updatesInFlight = 0
  /** The broadcast that is being sent to the members. Its updates are applied and durable. */
  #broadcasting: UpdateBroadcast | null = null
  /** The epoch of the log; null if this replica contains no entries of a log. */
  #epoch: number | null
  #durableTo: number
  /** Number of updates that this node has committed; `#stored` is the number of durable ones. */
  #committed = 0
  #stored = 0
  /** Updates of this node that are contained in an applied snapshot and that `#stored` does not count yet. */
  #covered = 0
  /** How the next append creates the log, if there is no log. */
  #made: AppendTo = 'create'
  /** True if the log must be read before the next append. */
  #isBehind = false
  #repeats = 0
  #state: CommitState = idle
  #whenSettled: (() => void)[] = []
  #whenFree: (() => void)[] = []

  constructor({ log, doc, loaded, queued, listeners }: CommitsOptions) {
    this.#log = log
    this.#doc = doc
    this.#queued = queued
    this.#listeners = listeners
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
   * Sequence number of the last applied update, durable or not. The number of an update that is not durable
   * changes if other nodes append first.
   */
  get head(): number {
    return this.#durableTo + this.#committed - this.#stored - this.#covered
  }

  /** Sequence number up to which this replica contains all entries of the log. */
  get durableTo(): number {
    return this.#durableTo
  }

  /** Time and user of the last update. */
  get changed(): { readonly at: number; readonly by: string } {
    return this.#position.changed
  }

  /**
   * Resolves with the sequence number of the last update when all updates applied so far are durable and
   * sent. Rejects with the error of the log.
   */
  get durable(): Promise<number> {
    return new Promise((resolve, reject) => this.#awaitDurable(resolve, reject))
  }

  /**
   * Like `durable`, but resolves with null if other nodes have appended updates up to that number that were
   * not applied at the time of the call. A state that was read at that time is then not a version of the
   * document.
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

  /** Queues applied updates for an append. @param jobs enqueued in the same transaction */
  commit(broadcast: UpdateBroadcast, at: number, jobs?: readonly Job[]): void {
    if (this.#hasFailed) return
    const { updates } = broadcast
    const bytes = updateBytesOf(updates)
    this.#queue.push({ broadcast, jobs, bytes })
    this.#queued.add(bytes)
    this.#committed += updates.length
    this.#position.noteChange(at, updates.at(-1)?.by ?? '')
    // From now on the log exists for this node.
    if (this.#position.existence !== 'live') this.#made = this.#position.target()
    if (this.#queued.isFull) this.#fail(new StoreUnavailableError('too many bytes wait for the store'))
    else if (this.#isIdle) this.#goOn()
    else if (this.#state.is === 'appending' && this.hasOneWriter) this.#append()
  }

  /**
   * Appends an update that is valid only for the document at `head`, if this node has no operation in
   * progress. Resolves with the sequence number of the update. Resolves with null if the document has
   * changed; the updates of other nodes are then applied.
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
      const options = { expectHead: head, jobs: commit.jobs, ...fencing(updates) }
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
    apply(this.#queue.length === 0 ? 'alone' : 'among others')
    this.#reached(appended)
    this.#position.noteChange(at, broadcast.updates.at(-1)?.by ?? '')
    this.#listeners.stored?.(appended, broadcast.updates)
    this.whileBroadcasting(broadcast, (given) => this.#listeners.durable(given))
    this.#notify(appended, at, broadcast.updates)
  }

  /**
   * Receives the notice of another node that has appended updates. Notices may be late, duplicated or lost.
   */
  received(notice: AppendNotice): void {
    if (this.#hasFailed || (notice.epoch === this.#epoch && notice.last <= this.#durableTo)) return
    this.#notices ??= new RemoteAppendBuffer()
    this.#notices.add(notice)
    if (this.#isIdle) this.#goOn()
  }

  /** Reads the log entries that this replica lacks. */
  catchUp(): void {
    this.#isBehind = true
    if (this.#isIdle) this.#goOn()
  }

  /**
   * Returns whether the log has more entries than this replica, or has lost entries. Returns false while an
   * operation is in progress, because its result will show a difference.
   * @param head the head of the log; null: there is no log
   * @param had the value of `durableTo` before the head was read
   */
  differs(head: LogHead | null, had: number): boolean {
    return this.#isIdle && this.#isElsewhere(head, had)
  }

  /**
   * Resolves when this replica contains all entries that were in the log at the time of the call.
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
   * Returns whether the log still ends at `head`. If not, applies the updates of other nodes first. @throws
   * the error of the log
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
   * Resolves when no operation is in progress, whether the last operations succeeded or failed. A failed
   * append may end before earlier appends.
   */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSettled) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  /**
   * Runs `give`, which sends a durable broadcast to the members. Meanwhile `broadcastClocks` does not count
   * this broadcast, because a member whose buffer is full has not received it.
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
   * Returns the part of `clocks` that was sent to the members. While commits are in progress, this is less
   * than the applied updates.
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

  /** @throws the error with which the commits have failed */
  #checkAlive(): void {
    if ('error' in this.#state) throw this.#state.error
  }

  /**
   * Starts the next operation; none may be in progress. If the replica lacks log entries, reads them before
   * the next append.
   */
  #goOn(): void {
    this.#applyNotices()
    // Applying the notices may have committed updates that waited for them, or may have failed.
    if (!this.#isIdle) return
    if (this.#isBehind) void this.#run(() => this.#readLog())
    else if (this.#queue.length > 0) this.#append()
    else this.#settle()
  }

  /** Runs an operation; only one may run at a time. */
  async #run(work: () => Promise<void>): Promise<void> {
    if (this.#isIdle) this.#state = working
    try {
      await work()
    } catch (error) {
      this.#fail(error)
    }
    this.#free()
  }

  /** Ends the current operation, which has succeeded or failed, and starts the next. */
  #free(): void {
    this.#state = 'error' in this.#state ? { is: 'failed', error: this.#state.error } : idle
    if (this.#whenFree.length > 0) for (const resolve of this.#whenFree.splice(0)) resolve()
    if (this.#isIdle) this.#goOn()
    else this.#settle()
  }

  /**
   * Appends the queued commits. Updates that other nodes have appended meanwhile get lower sequence numbers,
   * and are applied first.
   */
  #append(): void {
    this.#state = appending
    const start = this.#inFlight
    const to = this.#epoch ?? (start === 0 ? this.#made : this.#position.epoch)
    const expectsHead = this.hasOneWriter || typeof to !== 'number'
    const expectHead = this.#durableTo + this.#updatesInFlight
    const updates = this.#takeQueue()
    try {
      const options: AppendOptions = {
        ...(expectsHead && { expectHead }),
        ...jobsOf(this.#queue, start, this.#inFlight),
        ...fencing(updates),
      }
      this.#log.append(this.#doc, to, updates, options).then(this.#appended, this.#refused)
    } catch (error) {
      // A permission has ended that was valid when the update was applied.
      queueMicrotask(() => this.#refused(error))
    }
  }

  /** Takes the commits for one append, at least one. From now on the engine counts their waiting bytes. */
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
    // The log also rejects an append that follows an append that was not written.
    const isBehindRefused = this.#state.is === 'interrupted' && error instanceof AppendRejectedError
    if (!isBehindRefused) this.#fail(error)
    this.#notWritten()
  }

  #interrupted(next: () => Promise<void>): void {
    if (this.#state.is === 'appending') this.#state = { is: 'interrupted', next }
    this.#notWritten()
  }

  /**
   * Removes an append that was not written. The appends after it are not written either, and no other append
   * is in progress.
   */
  #notWritten(): void {
    this.#appends.pop()
    this.#ended()
  }

  /** Must be called when an append has ended, with or without success. */
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

  /** Applies the log entries that precede `appended`, then stores `appended`. */
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
   * operation has failed meanwhile, resolves the waiting callers with their sequence numbers, and notifies
   * other nodes.
   */
  #store(appended: Appended, commits: number): void {
    const shift = appended.first - 1 - this.#stored
    const { stored } = this.#listeners
    const updates = this.hasOneWriter && stored === undefined ? [] : updatesOf(this.#queue, 0, commits)
    if (stored !== undefined) stored(appended, updates)
    for (let left = commits; left > 0; left -= 1) {
      const { broadcast } = this.#queue[0] as QueuedCommit
      try {
        if (!this.#hasFailed) this.#listeners.durable(broadcast)
      } finally {
        // This follows the broadcast: a member whose buffer is full has not received it (`broadcastClocks`).
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
    if (!this.hasOneWriter) this.#listeners.appended({ epoch, first, last, at, updates })
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
   * Reads and applies the log entries that this replica lacks. @param missing the first page of these entries
   */
  async #readLog(missing?: LoadedLog): Promise<void> {
    this.#isBehind = false
    try {
      for await (const { epoch, foreign } of readLogSince(this.#log, this.#doc, this.#logPosition, missing)) {
        await this.#applyInParts(epoch, foreign)
        if (this.#hasFailed) return
      }
    } catch (error) {
      // No caller waits for the entries, and the next comparison finds the difference again.
      if (!(error instanceof StoreUnavailableError) || this.#queue.length > 0) throw error
    }
  }

  /** Applies the updates in the notices. If an update needs a thread, it is read from the log instead. */
  #applyNotices(): void {
    const next = this.#notices?.next(this.#logPosition) ?? null
    if (next === 'behind') this.#isBehind = true
    if (next === null || next === 'behind') return
    try {
      const remote = this.#listeners.remote()
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
   * Applies updates of other nodes, part by part. @param reaches called before each part with its last
   * sequence number
   */
  async #applyInParts(
    epoch: number,
    foreign: readonly RemoteAppend[],
    reaches: (seq: number) => void = () => {},
  ): Promise<void> {
    const remote = this.#listeners.remote()
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
    this.#listeners.remote().apply(foreign)
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return
    this.#state = { is: this.#isIdle ? 'failed' : 'failing', error }
    for (const { bytes } of this.#queue.slice(this.#inFlight)) this.#queued.remove(bytes)
    this.#listeners.failed(error)
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

function jobsOf(queue: readonly QueuedCommit[], start: number, end: number): Pick<AppendOptions, 'jobs'> {
  const jobs =
    end - start === 1 ? queue[start]?.jobs : queue.slice(start, end).flatMap(({ jobs = [] }) => jobs)
  return jobs === undefined || jobs.length === 0 ? {} : { jobs }
}

/** Lowers the clocks to their values before a broadcast. */
function takeOut(clocks: Map<number, number>, { updates }: UpdateBroadcast): void {
  for (const { summary } of updates)
    for (const { client, from } of summary.clients)
      if (from < (clocks.get(client) ?? 0)) clocks.set(client, from)
}
