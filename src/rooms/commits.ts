import type { Appended, DocumentLog, Job, Key, LoadedLog } from '../engine/engine.ts'
import type { Delivery } from './delivery.ts'
import { type Existence, LogPosition } from './log-position.ts'

export interface CommitListeners {
  /** These updates are durable: now, and not earlier, they may be shown. Called in the order of commits. */
  durable(delivery: Delivery): void
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
  commit(delivery: Delivery, at: number, jobs?: readonly Job[]): void
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

/** Commits of the only process that writes to the log. They overlap; the log keeps them in order. */
export class CommitLine implements Commits {
  readonly #log: DocumentLog
  readonly #doc: Key
  readonly #listeners: CommitListeners
  readonly #position: LogPosition
  /** On their way, the oldest first. */
  readonly #undelivered: Delivery[] = []
  #head: number
  /** Number of the last update up to which all are durable. */
  #durableTo: number
  #failure: { readonly error: unknown } | null = null
  #inFlight = 0
  /** Those who wait until something is durable; a promise for each commit would be one of its larger costs. */
  #asked: Asked[] = []
  #whenSettled: (() => void)[] = []

  constructor(log: DocumentLog, doc: Key, loaded: LoadedLog, listeners: CommitListeners) {
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
      else if (this.#inFlight === 0) resolve(this.#head)
      else this.#asked.push({ seq: this.#head, resolve, reject })
    })
  }

  get exact(): Promise<number | null> {
    return this.durable
  }

  commit(delivery: Delivery, at: number, jobs?: readonly Job[]): void {
    const { updates } = delivery
    this.#undelivered.push(delivery)
    this.#position.noteChange(at, updates.at(-1)?.by ?? '')
    // What somebody else has appended is not in this copy of the document, and must not go on without it.
    const expectHead = this.#head
    this.#head += updates.length
    this.#inFlight += 1
    this.#log
      .append(
        this.#doc,
        this.#position.target(),
        updates,
        jobs === undefined ? { expectHead } : { expectHead, jobs },
      )
      .then(this.#appended, this.#fail)
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#inFlight === 0) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  deliveredClocks(clocks: ReadonlyMap<number, number>): Map<number, number> {
    return clocksWithout(clocks, this.#undelivered)
  }

  readonly #appended = ({ first, last }: Appended): void => {
    // What comes after an append that failed is not shown either: it would be shown without it.
    if (this.#failure === null) {
      try {
        this.#listeners.durable(this.#undelivered[0] as Delivery)
        // Not before: who has no room for it must not be taken to have got it (`deliveredClocks`).
        this.#undelivered.shift()
      } catch (error) {
        return this.#fail(error)
      }
    }
    if (first === this.#durableTo + 1) this.#answer(last)
    this.#settle()
  }

  readonly #fail = (error: unknown): void => {
    if (this.#failure === null) {
      this.#failure = { error }
      this.#listeners.failed(error)
    }
    this.#settle()
  }

  /** Those who asked for less than `last` are told, although something that came later has failed. */
  #answer(last: number): void {
    this.#durableTo = last
    while (this.#asked.length > 0 && (this.#asked[0] as Asked).seq <= last) this.#asked.shift()?.resolve(last)
  }

  #settle(): void {
    this.#inFlight -= 1
    if (this.#inFlight > 0) return
    if (this.#failure !== null) for (const { reject } of this.#asked.splice(0)) reject(this.#failure.error)
    for (const resolve of this.#whenSettled.splice(0)) resolve()
  }
}

/** `clocks` without what is in deliveries that nobody has got. */
export function clocksWithout(
  clocks: ReadonlyMap<number, number>,
  undelivered: readonly Delivery[],
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
