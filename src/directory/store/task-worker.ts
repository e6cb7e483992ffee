import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import type { ClaimedJob, Engine, Job } from '../../engine/engine.ts'
import { keyName } from '../../engine/key-encoding.ts'
import { ApiError, errorMessage } from '../../errors.ts'
import { FairSemaphore } from '../../jobs/fair-semaphore.ts'
import { JobResultBus } from '../../jobs/job-results.ts'
import type { Log } from '../../log.ts'
import type { Tenant } from '../../model/address.ts'
import { tenantPart } from '../organizations/organization-keys.ts'

/** Tasks that are claimed: so far ahead it is seen whose they are. */
const claimedMax = 1_000
/** Tasks under way at the same time, and those of one tenant: nobody waits long behind what others have to do. */
const atOnce = { total: 64, each: 8 }
/** A task of a process that has died is taken up again after this; it is extended while one waits and with every slice. */
const leaseMs = 10_000
/** How often tasks are looked for that nobody has told of: those of a process that has died, or failed ones. */
const pollMs = 1_000
/** A task that has failed is tried again after this, and then after twice as long each time. */
const retryMs = 1_000
const retryMsMax = 60_000
/** What another node may have carried out is enqueued again this often by who waits for it: the news can be lost. */
const insistMs = 5_000

/** To be called between slices: throws when the work must not go on. */
export type CheckLease = () => Promise<void>

export type WorkerEngine = Pick<Engine, 'kv' | 'queue' | 'bus' | 'cluster'>

export interface TaskWorkerOptions<Task> {
  readonly engine: WorkerEngine
  /** Whose jobs are carried out; the log calls the worker so. */
  readonly queueName: string
  readonly clock: Clock
  readonly log: Log
  readonly taskOf: (payload: Uint8Array) => Task
  /** Who has to wait while others have their turn. */
  readonly ownerOf: (task: Task) => Tenant
  /** May be called again for a task that is done. */
  readonly carryOut: (task: Task, goOn: CheckLease) => Promise<void>
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Carries out tasks in the background; those that a crash or a stop has interrupted are taken up at the next start, or by
 * another node. A task is carried out by one node at a time, as long as that keeps its lease.
 */
export class TaskWorker<Task> {
  readonly #options: TaskWorkerOptions<Task>
  readonly #waiters = new Map<string, Waiter>()
  /** Those that are claimed: under way, or waiting for a slot. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #slots = new FairSemaphore(atOnce)
  #claiming: Promise<void> | null = null
  #claimAgain = false
  #stopped = false
  /** Null: nobody else carries anything out. */
  readonly #news: JobResultBus | null
  readonly #endNews: () => void
  #cancelPoll: () => void = () => {}

  constructor(options: TaskWorkerOptions<Task>) {
    this.#options = options
    const { bus, cluster } = options.engine
    this.#news = cluster.isShared ? new JobResultBus(bus, options.queueName) : null
    this.#endNews = this.#news?.listen((jobId, outcome) => this.#settle(jobId, outcome)) ?? (() => {})
  }

  /** Begins to look for tasks. */
  start(): void {
    this.wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.start())
  }

  /** Resolves when nothing is carried out any more; what is left goes on at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelPoll()
    await this.#claiming
    await Promise.all(this.#running.values())
    this.#endNews()
    for (const waiter of this.#waiters.values()) waiter.reject(stopping())
  }

  /** @throws ApiError UNAVAILABLE when it has been stopped */
  checkRunning(): void {
    if (this.#stopped) throw stopping()
  }

  /**
   * Resolves when the job has been carried out; rejects with what that failed with: then it goes on in the background,
   * or, once this has been stopped, at the next start. To be forgotten when nobody waits any more.
   */
  expect(jobId: string): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.set(jobId, { resolve, reject })
      if (this.#stopped) reject(stopping())
    })
    // Nobody may be waiting yet when it fails.
    done.catch(() => {})
    return done
  }

  forget(jobId: string): void {
    this.#waiters.delete(jobId)
  }

  /**
   * Has a job that was enqueued, and is expected, carried out until it is known that it was: another node may take it, and
   * what that tells may be lost. To be carried out once more does a task that is done no harm.
   */
  insist(job: Job): void {
    const { engine, clock, log, taskOf, ownerOf, queueName } = this.#options
    this.wake()
    if (this.#news === null) return
    clock.after(insistMs, () => {
      if (this.#stopped || !this.#waiters.has(job.id)) return
      engine.kv
        .commit(tenantPart(ownerOf(taskOf(job.payload))), { jobs: [job] })
        .catch((err: unknown) => log.warn({ err, worker: queueName }, 'work is not looked after'))
        .finally(() => this.insist(job))
    })
  }

  /** A job has been enqueued. */
  wake(): void {
    if (this.#stopped) return
    this.#claimAgain = true
    this.#claiming ??= this.#claim()
  }

  /** Whoever wakes it sees it under way until it has looked for the last time. */
  async #claim(): Promise<void> {
    const { engine, queueName, log } = this.#options
    while (this.#claimAgain && !this.#stopped) {
      this.#claimAgain = false
      try {
        const jobs = await engine.queue.claim(queueName, claimedMax - this.#running.size, leaseMs)
        for (const job of jobs) this.#begin(job)
      } catch (err) {
        log.warn({ err, worker: queueName }, 'work cannot be claimed')
      }
    }
    this.#claiming = null
  }

  #begin(job: ClaimedJob): void {
    // Its lease has ended though it goes on: it is claimed again when it has really ended.
    if (this.#running.has(job.id)) return
    const running = this.#carryOut(job).finally(() => {
      this.#running.delete(job.id)
      this.wake()
    })
    this.#running.set(job.id, running)
  }

  async #carryOut(job: ClaimedJob): Promise<void> {
    const { engine, queueName, log, taskOf, ownerOf, carryOut } = this.#options
    const { queue, cluster } = engine
    const task = taskOf(job.payload)
    const stopKeeping = this.#keep(job)
    try {
      await this.#slots.run(keyName(tenantPart(ownerOf(task))), async () => {
        // Where others would take it up, also while one slice takes long.
        if (!cluster.isShared) stopKeeping()
        if (this.#stopped) throw stopping()
        await carryOut(task, this.#goOn(job))
      })
      await queue.done(job.token)
      this.#notify(job.id, 'done')
    } catch (err) {
      if (err instanceof LeaseLostError) {
        log.warn({ worker: queueName }, err.message)
        return
      }
      this.#waiters.get(job.id)?.reject(err)
      this.#notify(job.id, 'failed')
      if (!this.#stopped)
        log.error({ err, attempt: job.attempt, worker: queueName }, 'work failed; it is tried again')
      const delayMs = this.#stopped ? 0 : Math.min(retryMs * 2 ** (job.attempt - 1), retryMsMax)
      // Without this it is due at the end of its lease.
      await queue.retry(job.token, delayMs, errorMessage(err)).catch(() => {})
    } finally {
      stopKeeping()
    }
  }

  /** Whoever waits for it waits here, or hears of it. */
  #notify(jobId: string, outcome: 'done' | 'failed'): void {
    if (!this.#waiters.has(jobId)) this.#news?.tell(jobId, outcome)
    this.#settle(jobId, outcome)
  }

  #settle(jobId: string, outcome: 'done' | 'failed'): void {
    const waiter = this.#waiters.get(jobId)
    if (outcome === 'done') waiter?.resolve()
    else
      waiter?.reject(
        new ApiError('server/background-failed', 'it has failed; the server tries again in the background'),
      )
  }

  /** Keeps the lease of one that waits for a slot. Returns the function that ends it. */
  #keep(job: ClaimedJob): () => void {
    const { engine, queueName, clock, log } = this.#options
    const keep = (): (() => void) =>
      clock.after(leaseMs / 4, () => {
        engine.queue
          .extend(job.token, leaseMs)
          .catch((err: unknown) => log.warn({ err, worker: queueName }, 'a lease is not kept'))
        cancel = keep()
      })
    let cancel = keep()
    return () => cancel()
  }

  /** What a task calls between two slices. */
  #goOn({ token }: ClaimedJob): CheckLease {
    const { engine, clock } = this.#options
    let extendedAt = clock.now()
    return async () => {
      // A store in memory answers at once: without this everybody else would wait for the end of the task.
      await nextTurn()
      if (this.#stopped) throw stopping()
      if (clock.now() - extendedAt < leaseMs / 4) return
      extendedAt = clock.now()
      const isHeld = await engine.queue.extend(token, leaseMs)
      if (!isHeld && engine.cluster.isShared) throw new LeaseLostError()
    }
  }
}

/** Another node may be carrying it out. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor() {
    super('the lease of a task has ended while it was carried out: another node goes on with it')
  }
}

const stopping = (): ApiError =>
  new ApiError('server/stopping', 'the server is stopping; what is left is done at its next start')
