import {
  type Appended,
  AppendRejectedError,
  type AppendTo,
  type Job,
  type Key,
  type LoadedLog,
  StoreUnavailableError,
} from '../../engine/engine.ts'
import type { UpdateBroadcast } from '../room/broadcast.ts'
import { fencing, recheckRights } from '../room/write-rights.ts'
import { type Existence, LogPosition } from './log-position.ts'
import { isFenced } from './queued-append.ts'
import type { CommitLog } from './recorded-log.ts'

export interface CommitListeners {
  /** These updates are durable: now, and not earlier, they may be shown. Called in the order of commits. */
  durable(delivery: UpdateBroadcast): void
  /** The append was refused, or whether it was written is unknown. Called once. */
  failed(error: unknown): void
}

/** The one place where change leaves a room: updates go to the log, and to the members when the log has them. */
export interface Commits {
  readonly existence: Existence
  readonly epoch: number
  /** Number of the last update applied, durable or not, unless other nodes append something before it. */
  readonly head: number
  /** Time and user of the last update. */
  readonly changed: { readonly at: number; readonly by: string }
  /**
   * Resolves with the number of the last update once all that has been applied so far is durable and sent.
   * Rejects with what the log has thrown.
   */
  readonly durable: Promise<number>
  /**
   * Likewise; null where the log has at that number more than what has been applied so far, because other nodes have
   * appended before it: what was read or encoded now is no version of the document.
   */
  readonly exact: Promise<number | null>
  /** @param jobs to be enqueued with it */
  commit(delivery: UpdateBroadcast, at: number, jobs?: readonly Job[]): void
  /** Resolves when nothing is under way any more, well or not: an append that failed may have overtaken others. */
  settled(): Promise<void>
  /** What the members have been sent of `clocks`: less than what is applied while commits are under way. */
  deliveredClocks(clocks: ReadonlyMap<number, number>): Map<number, number>
}

interface Asked {
  readonly seq: number
  readonly resolve: (seq: number) => void
  readonly reject: (error: unknown) => void
}

/** A commit that is not durable. */
interface UndeliveredCommit {
  readonly delivery: UpdateBroadcast
  readonly jobs: readonly Job[] | undefined
  readonly to: AppendTo
  /** Number of the last update before it. */
  readonly expectHead: number
}

/** Refused appends are repeated at most this often in a row: a fence is rarely raised twice in that time. */
const repeatsMax = 20

/**
 * Commits of the only process that writes to the log. They overlap; the log keeps them in order.
 *
 * The log refuses an append when a fence of one of its senders was raised, and then also the appends behind it. Once all of
 * them have ended, the rights of their senders are read again and the appends are repeated in the same order. If a right
 * has ended, the commits fail: the document in memory contains the refused update, so it has to be loaded again.
 */
export class CommitLine implements Commits {
  readonly #log: Pick<CommitLog, 'append'>
  readonly #doc: Key
  readonly #listeners: CommitListeners
  readonly #position: LogPosition
  /** The oldest first. */
  readonly #undelivered: UndeliveredCommit[] = []
  #head: number
  /** Number of the last update up to which all are durable. */
  #durableTo: number
  #failure: { readonly error: unknown } | null = null
  #inFlight = 0
  /** True from the refusal of an append until the appends are repeated. */
  #isFenced = false
  #repeats = 0
  /** Those who wait until something is durable; a promise for each commit would be one of its larger costs. */
  #asked: Asked[] = []
  #whenSettled: (() => void)[] = []

  constructor(log: Pick<CommitLog, 'append'>, doc: Key, loaded: LoadedLog, listeners: CommitListeners) {
    this.#log = log
    this.#doc = doc
    this.#listeners = listeners
    this.#position = new LogPosition(loaded)
    this.#head = loaded.state === 'live' ? loaded.head : 0
    this.#durableTo = this.#head
  }

  get existence(): Existence {
    return this.#position.existence
  }

  get epoch(): number {
    return this.#position.epoch
  }

  get head(): number {
    return this.#head
  }

  get changed(): { readonly at: number; readonly by: string } {
    return this.#position.changed
  }

  get durable(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure.error)
      else if (this.#isSettled) resolve(this.#head)
      else this.#asked.push({ seq: this.#head, resolve, reject })
    })
  }

  get exact(): Promise<number | null> {
    return this.durable
  }

  commit(delivery: UpdateBroadcast, at: number, jobs?: readonly Job[]): void {
    const { updates } = delivery
    this.#position.noteChange(at, updates.at(-1)?.by ?? '')
    // What somebody else has appended is not in this copy of the document, and must not go on without it.
    const commit = { delivery, jobs, to: this.#position.target(), expectHead: this.#head }
    this.#undelivered.push(commit)
    this.#head += updates.length
    // It must not get in before an append that is going to be repeated.
    if (!this.#isFenced) this.#append(commit)
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isSettled) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  deliveredClocks(clocks: ReadonlyMap<number, number>): Map<number, number> {
    const undelivered = this.#undelivered.map(({ delivery }) => delivery)
    return clocksBefore(clocks, undelivered)
  }

  get #isSettled(): boolean {
    return this.#inFlight === 0 && (!this.#isFenced || this.#failure !== null)
  }

  #append({ delivery: { updates }, jobs, to, expectHead }: UndeliveredCommit): void {
    this.#inFlight += 1
    try {
      const options = { expectHead, ...(jobs !== undefined && { jobs }), ...fencing(updates) }
      this.#log.append(this.#doc, to, updates, options).then(this.#appended, this.#refused)
    } catch (error) {
      // A right has ended that was valid when the update was applied.
      queueMicrotask(() => this.#refused(error))
    }
  }

  readonly #appended = ({ first, last }: Appended): void => {
    // What comes after an append that failed is not shown either: it would be shown without it.
    if (this.#failure === null) {
      try {
        this.#listeners.durable((this.#undelivered[0] as UndeliveredCommit).delivery)
        // Not before: who has no room for it must not be taken to have got it (`deliveredClocks`).
        this.#undelivered.shift()
      } catch (error) {
        return this.#fail(error)
      }
    }
    if (first === this.#durableTo + 1) this.#answer(last)
    this.#repeats = 0
    this.#ended()
  }

  readonly #refused = (error: unknown): void => {
    // Appends behind a fenced one are refused because it was not written.
    if (isFenced(error) || (this.#isFenced && error instanceof AppendRejectedError)) this.#isFenced = true
    else this.#setFailure(error)
    this.#ended()
  }

  readonly #fail = (error: unknown): void => {
    this.#setFailure(error)
    this.#ended()
  }

  #setFailure(error: unknown): void {
    if (this.#failure !== null) return
    this.#failure = { error }
    this.#listeners.failed(error)
  }

  /** An append has ended. */
  #ended(): void {
    this.#inFlight -= 1
    if (this.#inFlight > 0) return
    if (this.#isFenced && this.#failure === null) void this.#repeat()
    else this.#settle()
  }

  async #repeat(): Promise<void> {
    try {
      this.#repeats += 1
      if (this.#repeats > repeatsMax) throw new StoreUnavailableError('rights change too often')
      await recheckRights(this.#undelivered.map(({ delivery }) => delivery))
    } catch (error) {
      this.#setFailure(error)
      return this.#settle()
    }
    this.#isFenced = false
    for (const commit of this.#undelivered) this.#append(commit)
  }

  /** Those who asked for less than `last` are told, although something that came later has failed. */
  #answer(last: number): void {
    this.#durableTo = last
    while (this.#asked.length > 0 && (this.#asked[0] as Asked).seq <= last) this.#asked.shift()?.resolve(last)
  }

  #settle(): void {
    if (this.#failure !== null) for (const { reject } of this.#asked.splice(0)) reject(this.#failure.error)
    for (const resolve of this.#whenSettled.splice(0)) resolve()
  }
}

/** `clocks` without what is in deliveries that nobody has got. */
export function clocksBefore(
  clocks: ReadonlyMap<number, number>,
  undelivered: readonly UpdateBroadcast[],
): Map<number, number> {
  const delivered = new Map(clocks)
  for (const { updates } of undelivered) {
    for (const { summary } of updates) {
      for (const { client, from } of summary.clients) {
        if (from < (delivered.get(client) ?? 0)) delivered.set(client, from)
      }
    }
  }
  return delivered
}
