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
  /** Returns whether a thread must place a part before it is applied. All parts before it must be applied. */
  isExpensive(part: readonly RemoteAppend[]): boolean
  /** Places an expensive part. The caller applies it immediately after that. */
  place(part: readonly RemoteAppend[]): Promise<void>
  /** Applies a part, which is durable. Called in the order of the log. */
  apply(part: readonly RemoteAppend[]): void
}

export interface CommitListeners {
  /** These updates are durable: now, and not earlier, they may be shown. Called in the order of commits. */
  durable(broadcast: UpdateBroadcast): void
  /** The append was refused, or whether it was written is unknown. Called once. */
  failed(error: unknown): void
  /** Called when the log has these updates, before `durable`. Undefined: nothing is traced. */
  readonly stored?: ((appended: Appended, updates: readonly AppliedUpdate[]) => void) | undefined
  /** Called when this node has appended updates, unless the log has one writer. */
  appended(notice: AppendNotice): void
  /** Called when other nodes have appended updates. */
  remote(): RemoteUpdates
}

export interface CommitsOptions {
  readonly log: CommitLog
  readonly doc: Key
  readonly loaded: LoadedLog
  /** Bytes that wait in all documents of this process. */
  readonly queued: AppendBacklog
  readonly listeners: CommitListeners
}

/** An update that has not been applied yet. */
export interface ConditionalCommit {
  readonly broadcast: UpdateBroadcast
  readonly at: number
  readonly jobs: readonly Job[]
  /** Called when it is durable, before it is sent; `among others`: the document has updates that are not durable. */
  readonly apply: (how: 'alone' | 'among others') => void
}

/** Updates that one append contains, and their jobs. */
interface QueuedCommit {
  readonly broadcast: UpdateBroadcast
  readonly jobs: readonly Job[] | undefined
  readonly bytes: number
}

type CommitState =
  | { readonly is: 'idle' }
  | { readonly is: 'appending' }
  /** An append was not written. The appends behind it must end; then `next` runs, and all of them are repeated. */
  | { readonly is: 'interrupted'; readonly next: () => Promise<void> }
  /** The log or the permissions are being read, or an update is appended that expects a head. */
  | { readonly is: 'working' }
  /** The commits have failed, and an operation that was in progress has not ended. */
  | { readonly is: 'failing'; readonly error: unknown }
  | { readonly is: 'failed'; readonly error: unknown }

const idle: CommitState = { is: 'idle' }
const appending: CommitState = { is: 'appending' }
const working: CommitState = { is: 'working' }

/** Bytes that one append contains, unless its first commit has more. */
const appendBytesMax = 8_388_608
/** Refused appends are repeated at most this often in a row: a fence is rarely raised twice in that time. */
const repeatsMax = 20
/** How often the log is read for one caller until this copy has all of it. */
const readsMax = 8

/**
 * The only place at which a change leaves a room: updates go to the log, and to the members when the log has them.
 *
 * Updates commute, so an append succeeds after any appends of other nodes. Its sequence numbers show whether another
 * node was faster; the updates of that node are then applied first. An append must not be stored if an earlier one
 * fails. So only one append is in progress at a time, and the next one contains all updates that were committed
 * meanwhile. Appends overlap only if the log has one writer. Each then expects the head that the previous one leaves,
 * so that a busy room applies and sends updates while the disk writes.
 *
 * The log refuses an append when a fence of one of its senders was raised, and then also the appends behind it. Once
 * all of them have ended, the rights of their senders are read again and the appends are repeated in the same order. If
 * a right has ended, the commits fail: the document in memory contains the refused update, so it has to be loaded
 * again.
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
  /** Applied and not durable, the oldest first. */
  readonly #queue: QueuedCommit[] = []
  /** Number of commits in each append that is in progress. The next two fields count all their commits and updates. */
  readonly #appends: number[] = []
  #inFlight = 0
  #updatesInFlight = 0
  /** Applied and durable, and being sent to the members. */
  #broadcasting: UpdateBroadcast | null = null
  /** The epoch of the log; null: this copy contains no entries of a log. */
  #epoch: number | null
  #durableTo: number
  /** Updates committed, and durable, of this node. */
  #committed = 0
  #stored = 0
  /** Updates of this node that an applied snapshot contains, and that `#stored` does not count yet. */
  #covered = 0
  /** How a log is made that does not exist. */
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

  /** True if this process is the only one that appends. */
  get hasOneWriter(): boolean {
    return this.#log.hasOneWriter
  }

  /** True if this copy contains entries of a log. */
  get hasLog(): boolean {
    return this.#epoch !== null
  }

  get existence(): Existence {
    return this.#position.existence
  }

  get epoch(): number {
    return this.#position.epoch
  }

  /** Number of the last update applied, durable or not, unless other nodes append updates before it. */
  get head(): number {
    return this.#durableTo + this.#committed - this.#stored - this.#covered
  }

  /** Number up to which this copy contains all entries of the log. */
  get durableTo(): number {
    return this.#durableTo
  }

  /** Time and user of the last update. */
  get changed(): { readonly at: number; readonly by: string } {
    return this.#position.changed
  }

  /**
   * Resolves with the number of the last update once all updates that are applied so far are durable and sent. Rejects
   * with the error of the log.
   */
  get durable(): Promise<number> {
    return new Promise((resolve, reject) => this.#awaitDurable(resolve, reject))
  }

  /**
   * Like `durable`, but null if the log contains, up to that number, updates of other nodes that are not applied at the
   * time of the call. A state that was read at that time is then not a version of the document.
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

  /** @param jobs enqueued with it */
  commit(broadcast: UpdateBroadcast, at: number, jobs?: readonly Job[]): void {
    if (this.#hasFailed) return
    const { updates } = broadcast
    const bytes = updateBytesOf(updates)
    this.#queue.push({ broadcast, jobs, bytes })
    this.#queued.add(bytes)
    this.#committed += updates.length
    this.#position.noteChange(at, updates.at(-1)?.by ?? '')
    // From now on it exists for this node.
    if (this.#position.existence !== 'live') this.#made = this.#position.target()
    if (this.#queued.isFull) this.#fail(new StoreUnavailableError('too many bytes wait for the store'))
    else if (this.#isIdle) this.#goOn()
    else if (this.#state.is === 'appending' && this.hasOneWriter) this.#append()
  }

  /**
   * Appends an update that is right only for the document as it was at `head`, while this node has no operation in
   * progress. Resolves with its number, or with null if the document has changed since; then the updates of other nodes
   * are applied.
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

  /** Another node has appended this. Notices may be late, doubled or lost. */
  received(notice: AppendNotice): void {
    if (this.#hasFailed || (notice.epoch === this.#epoch && notice.last <= this.#durableTo)) return
    this.#notices ??= new RemoteAppendBuffer()
    this.#notices.add(notice)
    if (this.#isIdle) this.#goOn()
  }

  /** Reads the entries of the log that this copy lacks. */
  catchUp(): void {
    this.#isBehind = true
    if (this.#isIdle) this.#goOn()
  }

  /**
   * Returns whether the log has more than this copy, or has lost something. False while an operation is in progress,
   * because its result will show a difference.
   * @param head the head of the log; null: there is no log
   * @param had `durableTo` before the head was read
   */
  differs(head: LogHead | null, had: number): boolean {
    return this.#isIdle && this.#isElsewhere(head, had)
  }

  /**
   * Resolves when this copy contains all entries that are in the log at the time of the call.
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

  /** Returns whether the log still ends at `head`. If not, the updates of other nodes are applied. @throws the error of the log */
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
   * Resolves when no operation is in progress, whether the last ones succeeded or failed. A failed append may end
   * before earlier ones.
   */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSettled) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  /**
   * Runs `give`, which sends a durable broadcast to the members. During the call, `broadcastClocks` does not count it: a
   * member whose buffer is full has not received it.
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
   * The part of `clocks` that the members have been sent: less than the applied updates while commits are in progress.
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

  /** @throws the error that it has failed by */
  #checkAlive(): void {
    if ('error' in this.#state) throw this.#state.error
  }

  /** Starts the next operation. None may be in progress. The remainder of the log is read before an append. */
  #goOn(): void {
    this.#applyNotices()
    // The application may have committed updates that waited for the notices, or may have failed.
    if (!this.#isIdle) return
    if (this.#isBehind) void this.#run(() => this.#readLog())
    else if (this.#queue.length > 0) this.#append()
    else this.#settle()
  }

  /** Runs one operation at a time. */
  async #run(work: () => Promise<void>): Promise<void> {
    if (this.#isIdle) this.#state = working
    try {
      await work()
    } catch (error) {
      this.#fail(error)
    }
    this.#free()
  }

  /** Call when the current operation has ended, with or without success. */
  #free(): void {
    this.#state = 'error' in this.#state ? { is: 'failed', error: this.#state.error } : idle
    if (this.#whenFree.length > 0) for (const resolve of this.#whenFree.splice(0)) resolve()
    if (this.#isIdle) this.#goOn()
    else this.#settle()
  }

  /**
   * Appends the queued commits. Updates that other nodes have appended meanwhile precede them, and are applied first.
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
      // A right has ended that was valid when the update was applied.
      queueMicrotask(() => this.#refused(error))
    }
  }

  /** Takes the commits for one append, at least one. Its bytes wait in the engine from now on. */
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
    // An append behind one that was not written is also refused.
    const isBehindRefused = this.#state.is === 'interrupted' && error instanceof AppendRejectedError
    if (!isBehindRefused) this.#fail(error)
    this.#notWritten()
  }

  #interrupted(next: () => Promise<void>): void {
    if (this.#state.is === 'appending') this.#state = { is: 'interrupted', next }
    this.#notWritten()
  }

  /**
   * Call for an append that was not written. Appends behind it are not written either, and they are the last ones in
   * progress.
   */
  #notWritten(): void {
    this.#appends.pop()
    this.#ended()
  }

  /** Call when an append has ended, with or without success. */
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

  /** Applies the log entries that precede `appended`. Then `appended` is stored. */
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
   * Call when the first commits of the queue are durable. Sends them to the members unless an operation has failed
   * since, returns their numbers to callers, and sends the numbers to other nodes.
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
        // Only after the broadcast: a member whose buffer is full has not received it (`broadcastClocks`).
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

  /** @param missing the first page of the entries that this copy lacks */
  async #readLog(missing?: LoadedLog): Promise<void> {
    this.#isBehind = false
    try {
      for await (const { epoch, foreign } of readLogSince(this.#log, this.#doc, this.#logPosition, missing)) {
        await this.#applyInParts(epoch, foreign)
        if (this.#hasFailed) return
      }
    } catch (error) {
      // No caller waits: the next comparison finds it again.
      if (!(error instanceof StoreUnavailableError) || this.#queue.length > 0) throw error
    }
  }

  /** Applies the updates in the notices. An update that needs a thread is read from the log. */
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

  /** @param reaches called with the last number of each part before it is applied */
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

/** True when it was refused because a permission has to be read again. */
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

/** Lowers clocks to their values before a broadcast. */
function takeOut(clocks: Map<number, number>, { updates }: UpdateBroadcast): void {
  for (const { summary } of updates)
    for (const { client, from } of summary.clients)
      if (from < (clocks.get(client) ?? 0)) clocks.set(client, from)
}
