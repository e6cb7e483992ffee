import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { ClaimedJob, Engine, Job, Key } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import { FairSemaphore } from './fair-semaphore.ts'
import { type HeldLease, JobConsumer, type JobDisposition } from './job-consumer.ts'
import { JobResultBus } from './job-results.ts'

/** Maximum number of claimed tasks: the scheduler sees the owners of this many tasks. */
const claimedMax = 1_000
/**
 * Maximum number of tasks in parallel, in total and for one owner, so that no owner waits long for the tasks
 * of others.
 */
const atOnce = { total: 64, each: 8 }
/**
 * Interval of the search for tasks without a message, in ms: tasks of a process that has died, and failed
 * ones.
 */
const pollMs = 1_000
/**
 * Interval at which a waiting node enqueues a task again that another node may have done, in ms: the message
 * about its result may be lost.
 */
const insistMs = 5_000

/** Call between slices. Throws if the task must end. */
export type CheckLease = () => Promise<void>

export type WorkerEngine = Pick<Engine, 'kv' | 'queue' | 'bus'>

export interface TaskWorkerOptions<Task> {
  readonly engine: WorkerEngine
  /** Queue of the tasks. */
  readonly queueName: string
  readonly clock: Clock
  readonly log: Log
  readonly taskOf: (payload: Uint8Array) => Task
  /** Returns the partition of a task's owner, between which the slots rotate. */
  readonly partOf: (task: Task) => Key
  /** May be called again for a task that is done. */
  readonly carryOut: (task: Task, goOn: CheckLease) => Promise<void>
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Runs tasks in the background. Tasks that a crash or a stop has interrupted continue at the next start, or
 * on another node. Only one node at a time runs a task, while it holds the lease.
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

  /** Starts to claim tasks. */
  start(): void {
    this.#consumer.start()
  }

  /** Resolves when no task is running; the remaining ones continue at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#consumer.stop()
    this.#endResults()
    for (const waiter of this.#waiters.values()) waiter.reject(stopping())
  }

  /** @throws ApiError UNAVAILABLE if the worker has been stopped */
  checkRunning(): void {
    if (this.#stopped) throw stopping()
  }

  /**
   * Resolves when the task has been done; rejects with the error of a failure. After a failure the task
   * continues in the background or, if this worker has been stopped, at the next start. Call `forget` when no
   * caller waits any longer.
   */
  expect(jobId: string): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.set(jobId, { resolve, reject })
      if (this.#stopped) reject(stopping())
    })
    // It may fail before a caller waits.
    done.catch(() => {})
    return done
  }

  forget(jobId: string): void {
    this.#waiters.delete(jobId)
  }

  /**
   * Enqueues an expected job repeatedly until its result is known: another node may run it, and its message
   * may be lost. Tasks are idempotent: running one twice is harmless.
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

  /** Call when a job has been enqueued. */
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
      // The node that has the lease now publishes the result.
      if (error instanceof LeaseLostError) throw error
      this.#waiters.get(job.id)?.reject(error)
      this.#tell(job.id, 'failed')
      if (this.#stopped) return { againAfterMs: 0 }
      throw error
    }
    this.#tell(job.id, 'done')
    return 'done'
  }

  /** The waiting caller is in this process, or gets the message. */
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

  /** Returns the function that a task calls between two slices. */
  #checkOf(lease: HeldLease): CheckLease {
    return async () => {
      // A store in memory answers without a delay: without this pause, all other work would wait for the end
      // of the task.
      await nextTurn()
      this.checkRunning()
      if (!lease.isHeld) throw new LeaseLostError()
    }
  }
}

/** Another node may be running the task. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor() {
    super('the lease of a task has ended while it was carried out: another node goes on with it')
  }
}

const stopping = (): ApiError =>
  new ApiError('server/stopping', 'the server is stopping; it completes the work after its next start')
