import type { Version } from '../../model/version.ts'
import {
  type Appended,
  type AppendOptions,
  AppendRejectedError,
  type DocumentLog,
  type Job,
  type Key,
  type LoadedLog,
  StoreUnavailableError,
  type Term,
} from '../../store/engine.ts'
import type { Change, Commit } from '../updates/change.ts'
import type { RoomTrace } from '../updates/room-trace.ts'
import { fenceOf, recheckRights } from '../updates/write-rights.ts'

/** Whether the document exists. Only an explicit request creates a `deleted` document again. */
export type Existence = 'absent' | 'deleted' | 'live'

/** The room whose changes are committed. */
export interface CommittingRoom {
  /** The term in which this node is the only writer of the log. */
  readonly term: Term
  /** Traces the commits; undefined if nothing is traced. */
  readonly trace: Pick<RoomTrace, 'committed'> | undefined
  /**
   * Stores the record of the document. Called before each append that creates its log. If it fails, nothing is
   * appended.
   * @param decided called, if at all, when the record is certain: an append from now on is not durable before it
   */
  record(decided: () => void): Promise<unknown>
  /**
   * Sends the updates of a commit to the members. Called when they are durable, in the order of the commits. The
   * updates must not be sent before this call.
   */
  broadcast(commit: Commit): void
  /**
   * Called once for each commit whose append has ended with success, before `broadcast`. It is also called if
   * the commits have failed in the meantime.
   */
  accepted(commit: Commit): void
  /** Called once, when an append was rejected or has an unknown outcome. */
  fail(error: unknown): void
}

type CommitState =
  /** Each commit is appended at once. */
  | { readonly is: 'open' }
  /**
   * Commits wait: the record of the document is being stored. Or a fence of a sender was raised, and an append was
   * rejected: when all appends have ended, the permissions are rechecked, and the rejected appends are repeated.
   */
  | { readonly is: 'waiting' }
  | { readonly is: 'failed'; readonly error: unknown }

const open: CommitState = { is: 'open' }
const waiting: CommitState = { is: 'waiting' }

/** A caller that waits until the update with a sequence number is durable. */
interface CommitWaiter {
  readonly seq: number
  readonly resolve: (seq: number) => void
  readonly reject: (error: unknown) => void
}

/** Maximum bytes of one append. A single commit may be larger. */
const appendBytesMax = 8_388_608
/**
 * Maximum number of times in succession that rejected appends are repeated. Even two rejections in succession
 * are rare, because fences are rarely raised.
 */
const repeatsMax = 20

/**
 * Writes the changes of a room to its log, and passes them to the members when they are durable. All changes
 * of a room go through this class, and nothing else appends to the log while the room is open.
 *
 * Appends overlap: each one is sent at once and expects the head that the previous one leaves. In this way, a
 * busy room applies and sends updates while the disk writes, and no append is stored if an earlier one was not.
 * If the log has another head, something else has appended to it, and the commits fail. Only the append that creates
 * the log is not sent at once: it waits until the record of the document is stored, or certain to be stored before it.
 *
 * The log also rejects an append if a fence of one of its senders was raised, and then the appends that follow.
 * When all of these appends have ended, the permissions of their senders are rechecked, and the appends are
 * repeated in the same order. If a permission has ended, the commits fail: the document in memory contains the
 * rejected update, so the document must be loaded again.
 */
export class CommitQueue {
  readonly #log: Pick<DocumentLog, 'append'>
  readonly #doc: Key
  readonly #backlog: AppendBacklog
  readonly #room: CommittingRoom
  readonly #waiters: CommitWaiter[] = []
  /** Commits whose updates are applied and not durable yet, oldest first. */
  readonly #queue: Commit[] = []
  /** The number of commits in each append that is in progress, oldest append first. */
  readonly #appends: number[] = []
  /** Number of commits in all appends that are in progress. */
  #inFlight = 0
  /** True if the log is stored. */
  #hasLog: boolean
  #existence: Existence
  #epoch: number
  #changed: { readonly at: number; readonly by: string }
  /** Sequence number of the last applied update. */
  #head: number
  /** Sequence number of the last update that is in the log or in an append in progress. */
  #appendedTo: number
  /** Sequence number of the last durable update. */
  #durableTo: number
  /** The way in which the next append creates the log, if there is no log. */
  #made: 'create' | 'recreate'
  #repeats = 0
  #state: CommitState = open
  #whenSettled: (() => void)[] = []

  /** @param backlog counts the bytes that wait to be appended, in all documents of this process */
  constructor(
    log: Pick<DocumentLog, 'append'>,
    doc: Key,
    loaded: LoadedLog,
    backlog: AppendBacklog,
    room: CommittingRoom,
  ) {
    this.#log = log
    this.#doc = doc
    this.#backlog = backlog
    this.#room = room
    this.#existence = loaded.state
    this.#made = loaded.state === 'absent' ? 'create' : 'recreate'
    this.#epoch = loaded.state === 'absent' ? 0 : loaded.epoch
    this.#hasLog = loaded.state === 'live'
    const { head, changed } = loaded.state === 'live' ? loaded : { head: 0, changed: { at: 0, by: '' } }
    this.#changed = changed
    this.#head = head
    this.#appendedTo = head
    this.#durableTo = head
  }

  /** True if the log is stored. */
  get hasLog(): boolean {
    return this.#hasLog
  }

  get existence(): Existence {
    return this.#existence
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Sequence number of the last applied update, durable or not. */
  get head(): number {
    return this.#head
  }

  /** The version after the last applied update, durable or not. */
  get version(): Version {
    return { epoch: this.#epoch, seq: this.#head }
  }

  /** Replaces a user by the unknown user if the user has made the last change. */
  forgetAuthor(userId: string): void {
    const { at, by } = this.#changed
    if (by === userId) this.#changed = { at, by: '' }
  }

  /** Time and user of the last update. */
  get changed(): { readonly at: number; readonly by: string } {
    return this.#changed
  }

  /**
   * Resolves when all updates that have been applied so far are durable and sent. The value is the sequence
   * number of the last of these updates. Rejects with the error of the log.
   */
  get durable(): Promise<number> {
    return new Promise((resolve, reject) => this.whenDurable(resolve, reject))
  }

  /** Like `durable`, but without a promise. The functions must not throw. */
  whenDurable(resolve: CommitWaiter['resolve'], reject: CommitWaiter['reject']): void {
    if (this.#state.is === 'failed') reject(this.#state.error)
    else if (this.#queue.length === 0) resolve(this.#durableTo)
    else this.#waiters.push({ seq: this.#head, resolve, reject })
  }

  /** Appends applied updates. @param at time of the commit, in epoch milliseconds */
  commit(commit: Commit, at: number): void {
    if (this.#state.is === 'failed') return commit.trace?.failed(this.#state.error)
    this.#queue.push(commit)
    this.#backlog.add(commit.bytes)
    this.#head += commit.changes.length
    this.#changed = { at, by: commit.changes.at(-1)?.by ?? '' }
    if (this.#existence !== 'live') {
      // From now on this room treats the log as existing.
      this.#existence = 'live'
      this.#epoch += 1
    }
    if (this.#backlog.isFull)
      return this.#fail(new StoreUnavailableError('too many bytes wait for the store'))
    if (this.#state.is !== 'open') return
    if (this.#hasLog || this.#inFlight > 0) return this.#append()
    this.#state = waiting
    void this.#resume()
  }

  /** Resolves when no append is in progress and no commit waits, regardless of whether the last appends succeeded. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSettled) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  /** Returns the clocks that the members have received: `clocks` without the updates that are not sent yet. */
  broadcastClocks(clocks: ReadonlyMap<number, number>): Map<number, number> {
    const reached = new Map(clocks)
    for (const commit of this.#queue) takeOut(reached, commit)
    return reached
  }

  get #hasFailed(): boolean {
    return this.#state.is === 'failed'
  }

  get #isSettled(): boolean {
    return this.#appends.length === 0 && (this.#hasFailed || this.#queue.length === 0)
  }

  /** Appends the commits that wait. */
  #append(): void {
    const start = this.#inFlight
    const to = this.#hasLog || start > 0 ? this.#epoch : this.#made
    const expectHead = this.#appendedTo
    const updates = this.#takeWaiting()
    try {
      // Each append has the same properties, so that the engine reads them fast.
      const options: AppendOptions = {
        expectHead,
        jobs: jobsOf(this.#queue, start, this.#inFlight),
        fence: fenceOf(updates),
        term: this.#room.term,
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
  #takeWaiting(): readonly Change[] {
    const start = this.#inFlight
    let bytes = 0
    let end = start
    do {
      bytes += (this.#queue[end] as Commit).bytes
      end += 1
    } while (end < this.#queue.length && bytes + (this.#queue[end] as Commit).bytes <= appendBytesMax)
    const updates = changesOf(this.#queue, start, end)
    this.#backlog.remove(bytes)
    this.#appends.push(end - start)
    this.#inFlight = end
    this.#appendedTo += updates.length
    return updates
  }

  readonly #appended = (appended: Appended): void => {
    const commits = this.#appends.shift() as number
    for (let index = 0; index < commits; index += 1) this.#room.accepted(this.#queue[index] as Commit)
    try {
      this.#store(appended, commits)
    } catch (error) {
      this.#fail(error)
    }
    this.#ended()
  }

  readonly #refused = (error: unknown): void => {
    // The appends after this one are not written either, so it does not matter which of them is removed.
    this.#appends.pop()
    if (this.#state.is === 'open' && isFenced(error)) this.#state = waiting
    // After an append that was not written, the log also rejects the appends that follow.
    const isBehindRefused = this.#state.is === 'waiting' && error instanceof AppendRejectedError
    if (!isBehindRefused) this.#fail(error)
    this.#ended()
  }

  /** Must be called when an append has ended, with or without success. */
  #ended(): void {
    if (this.#appends.length > 0) return
    if (this.#state.is === 'waiting') void this.#repeat()
    else this.#settle()
  }

  /** Rechecks the permissions of the senders, and repeats the rejected appends. */
  async #repeat(): Promise<void> {
    for (const { bytes } of this.#queue.slice(0, this.#inFlight)) this.#backlog.add(bytes)
    this.#inFlight = 0
    this.#appendedTo = this.#durableTo
    try {
      this.#repeats += 1
      if (this.#repeats > repeatsMax) throw new StoreUnavailableError('rights change too often')
      await recheckRights(this.#queue)
      await this.#resume()
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Appends the commits that wait. If there is no log yet, stores the record of the document first. If the engine
   * can, it writes the record and the first append in one batch.
   */
  async #resume(): Promise<void> {
    try {
      let isResumed = false
      const resume = (): void => {
        if (isResumed || this.#hasFailed) return
        isResumed = true
        this.#state = open
        while (this.#inFlight < this.#queue.length) this.#append()
      }
      if (!this.#hasLog) await this.#room.record(resume)
      resume()
    } catch (error) {
      this.#fail(error)
    }
  }

  /**
   * Removes the first commits from the queue, because they are durable. Sends them to the members unless an
   * append has failed in the meantime, and resolves the callers that wait for them.
   */
  #store(appended: Appended, commits: number): void {
    const { trace } = this.#room
    if (trace !== undefined) trace.committed(appended, changesOf(this.#queue, 0, commits))
    for (let left = commits; left > 0; left -= 1) {
      try {
        if (!this.#hasFailed) this.#room.broadcast(this.#queue[0] as Commit)
      } finally {
        // The commit is removed after its broadcast, because until then `broadcastClocks` must not include it.
        this.#queue.shift()
        this.#inFlight -= 1
      }
    }
    this.#repeats = 0
    this.#hasLog = true
    this.#durableTo = appended.last
    this.#epoch = appended.epoch
    while ((this.#waiters[0]?.seq ?? Number.POSITIVE_INFINITY) <= appended.last) {
      const { seq, resolve } = this.#waiters.shift() as CommitWaiter
      resolve(seq)
    }
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return
    this.#state = { is: 'failed', error }
    for (const { bytes } of this.#queue.slice(this.#inFlight)) this.#backlog.remove(bytes)
    for (const { trace } of this.#queue) trace?.failed(error)
    this.#room.fail(error)
    this.#settle()
  }

  /** Answers the callers that wait, if no append is in progress. */
  #settle(): void {
    if (!this.#isSettled) return
    if (this.#state.is === 'failed')
      for (const { reject } of this.#waiters.splice(0)) reject(this.#state.error)
    for (const resolve of this.#whenSettled.splice(0)) resolve()
  }
}

/** Returns whether an append was rejected because a permission must be rechecked. */
export const isFenced = (error: unknown): boolean =>
  error instanceof AppendRejectedError && error.reason === 'fence'

function changesOf(queue: readonly Commit[], start: number, end: number): readonly Change[] {
  if (end - start === 1) return (queue[start] as Commit).changes
  return queue.slice(start, end).flatMap(({ changes }) => changes)
}

/** Returns the jobs of several commits. If commits have a job with the same id, only the first one is returned. */
function jobsOf(queue: readonly Commit[], start: number, end: number): readonly Job[] | undefined {
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

/** Lowers `clocks` to their values before the changes of a commit. */
function takeOut(clocks: Map<number, number>, { changes }: Commit): void {
  for (const { summary } of changes)
    for (const { client, from } of summary.clients)
      if (from < (clocks.get(client) ?? 0)) clocks.set(client, from)
}

/**
 * Maximum bytes of updates, of all documents together, that wait to be appended. If more bytes wait, the
 * store is too slow.
 */
const waitingBytesMax = 67_108_864

/**
 * Number of bytes that are not durable above which rooms apply no updates. With the largest message, they are fewer than
 * the engine accepts, so that the append of no other document is rejected.
 */
const crowdedBytes = 16_777_216

/** Counts the bytes of updates that wait, and compares them with a maximum. */
export class AppendBacklog {
  #bytes = 0
  readonly #pendingBytes: () => number
  readonly #max: number

  /** @param pendingBytes returns the bytes that the engine has accepted and that are not durable */
  constructor(pendingBytes: () => number, max = waitingBytesMax) {
    this.#pendingBytes = pendingBytes
    this.#max = max
  }

  /** Bytes of all applied updates that are not durable. */
  get undurableBytes(): number {
    return this.#bytes + this.#pendingBytes()
  }

  get isCrowded(): boolean {
    return this.undurableBytes > crowdedBytes
  }

  get isFull(): boolean {
    return this.#bytes > this.#max
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  remove(bytes: number): void {
    this.#bytes -= bytes
  }
}
