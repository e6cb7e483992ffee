import { setImmediate as nextTick } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import { runUntraced } from '../../base/current-trace.ts'
import type { Log } from '../../base/log.ts'
import { mapInSlices } from '../../directory/store/batch.ts'
import {
  CorruptRecordError,
  type DocumentLog,
  type Engine,
  type Key,
  type LogHead,
  StoreUnavailableError,
} from '../../store/engine.ts'
import { keyName } from '../../store/key-encoding.ts'
import { documentKeyPages } from '../../store/pages.ts'
import { bulkyEntriesMin } from './compaction-policy.ts'

/**
 * Maximum number of documents that wait for compaction. Further documents are found at the next start of the
 * process.
 */
const waitingMax = 100_000
/**
 * The speed of the search for logs after a start. `listed`: number of logs in one list. `together`: number of
 * heads that are read at the same time. `pauseMs`: pause before each such group. The search takes four hours
 * for 300,000 logs, and little CPU time. If it were five times as fast, the memory of an idle server would
 * grow by 50 MB.
 */
const walked = { listed: 250, together: 5, pauseMs: 250 }
/**
 * Pause after each log, as a multiple of the time that its compaction took. With this value, compaction is
 * running at most a quarter of the time, even if many logs are due.
 */
export const idleFactor = 3
/** Minimum milliseconds between the last call of `note` for a log and its compaction. */
const waitMsMin = 1_000

interface WaitingLog {
  readonly doc: Key
  readonly at: number
}

/**
 * Compacts the log of each document to one snapshot when the older versions in it are no longer needed. It
 * does this in the background, one log at a time. At the next start, it searches for the logs that a shutdown
 * or a crash has left uncompacted.
 */
export class BackgroundCompaction {
  readonly #log: DocumentLog
  readonly #clock: Clock
  readonly #logger: Log
  /**
   * Compacts a log to one snapshot. Resolves with `later` if that is not possible yet, because older versions
   * must be kept or the document is being opened.
   */
  readonly #finish: (doc: Key) => Promise<'done' | 'later'>
  readonly #waitMs: number
  /** Logs that wait for compaction, by key, in the order of their times. */
  readonly #waiting = new Map<string, WaitingLog>()
  readonly #pauses = new Set<() => void>()
  readonly #walking: Promise<void>
  #running: Promise<void> | null = null
  #stopped = false

  /** @param keepVersionsMs milliseconds for which older versions of a document are kept */
  constructor(
    log: DocumentLog,
    clock: Clock,
    logger: Log,
    keepVersionsMs: number,
    finish: (doc: Key) => Promise<'done' | 'later'>,
  ) {
    this.#log = log
    this.#clock = clock
    this.#logger = logger
    this.#finish = finish
    this.#waitMs = Math.max(waitMsMin, keepVersionsMs)
    this.#walking = this.#walk()
  }

  /** Schedules the compaction of a log. Call it when a compaction would make the log smaller. */
  note(doc: Key): void {
    const name = keyName(doc)
    this.#waiting.delete(name)
    if (this.#stopped || this.#waiting.size >= waitingMax) return
    this.#waiting.set(name, { doc, at: this.#clock.now() + this.#waitMs })
    // One run compacts the logs of all tenants, so it belongs to the trace of none.
    this.#running ??= runUntraced(() => this.#run()).finally(() => {
      this.#running = null
    })
  }

  /** Stops the compaction, and resolves when no work is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const end of this.#pauses) end()
    await Promise.all([this.#running, this.#walking])
  }

  async #run(): Promise<void> {
    for (;;) {
      const [first] = this.#waiting
      if (first === undefined || this.#stopped) return
      const [name, { doc, at }] = first
      const leftMs = at - this.#clock.now()
      if (leftMs > 0) {
        await this.#pause(leftMs)
      } else {
        this.#waiting.delete(name)
        const begunAt = this.#clock.now()
        await this.#compact(doc)
        await this.#rest(idleFactor * (this.#clock.now() - begunAt))
      }
    }
  }

  async #rest(ms: number): Promise<void> {
    if (ms > 0 && !this.#stopped) await this.#pause(ms)
    else await nextTick()
  }

  async #compact(doc: Key): Promise<void> {
    try {
      if ((await this.#finish(doc)) === 'later') this.note(doc)
    } catch (err) {
      // The damage is reported when the document is opened.
      if (err instanceof CorruptRecordError) return
      if (err instanceof StoreUnavailableError) this.note(doc)
      else this.#logger.warn({ err }, 'could not compact the log of a document')
    }
  }

  /** Searches for logs that an earlier process has left uncompacted, and schedules them. */
  async #walk(): Promise<void> {
    try {
      for await (const docs of documentKeyPages(this.#log, [], walked.listed)) {
        for (let from = 0; from < docs.length; from += walked.together) {
          await this.#pause(walked.pauseMs)
          if (this.#stopped) return
          await this.#look(docs.slice(from, from + walked.together))
        }
        if (this.#stopped) return
      }
    } catch (err) {
      if (!this.#stopped)
        this.#logger.warn({ err }, 'could not search for logs to compact; the next start searches again')
    }
  }

  /**
   * Schedules those logs that can be compacted. If the heads cannot be read together, reads each one alone. Then an
   * error is ignored, because damage is reported when the document is opened.
   */
  async #look(docs: readonly Key[]): Promise<void> {
    const heads = await this.#log.heads(docs).catch(() => null)
    if (heads === null && docs.length > 1)
      return void (await Promise.all(docs.map((doc) => this.#look([doc]))))
    for (const [index, head] of heads?.entries() ?? [])
      if (head !== null && isCompactable(head)) this.note(docs[index] as Key)
  }

  /** Resolves after `ms` milliseconds, or earlier if `stop` is called. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#pauses.delete(end)
        resolve()
      }
      const cancel = this.#clock.after(ms, end)
      this.#pauses.add(end)
    })
  }
}

const isCompactable = ({ head, base, oldest }: LogHead): boolean =>
  base > oldest || head - base >= bulkyEntriesMin

/**
 * Maximum milliseconds by which compaction delays a shutdown. It is done at the shutdown to make the next
 * start faster.
 */
const leavingMs = 1_000

/** A room that is about to be closed. */
interface ClosingRoom {
  compact(when: 'leaving', isWanted: () => boolean): Promise<void>
}

/**
 * Compacts the logs of rooms that are about to be closed, for at most `leavingMs`. The logs that are not
 * reached in this time stay complete. Never throws.
 */
export async function compactAtShutdown(
  rooms: readonly ClosingRoom[],
  engine: Engine,
  clock: Clock,
): Promise<void> {
  const end = clock.now() + leavingMs
  const isWanted = (): boolean => engine.health().ok && clock.now() < end
  await mapInSlices(rooms, async (room) => {
    if (isWanted()) await room.compact('leaving', isWanted)
  })
}
