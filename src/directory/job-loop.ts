import type { Clock } from '../clock.ts'
import type { ClaimedJob, Queue } from '../engine/engine.ts'
import { errorMessage } from '../errors.ts'
import type { Log } from '../log.ts'

/** A job of a process that has died is taken up by the next one after this. */
const leaseMs = 10_000
/** How often jobs are looked for that nobody has told of: those that have become due, or of a process that has died. */
const pollMs = 5_000
/** A job that has failed is tried again after this, and then after twice as long each time. */
const retryMs = 1_000
const retryMsMax = 60_000

export interface JobLoopOptions {
  readonly queue: Queue
  /** Name of the queue. */
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  /** Jobs that are carried out at the same time. */
  readonly atOnceMax: number
  /** A job may come more than once. @param attempt how often it has come, this time included */
  readonly carryOut: (payload: Uint8Array, attempt: number) => Promise<void>
}

/** Carries out the short jobs of one queue in the background, until all that are due are done. */
export class JobLoop {
  readonly #options: JobLoopOptions
  #running: Promise<void> | null = null
  #again = false
  #stopped = false
  #cancelPoll: () => void = () => {}

  constructor(options: JobLoopOptions) {
    this.#options = options
  }

  /** Begins, also with what a crash has left. */
  start(): void {
    this.wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.start())
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#stopped) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Resolves when what is due now has been carried out, or has failed. */
  async drain(): Promise<void> {
    this.wake()
    await this.#running
  }

  /** Resolves when nothing is under way any more; what is left is done at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelPoll()
    await this.#running
  }

  /** Whoever wakes it sees it under way until it has looked for the last time. */
  async #run(): Promise<void> {
    const { queue, name, log, atOnceMax } = this.#options
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false
        const jobs = await queue.claim(name, atOnceMax, leaseMs)
        if (jobs.length > 0) this.#again = true
        await Promise.all(jobs.map((job) => this.#carryOut(job)))
      }
    } catch (err) {
      log.warn({ err, queue: name }, 'jobs cannot be claimed; it is tried again')
    }
    this.#running = null
  }

  async #carryOut({ payload, token, attempt }: ClaimedJob): Promise<void> {
    const { queue, name, log, carryOut } = this.#options
    try {
      await carryOut(payload, attempt)
      await queue.done(token)
    } catch (err) {
      log.warn({ err, queue: name, attempt }, 'a job failed; it is tried again')
      // Without this it is due at the end of its lease.
      const delayMs = Math.min(retryMs * 2 ** (attempt - 1), retryMsMax)
      await queue.retry(token, delayMs, errorMessage(err)).catch(() => {})
    }
  }
}
