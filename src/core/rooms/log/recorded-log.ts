import type { Appended, AppendOptions, AppendTo, DocumentLog, Key, LogUpdate } from '../../store/engine.ts'

/** The part of a log that the commits of one room use. */
export type CommitLog = Pick<DocumentLog, 'append'>

/**
 * The log of one document, which first stores the record of the document. The append that creates the log
 * waits until the record is stored, and so do the appends that follow it.
 */
export class RecordedLog implements CommitLog {
  readonly #log: CommitLog
  /** Stores the record of the document. If this fails, nothing is appended. */
  readonly #record: () => Promise<void>
  /** Counts the updates that wait for the record. */
  readonly #waiting: AppendBacklog
  #recorded: Promise<void> = Promise.resolve()
  /** Number of appends in progress that wait for the record or have waited for it. */
  #underWay = 0

  constructor(log: CommitLog, record: () => Promise<void>, waiting: AppendBacklog) {
    this.#log = log
    this.#record = record
    this.#waiting = waiting
  }

  append(doc: Key, to: AppendTo, updates: readonly LogUpdate[], options?: AppendOptions): Promise<Appended> {
    const append = (): Promise<Appended> => this.#log.append(doc, to, updates, options)
    if (typeof to !== 'number') this.#recorded = this.#record()
    // While an append that waited for the record is in progress, later appends also wait, so that calls and
    // results keep their order.
    else if (this.#underWay === 0) return append()
    return this.#appendRecorded(append, updates)
  }

  async #appendRecorded(append: () => Promise<Appended>, updates: readonly LogUpdate[]): Promise<Appended> {
    const bytes = updates.reduce((sum, update) => sum + update.bytes.length, 0)
    this.#underWay += 1
    try {
      this.#waiting.add(bytes)
      await this.#recorded.finally(() => this.#waiting.remove(bytes))
      return await append()
    } finally {
      this.#underWay -= 1
    }
  }
}

/**
 * Maximum bytes of updates, of all documents together, that wait to be appended. If more bytes wait, the
 * store is too slow.
 */
const queuedBytesMax = 67_108_864

/** Counts the bytes of updates that wait, and compares them with a maximum. */
export class AppendBacklog {
  #bytes = 0
  readonly #max: number

  constructor(max = queuedBytesMax) {
    this.#max = max
  }

  get bytes(): number {
    return this.#bytes
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
