import type { Clock } from '../clock.ts'
import type { ClaimedJob, Queue } from '../engine/engine.ts'
import { errorMessage } from '../errors.ts'
import type { Log } from '../log.ts'
import { ClaimLoop } from './claim-loop.ts'
import { moveIfMalformed } from './job-payload.ts'

/** A job of a process that has died is taken up by the next one after this; it is extended while one is carried out. */
const leaseMs = 10_000
/** How often jobs are looked for that nobody has told of, such as those of a process that has died. */
const usualPollMs = 5_000
/** A job that has failed is tried again after this, and then after twice as long each time. */
const retryMs = 1_000
const retryMsMax = 60_000

/** What is to become of a job that has been carried out. */
export type JobDisposition =
  | 'done'
  /** It is due again after so many milliseconds. */
  | { readonly againAfterMs: number }

export interface JobConsumerOptions {
  readonly queue: Queue
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  readonly pollMs?: number
  /** Jobs that are claimed at the same time. */
  readonly atOnce: number
  /** A job may come more than once. @param hold reports whether the job is still ours; if it is not, the work must end */
  readonly carryOut: (job: ClaimedJob, hold: HeldLease) => Promise<JobDisposition>
}

/** The lease of a job, which is extended all the while. */
export interface HeldLease {
  /** False when another may have the job by now. */
  readonly isHeld: () => boolean
}

/** Claims the jobs of a queue, and carries out some at the same time. */
export class JobConsumer {
  readonly #options: JobConsumerOptions
  readonly #running = new Map<string, Promise<void>>()
  readonly #claims: ClaimLoop
  /** The last claim left due jobs that there was no place for. */
  #hasLeft = false

  constructor(options: JobConsumerOptions) {
    this.#options = options
    this.#claims = new ClaimLoop({
      clock: options.clock,
      pollMs: options.pollMs ?? usualPollMs,
      claim: () => this.#claim(),
      failed: (err) => options.log.warn({ err, queue: options.name }, 'could not claim jobs; retrying'),
    })
  }

  /** Begins to look for jobs, also those that a crash has left. */
  start(): void {
    this.#claims.start()
  }

  /** Resolves when what is being carried out has ended; nothing new is begun. */
  async stop(): Promise<void> {
    await this.#claims.stop()
    await Promise.all(this.#running.values())
  }

  /** Looks for jobs now. */
  wake(): void {
    this.#claims.wake()
  }

  /** Resolves when what is due now has been carried out, or has failed. */
  async drain(): Promise<void> {
    this.wake()
    await this.#claims.settled()
    while (this.#hasLeft && this.#running.size > 0) {
      await Promise.race(this.#running.values())
      await this.#claims.settled()
    }
    await Promise.all(this.#running.values())
  }

  async #claim(): Promise<void> {
    const { queue, name, atOnce, clock } = this.#options
    const free = atOnce - this.#running.size
    this.#hasLeft = free === 0
    if (free === 0) return
    // The time before the request: no other process can have the job before its lease ends.
    const claimedAt = clock.now()
    const jobs = await queue.claim(name, free, leaseMs)
    this.#hasLeft = jobs.length === free
    for (const job of jobs) this.#begin(job, claimedAt)
  }

  #begin(job: ClaimedJob, claimedAt: number): void {
    // Where its lease has ended though it goes on, it is begun again when it has really ended.
    const before = this.#running.get(job.id) ?? Promise.resolve()
    const running = before
      .then(() => this.#carryOut(job, claimedAt))
      .finally(() => {
        if (this.#running.get(job.id) === running) this.#running.delete(job.id)
        this.wake()
      })
    this.#running.set(job.id, running)
  }

  async #carryOut(job: ClaimedJob, claimedAt: number): Promise<void> {
    const { queue, name, log, carryOut } = this.#options
    const lease = this.#keep(job, claimedAt)
    try {
      const then = await carryOut(job, lease)
      if (then === 'done') await queue.done(job.token)
      else await this.#again(job, then.againAfterMs)
    } catch (err) {
      if (await moveIfMalformed(this.#options, job, err)) return
      log.warn({ err, queue: name, attempt: job.attempt }, 'a job failed; retrying')
      const delayMs = Math.min(retryMs * 2 ** (job.attempt - 1), retryMsMax)
      // Without this it is due at the end of its lease.
      await queue.retry(job.token, delayMs, errorMessage(err)).catch(() => {})
    } finally {
      lease.release()
    }
  }

  async #again({ token }: ClaimedJob, delayMs: number): Promise<void> {
    const { queue, clock, pollMs = usualPollMs } = this.#options
    await queue.retry(token, delayMs, '')
    // Whoever waits less than that would wait for the next look otherwise.
    if (delayMs > 0 && delayMs < pollMs) clock.after(delayMs, () => this.wake())
  }

  /** Extends the lease until it is released, or has ended all the same. What fails is tried again while it lasts. */
  #keep({ token }: ClaimedJob, claimedAt: number): HeldLease & { readonly release: () => void } {
    const { queue, clock, log } = this.#options
    let until = claimedAt + leaseMs
    let cancel = (): void => {}
    const later = (): void => {
      cancel = clock.after(leaseMs / 3, () => void extend())
    }
    const extend = async (): Promise<void> => {
      const asked = clock.now()
      try {
        until = (await queue.extend(token, leaseMs)) ? asked + leaseMs : 0
      } catch (err) {
        log.warn({ err }, 'could not extend a lease; retrying')
      }
      if (clock.now() < until) later()
    }
    later()
    return {
      isHeld: () => clock.now() < until,
      release: () => {
        until = 0
        cancel()
      },
    }
  }
}
