import { pauseAfter } from '../base/backoff.ts'
import type { Clock } from '../base/clock.ts'
import { errorMessage } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { addTo } from '../base/maps.ts'
import type { ClaimedJob, Queue } from '../store/engine.ts'
import { RenewedLease } from '../store/renewed-lease.ts'
import { ClaimLoop } from './claim-loop.ts'
import { moveIfMalformed } from './job-payload.ts'

/**
 * Duration of the lease of a job, in ms. The lease is renewed while the job runs. If the process dies,
 * another process can claim the job after this time.
 */
const leaseMs = 10_000
/**
 * Default interval in ms at which the consumer claims without a notice. Such claims find, for example, the
 * jobs of a process that has died.
 */
const usualPollMs = 5_000
/** Pauses before a failed job runs again. */
const retryPauses = { firstMs: 1_000, maxMs: 60_000, jitter: 0 }

/** The step that follows the run of a job. `done`: the job is removed. */
export type JobDisposition =
  | 'done'
  /** The job becomes due again after this time in ms. */
  | { readonly againAfterMs: number }

export interface JobConsumerOptions {
  readonly queue: Queue
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  readonly pollMs?: number
  /** Maximum number of jobs that are claimed and that run at the same time. */
  readonly atOnce: number
  /**
   * Runs a job. The same job may be run more than once.
   * @param lease the lease of the job; the work must end when the lease is no longer held
   */
  readonly carryOut: (job: ClaimedJob, lease: HeldLease) => Promise<JobDisposition>
  /** Runs jobs that were claimed together in groups. Undefined: each job runs separately. */
  readonly groups?: JobGroups
}

/**
 * Time in ms for which a consumer with groups waits after a notice before it claims, so that the jobs of many
 * documents form one group.
 */
const gatherMs = 100

/** Runs several jobs at a lower cost than separately. */
interface JobGroups {
  /** Returns the name of the group of a job. @throws any error: then the job runs separately */
  nameOf(job: ClaimedJob): string
  /**
   * Runs jobs of one group. If it throws, each job runs separately, so that one job does not stop the others.
   * Part of the work may already be stored then.
   */
  carryOut(jobs: readonly ClaimedJob[]): Promise<void>
}

/** The lease of a running job. It is renewed until the job ends. */
export interface HeldLease {
  /** False if the lease may have ended, so that another process may have the job. */
  readonly isHeld: boolean
}

/** Claims the jobs of a queue. Runs several of them in parallel. */
export class JobConsumer {
  readonly #options: JobConsumerOptions
  readonly #running = new Map<string, Promise<void>>()
  readonly #claims: ClaimLoop
  /** True if due jobs may remain after the last claim, because all slots were in use. */
  #hasMoreDue = false
  /** Timer of a claim that gathers jobs. It is not a timer of the clock, because no rule depends on it. */
  #gathering: NodeJS.Timeout | null = null

  constructor(options: JobConsumerOptions) {
    this.#options = options
    this.#claims = new ClaimLoop(
      options.clock,
      options.pollMs ?? usualPollMs,
      () => this.#claim(),
      (err) => options.log.warn({ err, queue: options.name }, 'could not claim jobs; retrying'),
    )
  }

  /** Starts to claim jobs. This includes jobs that remained after a crash. */
  start(): void {
    this.#claims.start()
  }

  /** Stops claiming, after a last claim of gathered jobs. Resolves when the running jobs have ended. */
  async stop(): Promise<void> {
    if (this.#gathering !== null) {
      clearTimeout(this.#gathering)
      this.#claims.wake()
    }
    await this.#claims.stop()
    await Promise.all(this.#running.values())
  }

  /** Claims jobs immediately, or after `gatherMs` if they run in groups. */
  wake(): void {
    if (this.#options.groups === undefined || this.#hasMoreDue) return this.#claims.wake()
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null
      this.#claims.wake()
    }, gatherMs)
  }

  /** Resolves when all jobs that are due now have ended, whether they succeeded or failed. */
  async drain(): Promise<void> {
    this.#claims.wake()
    await this.#claims.settled()
    while (this.#hasMoreDue && this.#running.size > 0) {
      await Promise.race(this.#running.values())
      await this.#claims.settled()
    }
    await Promise.all(this.#running.values())
  }

  async #claim(): Promise<void> {
    const { queue, name, atOnce, clock } = this.#options
    const free = atOnce - this.#running.size
    this.#hasMoreDue = free === 0
    if (free === 0) return
    // Reads the clock before the request. The lease starts later, so no other process can claim the job
    // before `claimedAt + leaseMs`.
    const claimedAt = clock.now()
    const jobs = await queue.claim(name, free, leaseMs)
    this.#hasMoreDue = jobs.length === free
    for (const group of this.#grouped(jobs)) this.#begin(group, claimedAt)
  }

  #grouped(jobs: readonly ClaimedJob[]): Iterable<readonly ClaimedJob[]> {
    const { groups } = this.#options
    if (groups === undefined || jobs.length < 2) return jobs.map((job) => [job])
    const byName = new Map<string, ClaimedJob[]>()
    const separate: (readonly ClaimedJob[])[] = []
    for (const job of jobs) {
      // A group does not wait for a previous run of one of its jobs.
      if (this.#running.has(job.id)) {
        separate.push([job])
        continue
      }
      try {
        addTo(byName, groups.nameOf(job), job)
      } catch {
        separate.push([job])
      }
    }
    return [...byName.values(), ...separate]
  }

  #begin(jobs: readonly ClaimedJob[], claimedAt: number): void {
    // A previous run of the same job may still be in progress, because its lease ended and the job was
    // claimed again. The new run waits until the previous run has ended.
    const before = Promise.all(jobs.flatMap(({ id }) => this.#running.get(id) ?? []))
    const running = before
      .then(() => this.#carryOutAll(jobs, claimedAt))
      .finally(() => {
        for (const { id } of jobs) if (this.#running.get(id) === running) this.#running.delete(id)
        this.wake()
      })
    for (const { id } of jobs) this.#running.set(id, running)
  }

  async #carryOutAll(jobs: readonly ClaimedJob[], claimedAt: number): Promise<void> {
    const leases = jobs.map((job) => this.#hold(job, claimedAt))
    try {
      if (jobs.length > 1 && (await this.#carryOutTogether(jobs))) return
      // It may be unknown whether the group was stored, so each job runs as in its next attempt.
      const next = jobs.length > 1 ? 1 : 0
      await Promise.all(
        jobs.map((job, index) =>
          this.#carryOut({ ...job, attempt: job.attempt + next }, leases[index] as HeldLease),
        ),
      )
    } finally {
      // Does not wait, because a renewal that is in progress has no effect any more.
      for (const lease of leases) void lease.release()
    }
  }

  /** Runs a group of jobs and ends them. Returns false if each job must run separately. */
  async #carryOutTogether(jobs: readonly ClaimedJob[]): Promise<boolean> {
    const { groups, log, name } = this.#options
    try {
      await groups?.carryOut(jobs)
    } catch (err) {
      log.debug({ err, queue: name }, 'a group of jobs failed; running each job separately')
      return false
    }
    await Promise.all(jobs.map((job) => this.#end(job)))
    return true
  }

  /** Ends a job that has run. If this fails, the job runs again. */
  #end({ token, attempt }: ClaimedJob): Promise<unknown> {
    const { queue, name, log } = this.#options
    return queue.done(token).catch((err: unknown) => {
      log.warn({ err, queue: name, attempt }, 'a job failed; retrying')
      return queue.retry(token, pauseAfter(retryPauses, attempt), errorMessage(err)).catch(() => {})
    })
  }

  async #carryOut(job: ClaimedJob, lease: HeldLease): Promise<void> {
    const { queue, name, log, carryOut } = this.#options
    try {
      const then = await carryOut(job, lease)
      if (then === 'done') await queue.done(job.token)
      else await this.#again(job, then.againAfterMs)
    } catch (err) {
      if (await moveIfMalformed(this.#options, job, err)) return
      log.warn({ err, queue: name, attempt: job.attempt }, 'a job failed; retrying')
      // If this call fails, the job becomes due again at the end of its lease.
      await queue.retry(job.token, pauseAfter(retryPauses, job.attempt), errorMessage(err)).catch(() => {})
    }
  }

  async #again({ token }: ClaimedJob, delayMs: number): Promise<void> {
    const { queue, clock, pollMs = usualPollMs } = this.#options
    await queue.retry(token, delayMs, '')
    // Claims when the delay has passed. Otherwise the job would wait for the next claim without a notice.
    if (delayMs > 0 && delayMs < pollMs) clock.after(delayMs, () => this.wake())
  }

  #hold({ token }: ClaimedJob, claimedAt: number): RenewedLease {
    const { queue, clock, log } = this.#options
    const failed = (err: unknown): void => log.warn({ err }, 'could not extend a lease; retrying')
    return new RenewedLease({ queue, clock, token, claimedAt, leaseMs, lost: () => undefined, failed })
  }
}
