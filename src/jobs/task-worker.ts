import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { ClaimedJob, Engine, Job, Key } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import { FairSemaphore } from './fair-semaphore.ts'
import { type HeldLease, JobConsumer, type JobDisposition } from './job-consumer.ts'
import { JobResultBus } from './job-results.ts'

/** Tasks that are claimed: so far ahead it is seen whose they are. */
const claimedMax = 1_000
/** Tasks under way at the same time, and those of one owner: an owner does not wait long for the tasks of others. */
const atOnce = { total: 64, each: 8 }
/** How often it looks for tasks without a message: those of a process that has died, or failed ones. */
const pollMs = 1_000
/** What another node may have carried out is enqueued again this often by who waits for it: the news can be lost. */
const insistMs = 5_000

/** To be called between slices: throws when the work must not go on. */
export type CheckLease = () => Promise<void>

export type WorkerEngine = Pick<Engine, 'kv' | 'queue' | 'bus'>

export interface TaskWorkerOptions<Task> {
  readonly engine: WorkerEngine
  /** Whose jobs are carried out. */
  readonly queueName: string
  readonly clock: Clock
  readonly log: Log
  readonly taskOf: (payload: Uint8Array) => Task
  /** The partition of a task's owner, who has to wait while others have their turn. */
  readonly partOf: (task: Task) => Key
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
  readonly #consumer: JobConsumer
  readonly #slots = new FairSemaphore(atOnce)
  readonly #results: JobResultBus
  readonly #endResults: () => void
  #stopped = false

  constructor(options: TaskWorkerOptions<Task>) {
    this.#options = options
    const { engine, queueName: name, clock, log } = options
    this.#consumer = new JobConsumer({
      queue: engine.queue,
      name,
      clock,
      log,
      pollMs,
      atOnce: claimedMax,
      carryOut: (job, lease) => this.#carryOut(job, lease),
    })
    this.#results = new JobResultBus(engine.bus, name)
    this.#endResults = this.#results.listen((jobId, outcome) => this.#settle(jobId, outcome))
  }

  /** Begins to look for tasks. */
  start(): void {
    this.#consumer.start()
  }

  /** Resolves when nothing is carried out any more; what is left goes on at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#consumer.stop()
    this.#endResults()
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
    const { engine, clock, log, taskOf, partOf, queueName } = this.#options
    this.wake()
    clock.after(insistMs, () => {
      if (this.#stopped || !this.#waiters.has(job.id)) return
      engine.kv
        .commit(partOf(taskOf(job.payload)), { jobs: [job] })
        .catch((err: unknown) => log.warn({ err, queue: queueName }, 'could not enqueue a job again'))
        .finally(() => this.insist(job))
    })
  }

  /** A job has been enqueued. */
  wake(): void {
    this.#consumer.wake()
  }

  async #carryOut(job: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const { taskOf, partOf, carryOut } = this.#options
    const task = taskOf(job.payload)
    try {
      await this.#slots.run(keyName(partOf(task)), async () => {
        this.checkRunning()
        await carryOut(task, this.#checkOf(lease))
      })
    } catch (error) {
      // Whoever has it now tells.
      if (error instanceof LeaseLostError) throw error
      this.#waiters.get(job.id)?.reject(error)
      this.#tell(job.id, 'failed')
      if (this.#stopped) return { againAfterMs: 0 }
      throw error
    }
    this.#tell(job.id, 'done')
    return 'done'
  }

  /** Whoever waits for it waits here, or hears of it. */
  #tell(jobId: string, outcome: 'done' | 'failed'): void {
    if (!this.#waiters.has(jobId)) this.#results.tell(jobId, outcome)
    this.#settle(jobId, outcome)
  }

  #settle(jobId: string, outcome: 'done' | 'failed'): void {
    const waiter = this.#waiters.get(jobId)
    if (outcome === 'done') waiter?.resolve()
    else
      waiter?.reject(
        new ApiError('server/background-failed', 'the work failed; the server retries it in the background'),
      )
  }

  /** What a task calls between two slices. */
  #checkOf(lease: HeldLease): CheckLease {
    return async () => {
      // A store in memory answers at once: without this everybody else would wait for the end of the task.
      await nextTurn()
      this.checkRunning()
      if (!lease.isHeld()) throw new LeaseLostError()
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
  new ApiError('server/stopping', 'the server is stopping; it completes the work after its next start')
