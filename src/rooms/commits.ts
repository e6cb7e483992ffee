import type { Appended, AppendTo, DocumentLog, Job, Key, LoadedLog } from '../engine/engine.ts'
import type { Delivery } from './delivery.ts'

/** Has the document any content? `deleted` ones come back only by an explicit wish. */
export type Existence = 'absent' | 'deleted' | 'live'

export interface CommitListeners {
  /** These updates are durable: now, and not earlier, they may be shown. Called in the order of commits. */
  durable(delivery: Delivery): void
  /** The append was refused, or whether it was written is unknown. Called once. */
  failed(error: unknown): void
}

interface Asked {
  readonly seq: number
  readonly resolve: (seq: number) => void
  readonly reject: (error: unknown) => void
}

/**
 * The one place where change leaves a room: updates go to the log, and to the members when the log has them.
 * Commits overlap; the log keeps them in order.
 */
export class CommitLine {
  readonly #log: DocumentLog
  readonly #doc: Key
  readonly #listeners: CommitListeners
  /** On their way, the oldest first. */
  readonly #undelivered: Delivery[] = []
  #existence: Existence
  #epoch: number
  #changedAt: number
  #changedBy: string
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
    this.#existence = loaded.state
    this.#epoch = loaded.state === 'absent' ? 0 : loaded.epoch
    this.#changedAt = loaded.state === 'live' ? loaded.changed.at : 0
    this.#changedBy = loaded.state === 'live' ? loaded.changed.by : ''
    this.#head = loaded.state === 'live' ? loaded.head : 0
    this.#durableTo = this.#head
  }

  get existence(): Existence {
    return this.#existence
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Number of the last update applied, durable or not: the log numbers without gaps. */
  get head(): number {
    return this.#head
  }

  /** Time and user of the last update. */
  get changed(): { readonly at: number; readonly by: string } {
    return { at: this.#changedAt, by: this.#changedBy }
  }

  /**
   * Resolves with the number of the last update once all that has been applied so far is durable and sent.
   * Rejects with what the log has thrown.
   */
  get durable(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure.error)
      else if (this.#inFlight === 0) resolve(this.#head)
      else this.#asked.push({ seq: this.#head, resolve, reject })
    })
  }

  /** @param jobs to be enqueued with it */
  commit(delivery: Delivery, at: number, jobs?: readonly Job[]): void {
    const { updates } = delivery
    this.#undelivered.push(delivery)
    this.#changedAt = at
    this.#changedBy = updates.at(-1)?.by ?? ''
    // What somebody else has appended is not in this copy of the document, and must not go on without it.
    const expectHead = this.#head
    this.#head += updates.length
    this.#inFlight += 1
    this.#log
      .append(this.#doc, this.#target(), updates, jobs === undefined ? { expectHead } : { expectHead, jobs })
      .then(this.#appended, this.#fail)
  }

  /** Resolves when every append has ended, well or not: one that failed may have overtaken others. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#inFlight === 0) resolve()
      else this.#whenSettled.push(resolve)
    })
  }

  /** What the members have been sent of `clocks`: less than what is applied while commits are under way. */
  deliveredClocks(clocks: ReadonlyMap<number, number>): Map<number, number> {
    const delivered = new Map(clocks)
    for (const { updates } of this.#undelivered) {
      for (const { summary } of updates) {
        for (const { client, from } of summary.clients) {
          if (from < (delivered.get(client) ?? 0)) delivered.set(client, from)
        }
      }
    }
    return delivered
  }

  /** A new log starts one epoch after the last; appends that follow before it is durable already name it. */
  #target(): AppendTo {
    if (this.#existence === 'live') return this.#epoch
    const to = this.#existence === 'absent' ? 'create' : 'recreate'
    this.#existence = 'live'
    this.#epoch += 1
    return to
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
