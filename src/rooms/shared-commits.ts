import {
  type Appended,
  type AppendTo,
  type Job,
  type Key,
  type LoadedLog,
  type LogHead,
  StoreUnavailableError,
} from '../engine/engine.ts'
import type { AppendBacklog } from './log/append-backlog.ts'
import { updateBytesOf } from './log/commit-summary.ts'
import { CommitWaiters } from './log/commit-waiters.ts'
import { type CommitListeners, type Commits, clocksBefore } from './log/commits.ts'
import { type Existence, LogPosition } from './log/log-position.ts'
import {
  type ConditionalCommit,
  firstOf,
  isFenced,
  isHeadConflict,
  type QueuedAppend,
  settleAppend,
} from './log/queued-append.ts'
import type { CommitLog } from './log/recorded-log.ts'
import { LogTruncatedError, type RemoteAppend, readLogSince } from './replication/read-log-since.ts'
import { RemoteAppendBuffer } from './replication/remote-append-buffer.ts'
import type { AppendNotice } from './replication/replica-messages.ts'
import type { UpdateBroadcast } from './room/broadcast.ts'
import { fencing, recheckRights } from './room/write-rights.ts'

export interface SharedCommitListeners extends CommitListeners {
  /** Others have appended this: it is durable, and comes now. In the order of the log. */
  foreign(foreign: readonly RemoteAppend[]): void
  /** This node has appended this, and others may hear of it. */
  appended(news: AppendNotice): void
}

/** Finds updates of other nodes that are too expensive for the event loop. */
export interface RemotePlacement {
  /** Splits updates into parts that are applied one after the other. */
  split(foreign: readonly RemoteAppend[]): readonly (readonly RemoteAppend[])[]
  /** Returns whether a part must be placed before it is applied. All parts before it must be applied. */
  isExpensive(part: readonly RemoteAppend[]): boolean
  /** Places an expensive part; then it is applied at once. */
  place(part: readonly RemoteAppend[]): Promise<void>
}

export interface SharedCommitOptions {
  readonly log: CommitLog
  readonly doc: Key
  readonly loaded: LoadedLog
  /** What all documents of this process have waiting. */
  readonly queued: AppendBacklog
  readonly placing: RemotePlacement
  readonly listeners: SharedCommitListeners
}

/** What is under way, and what has to come first, end before so many more. */
const runsMax = 8

/**
 * Commits to a log that other processes append to as well. Updates commute, so they are appended whatever others do; who
 * finds, by the numbers that it has got, that others were faster takes over what they have done first. One append is under
 * way at a time, with all that has come meanwhile in the next one: a later one must not get in where an earlier one fails.
 */
export class SharedCommits implements Commits {
  readonly #parts: SharedCommitOptions
  readonly #position: LogPosition
  readonly #asked = new CommitWaiters()
  readonly #overheard = new RemoteAppendBuffer()
  /** Applied and not durable, the oldest first. */
  readonly #queue: QueuedAppend[] = []
  /** Applied and durable, and just being given to the members. */
  #delivering: UpdateBroadcast | null = null
  /** Of the log, as far as anything of it is here; null: nothing. */
  #epoch: number | null
  #durableTo: number
  /** Updates committed, and durable, of this node. */
  #committed = 0
  #stored = 0
  /** Of those that are not counted as durable yet, how many a snapshot brought that was taken over. */
  #covered = 0
  /** How a log is made that is not there. */
  #made: AppendTo = 'create'
  #isBehind = false
  #isBusy = false
  #failure: { readonly error: unknown } | null = null
  #whenSettled: (() => void)[] = []
  #whenFree: (() => void)[] = []

  constructor(parts: SharedCommitOptions) {
    const { loaded } = parts
    this.#parts = parts
    this.#position = new LogPosition(loaded)
    this.#epoch = loaded.state === 'live' ? loaded.epoch : null
    this.#durableTo = loaded.state === 'live' ? loaded.head : 0
  }

  /** Is anything of a log here? */
  get hasLog(): boolean {
    return this.#epoch !== null
  }

  get existence(): Existence {
    return this.#position.existence
  }

  get epoch(): number {
    return this.#position.epoch
  }

  get head(): number {
    return this.#durableTo + this.#committed - this.#stored - this.#covered
  }

  get changed(): { readonly at: number; readonly by: string } {
    return this.#position.changed
  }

  get durable(): Promise<number> {
    return this.#whenDurable().then(({ seq }) => seq)
  }

  get exact(): Promise<number | null> {
    return this.#whenDurable().then(({ seq, isExact }) => (isExact ? seq : null))
  }

  async #whenDurable(): Promise<{ seq: number; isExact: boolean }> {
    this.#checkAlive()
    if (this.#queue.length === 0) return { seq: this.#durableTo, isExact: true }
    return this.#asked.add(this.#committed, this.#durableTo - this.#stored)
  }

  commit(delivery: UpdateBroadcast, at: number, jobs: readonly Job[] = []): void {
    if (this.#failure !== null) return
    const { updates } = delivery
    const bytes = updateBytesOf(updates)
    this.#parts.queued.add(bytes)
    this.#queue.push({ delivery, jobs, bytes })
    this.#committed += updates.length
    this.#position.noteChange(at, updates.at(-1)?.by ?? '')
    // From now on it exists, as far as anybody here can see.
    if (this.#position.existence !== 'live') this.#made = this.#position.target()
    if (this.#parts.queued.isFull) this.#fail(new StoreUnavailableError('too much waits for the store'))
    else this.#goOn()
  }

  /**
   * Appends an update that is right only for the document as it was at `head`, while nothing of this node is under way.
   * Resolves with its number; null where the document has moved on: what others have done has been taken over then.
   * @throws what the log throws
   */
  async commitAt(head: number, { delivery, at, jobs, apply }: ConditionalCommit): Promise<number | null> {
    this.#checkAlive()
    if (this.#isBusy || this.#queue.length > 0 || this.#durableTo !== head) {
      await this.settled()
      return null
    }
    const to = this.#epoch ?? (this.#position.existence === 'deleted' ? 'recreate' : 'create')
    this.#isBusy = true
    const outcome = await settleAppend(this.#append(to, [{ delivery, jobs }], head))
    if (outcome.is === 'done') this.#attempt(() => this.#storeExact(outcome.appended, delivery, at, apply))
    else if (isHeadConflict(outcome.error)) this.#isBehind = true
    else if (!isFenced(outcome.error)) this.#fail(outcome.error)
    this.#free()
    if (outcome.is === 'done' && this.#failure === null) return outcome.appended.last
    if (outcome.is === 'failed' && isFenced(outcome.error)) await recheckRights([delivery])
    await this.settled()
    this.#checkAlive()
    return null
  }

  /** @throws what it has failed by */
  #checkAlive(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  #storeExact(
    appended: Appended,
    delivery: UpdateBroadcast,
    at: number,
    apply: ConditionalCommit['apply'],
  ): void {
    apply(this.#queue.length === 0 ? 'alone' : 'among others')
    this.#reached(appended)
    this.#position.noteChange(at, delivery.updates.at(-1)?.by ?? '')
    this.deliver(delivery, (given) => this.#parts.listeners.durable(given))
    this.#parts.listeners.appended({ ...appended, at, updates: delivery.updates })
  }

  /** What another node says that it has appended. It may come late, twice, or never. */
  heard(news: AppendNotice): void {
    if (this.#failure !== null || (news.epoch === this.#epoch && news.last <= this.#durableTo)) return
    this.#overheard.add(news)
    if (!this.#isBusy) this.#goOn()
  }

  /** Something has been done to the log. */
  look(): void {
    this.#isBehind = true
    this.#goOn()
  }

  /** Number up to which this copy has all that is in the log. */
  get durableTo(): number {
    return this.#durableTo
  }

  /** Is this another copy than that of the log? See `Copy`. While something is under way nobody knows: it will show. */
  differs(head: LogHead | null, had: number): boolean {
    return !this.#isBusy && this.#failure === null && this.#isElsewhere(head, had)
  }

  /** Resolves when all that is in the log by now is here. @throws what the log throws, StoreUnavailableError */
  async reach(): Promise<void> {
    const had = this.#durableTo
    const [found = null] = await this.#parts.log.heads([this.#parts.doc])
    for (let runs = 0; this.#isElsewhere(found, had); runs += 1) {
      this.#checkAlive()
      if (runs === runsMax) throw new StoreUnavailableError('the log cannot be read')
      this.look()
      if (this.#isBusy) await new Promise<void>((resolve) => this.#whenFree.push(resolve))
    }
    this.#checkAlive()
  }

  #isElsewhere(found: LogHead | null, had: number): boolean {
    if (found === null) return this.#epoch !== null
    return found.epoch !== this.#epoch || found.head > this.#durableTo || found.head < had
  }

  /** Does the log still end at `head`? Else what others have done is taken over. @throws what the log throws */
  async endsAt(head: number): Promise<boolean> {
    const [found = null] = await this.#parts.log.heads([this.#parts.doc])
    this.#checkAlive()
    if (found === null ? this.#epoch === null : found.epoch === this.#epoch && found.head === head)
      return true
    this.look()
    await this.settled()
    this.#checkAlive()
    return false
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSettled) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  /** Has `give` hand to the members what is durable: who has no room for it must not be taken to have got it. */
  deliver(delivery: UpdateBroadcast, give: (delivery: UpdateBroadcast) => void): void {
    this.#delivering = delivery
    try {
      give(delivery)
    } finally {
      this.#delivering = null
    }
  }

  deliveredClocks(clocks: ReadonlyMap<number, number>): Map<number, number> {
    const undelivered = this.#queue.map(({ delivery }) => delivery)
    return clocksBefore(clocks, this.#delivering === null ? undelivered : [this.#delivering, ...undelivered])
  }

  get #isSettled(): boolean {
    return !this.#isBusy && (this.#queue.length === 0 || this.#failure !== null)
  }

  /** What others have appended first: what is appended without it is refused. */
  #goOn(): void {
    if (this.#isBusy || this.#failure !== null) return this.#settle()
    this.#takeOverheard()
    // Taking over may have committed what waited for it.
    if (this.#isBusy) return
    if (this.#isBehind) void this.#run(() => this.#catchUp())
    else if (this.#queue.length > 0) void this.#run(() => this.#appendQueue())
    else this.#settle()
  }

  /** One thing at a time. */
  async #run(work: () => Promise<void>): Promise<void> {
    this.#isBusy = true
    try {
      await work()
    } catch (error) {
      this.#fail(error)
    }
    this.#free()
  }

  /** What was under way has ended, well or not. */
  #free(): void {
    this.#isBusy = false
    for (const resolve of this.#whenFree.splice(0)) resolve()
    if (this.#failure === null) this.#goOn()
    else this.#settle()
  }

  async #catchUp(): Promise<void> {
    this.#isBehind = false
    const position = { epoch: this.#epoch, seq: this.#durableTo }
    try {
      for await (const { epoch, foreign } of readLogSince(this.#parts.log, this.#parts.doc, position)) {
        await this.#takeInParts(epoch, foreign)
        if (this.#failure !== null) return
      }
    } catch (error) {
      // Nobody waits: the next look finds out again.
      if (!(error instanceof StoreUnavailableError) || this.#queue.length > 0) throw error
    }
  }

  /** Whatever others have appended meanwhile comes before it, and is taken over first. */
  async #appendQueue(): Promise<void> {
    const batch = firstOf(this.#queue)
    const to = this.#epoch ?? this.#made
    const outcome = await settleAppend(this.#append(to, batch))
    if (this.#failure !== null) return
    if (outcome.is === 'failed') {
      if (isFenced(outcome.error)) return recheckRights(batch.map(({ delivery }) => delivery))
      // Somebody else has made it.
      if (!isHeadConflict(outcome.error)) throw outcome.error
      this.#isBehind = true
      return
    }
    const { appended } = outcome
    if (appended.first <= this.#durableTo) throw new LogTruncatedError()
    this.#takeOverheard()
    if (this.#lacksBefore(appended)) await this.#fill(appended)
    if (this.#lacksBefore(appended))
      throw new StoreUnavailableError('the log does not have what was appended to it')
    if (this.#failure === null) this.#tell(appended, batch)
  }

  #lacksBefore({ first }: Appended): boolean {
    return this.#failure === null && first > this.#durableTo + 1
  }

  /** Takes over what is in the log before what has been appended. */
  async #fill(appended: Appended): Promise<void> {
    const position = { epoch: this.#epoch, seq: this.#durableTo }
    for await (const { epoch, foreign } of readLogSince(this.#parts.log, this.#parts.doc, position)) {
      const before = foreign.filter(({ is, seq }) => is === 'state' || seq < appended.first)
      await this.#takeInParts(epoch, before, (seq) => {
        this.#covered = Math.max(0, Math.min(seq, appended.last) - appended.first + 1)
      })
      if (this.#failure !== null || before.length < foreign.length) return
    }
  }

  async #append(
    to: AppendTo,
    batch: readonly Pick<QueuedAppend, 'delivery' | 'jobs'>[],
    expectHead?: number,
  ): Promise<Appended> {
    const updates = batch.flatMap(({ delivery }) => delivery.updates)
    const jobs = batch.flatMap((each) => each.jobs)
    const order = expectHead === undefined ? {} : { expectHead }
    return this.#parts.log.append(this.#parts.doc, to, updates, { jobs, ...order, ...fencing(updates) })
  }

  /** Those who asked are told the numbers that it has got; the members here get it, and other nodes. */
  #tell(appended: Appended, batch: readonly QueuedAppend[]): void {
    const shift = appended.first - 1 - this.#stored
    for (const { delivery, bytes } of batch) {
      this.#parts.listeners.durable(delivery)
      // Not before: who has no room for it must not be taken to have got it (`deliveredClocks`).
      this.#queue.shift()
      this.#parts.queued.remove(bytes)
      this.#stored += delivery.updates.length
    }
    this.#covered = 0
    this.#reached(appended)
    this.#asked.answer(this.#stored, shift)
    const updates = batch.flatMap(({ delivery }) => delivery.updates)
    this.#parts.listeners.appended({ ...appended, at: this.changed.at, updates })
  }

  #reached({ epoch, last }: Pick<Appended, 'epoch' | 'last'>): void {
    this.#epoch = epoch
    this.#position.found(epoch)
    this.#durableTo = Math.max(this.#durableTo, last)
  }

  #takeOverheard(): void {
    const next = this.#overheard.next({ epoch: this.#epoch, seq: this.#durableTo })
    if (next === 'behind') this.#isBehind = true
    else if (next !== null && this.#epoch !== null)
      this.#attempt(() => this.#takeUntilExpensive(next.epoch, next.foreign))
  }

  /** An update that needs a thread is read from the log: that may take its time. */
  #takeUntilExpensive(epoch: number, foreign: readonly RemoteAppend[]): void {
    for (const part of this.#parts.placing.split(foreign)) {
      if (this.#parts.placing.isExpensive(part)) {
        this.#isBehind = true
        return
      }
      this.#take(epoch, part)
      if (this.#failure !== null) return
    }
  }

  /** @param reaches called with the last number of each part before it is applied */
  async #takeInParts(
    epoch: number,
    foreign: readonly RemoteAppend[],
    reaches: (seq: number) => void = () => {},
  ): Promise<void> {
    if (this.#failure !== null) return
    for (const part of this.#parts.placing.split(foreign)) {
      if (this.#parts.placing.isExpensive(part)) await this.#parts.placing.place(part)
      if (this.#failure !== null) return
      reaches(part.at(-1)?.seq ?? 0)
      this.#take(epoch, part)
    }
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error)
    }
  }

  #take(epoch: number, foreign: readonly RemoteAppend[]): void {
    const last = foreign.at(-1)
    if (last === undefined) return
    this.#reached({ epoch, last: last.seq })
    if (this.#queue.length === 0) this.#position.noteChange(last.at, last.update.by)
    this.#parts.listeners.foreign(foreign)
  }

  #fail(error: unknown): void {
    if (this.#failure !== null) return
    this.#failure = { error }
    for (const { bytes } of this.#queue) this.#parts.queued.remove(bytes)
    this.#parts.listeners.failed(error)
    this.#asked.reject(error)
    this.#settle()
  }

  #settle(): void {
    if (this.#isSettled) for (const resolve of this.#whenSettled.splice(0)) resolve()
  }
}
