import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { ClaimedJob, Engine, Job, Key } from '../engine/engine.ts'
import { keyName } from '../engine/key-encoding.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import { FairSemaphore } from './fair-semaphore.ts'
import { type HeldLease, JobConsumer, type JobDisposition } from './job-consumer.ts'
import { JobResultBus } from './job-results.ts'

/** Maximum number of claimed tasks. Slots rotate only among the owners of claimed tasks. */
const claimedMax = 1_000
/**
 * Maximum number of tasks that run in parallel, in total and for one owner. Because of the second limit, no
 * owner waits long for the tasks of others.
 */
const atOnce = { total: 64, each: 8 }
/** Interval in ms of claims without a notice. They find failed tasks and the tasks of a process that died. */
const pollMs = 1_000
/**
 * Interval in ms at which a waiting node enqueues its task again. Another node may already have done the
 * task, and the message about the result may have been lost.
 */
const insistMs = 5_000

/** Call between the slices of a task. Throws if the task must stop. */
export type CheckLease = () => Promise<void>

export type WorkerEngine = Pick<Engine, 'kv' | 'queue' | 'bus'>

export interface TaskWorkerOptions<Task> {
  readonly engine: WorkerEngine
  /** Name of the queue that contains the tasks. */
  readonly queueName: string
  readonly clock: Clock
  readonly log: Log
  readonly taskOf: (payload: Uint8Array) => Task
  /** Returns the partition of the owner of a task. The slots rotate among the owners. */
  readonly partOf: (task: Task) => Key
  /** Runs a task. May be called again for a task that is already done. */
  readonly carryOut: (task: Task, goOn: CheckLease) => Promise<void>
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Runs tasks in the background. If a crash or a stop interrupts a task, it continues at the next start or on
 * another node. Only the node that holds the lease of a task runs it.
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

  /** Stops the worker. Resolves when no task is running. The remaining tasks continue at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#consumer.stop()
    this.#endResults()
    for (const waiter of this.#waiters.values()) waiter.reject(stopping())
  }

  /** Checks that the worker has not been stopped. @throws ApiError UNAVAILABLE if it has */
  checkRunning(): void {
    if (this.#stopped) throw stopping()
  }

  /**
   * Resolves when the task of the job has been done. Rejects with the error if the task fails. After a
   * failure, the task continues in the background, or at the next start if this worker has been stopped. Call
   * `forget` when no caller waits for the job any longer.
   */
  expect(jobId: string): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.set(jobId, { resolve, reject })
      if (this.#stopped) reject(stopping())
    })
    // Prevents an unhandled rejection if the task fails before a caller waits.
    done.catch(() => {})
    return done
  }

  forget(jobId: string): void {
    this.#waiters.delete(jobId)
  }

  /**
   * Enqueues an expected job again at intervals until its result is known, because another node may run it
   * and the message about its result may be lost. Tasks are idempotent: running a task twice is harmless.
   */
  insist(job: Job): void {
    const { engine, clock, log, taskOf, partOf, queueName } = this.#options
    this.wake()
    clock.after(insistMs, () => {
      if (this.#stopped || !this.#waiters.has(job.id)) return
      engine.kv
        .commit(partOf(taskOf(job.payload)), { jobs: [job] })
        .catch((err: unknown) => log.warn({ err, queue: queueName }, 'could not re-enqueue a job; retrying'))
        .finally(() => this.insist(job))
    })
  }

  /** Claims tasks immediately. Call when a job has been enqueued. */
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
      // Publishes nothing: the node that has the lease now publishes the result.
      if (error instanceof LeaseLostError) throw error
      this.#waiters.get(job.id)?.reject(error)
      this.#tell(job.id, 'failed')
      if (this.#stopped) return { againAfterMs: 0 }
      throw error
    }
    this.#tell(job.id, 'done')
    return 'done'
  }

  /**
   * Reports the outcome of a job to the waiting caller. If no caller in this process waits for it, publishes
   * the outcome to the other nodes.
   */
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

  /** Returns the function that a task must call between two slices. */
  #checkOf(lease: HeldLease): CheckLease {
    return async () => {
      // A store in memory answers without a delay. Without this pause, all other work would wait for the end
      // of the task.
      await nextTurn()
      this.checkRunning()
      if (!lease.isHeld) throw new LeaseLostError()
    }
  }
}

/** This process has lost the lease of a task. Another node may be running the task. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor() {
    super('the lease ended before the task was finished; another node may continue the task')
  }
}

const stopping = (): ApiError =>
  new ApiError('server/stopping', 'the server is stopping; it completes the work after its next start')
