import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { ApiError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import * as s from '../base/schema.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { ClaimedJob, Engine, Job, Key } from '../store/engine.ts'
import { keyName } from '../store/key-encoding.ts'
import { Topic } from '../store/topic.ts'
import { type HeldLease, JobConsumer, type JobDisposition } from './job-consumer.ts'
import { readPayload } from './job-payload.ts'

/**
 * Maximum number of tasks that are claimed at the same time. It exceeds the number of tasks that run, because
 * only the owners of claimed tasks take part in the rotation of the slots.
 */
const claimedMax = 1_000
/**
 * Maximum number of tasks that run in parallel, in total and for each owner. Because of the limit for each
 * owner, no owner waits long for the tasks of others.
 */
const atOnce = { total: 64, each: 8 }
/**
 * Interval in ms at which the worker claims without a notice. Such claims find tasks that have failed, and
 * tasks of a process that has died.
 */
const pollMs = 1_000
/**
 * Interval in ms at which a node that waits for a task enqueues the task again. Another node may have run the
 * task, and the message about its outcome may have been lost.
 */
const insistMs = 5_000

/**
 * Checks whether a task may continue. Call it between the slices of the task. Throws if the task must stop.
 */
export type CheckLease = () => Promise<void>

export type WorkerEngine = Pick<Engine, 'kv' | 'queue' | 'bus'>

interface TaskWorkerOptions<Task> {
  readonly engine: WorkerEngine
  /** Name of the queue that contains the tasks. */
  readonly queueName: string
  readonly clock: Clock
  readonly log: Log
  /** Schema of the tasks. A job whose payload does not match it is malformed. */
  readonly schema: s.SchemaOf<Task>
  /** Returns a partition that identifies the owner of a task. Owners share the slots in rotation. */
  readonly partOf: (task: Task) => Key
  /** Runs a task. It may be called again for a task that was already run. */
  readonly carryOut: (task: Task, goOn: CheckLease) => Promise<void>
}

/** Message to the nodes that wait for a job. The bus may lose it. */
const outcomeSchema = s.object({ jobId: s.string, outcome: s.choice(['done', 'failed']) })

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Runs tasks in the background. If a crash or a stop interrupts a task, the task continues after the next
 * start or on another node. A task is run only by the node that holds its lease.
 */
export class TaskWorker<Task> {
  readonly #options: TaskWorkerOptions<Task>
  readonly #waiters = new Map<string, Waiter>()
  readonly #consumer: JobConsumer
  readonly #slots = new Semaphore(atOnce)
  readonly #outcomes: Topic<s.TypeOf<typeof outcomeSchema>>
  readonly #unsubscribe: () => void
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
    this.#outcomes = new Topic(`work.${name}`, outcomeSchema)
    this.#unsubscribe = this.#outcomes.subscribe(engine.bus, ({ jobId, outcome }) =>
      this.#settle(jobId, outcome),
    )
  }

  /** Starts to claim tasks. */
  start(): void {
    this.#consumer.start()
  }

  /**
   * Stops the worker. Resolves when no task is running. The remaining tasks continue after the next start.
   */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#consumer.stop()
    this.#unsubscribe()
    for (const waiter of this.#waiters.values()) waiter.reject(stopping())
  }

  /** Checks that the worker has not been stopped. @throws ApiError UNAVAILABLE if it has been stopped */
  checkRunning(): void {
    if (this.#stopped) throw stopping()
  }

  /**
   * Resolves when the task of the job is done. Rejects with the error if the task fails. A failed task is
   * retried in the background, or after the next start if this worker has been stopped. Call `forget` when no
   * caller waits for the job any longer.
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
   * Enqueues an expected job again, at intervals, until its outcome is known. This is necessary because
   * another node may run the job, and the message about its outcome may be lost. Running a task twice is
   * harmless, because tasks are idempotent.
   */
  insist(job: Job): void {
    const { engine, clock, log, schema, partOf, queueName } = this.#options
    this.wake()
    clock.after(insistMs, () => {
      if (this.#stopped || !this.#waiters.has(job.id)) return
      engine.kv
        .commit(partOf(readPayload(schema, job.payload)), { jobs: [job] })
        .catch((err: unknown) => log.warn({ err, queue: queueName }, 'could not re-enqueue a job; retrying'))
        .finally(() => this.insist(job))
    })
  }

  /** Claims tasks immediately. Call this method when a job has been enqueued. */
  wake(): void {
    this.#consumer.wake()
  }

  async #carryOut(job: ClaimedJob, lease: HeldLease): Promise<JobDisposition> {
    const { schema, partOf, carryOut } = this.#options
    const task = readPayload(schema, job.payload)
    try {
      await this.#slots.run(keyName(partOf(task)), async () => {
        this.checkRunning()
        await carryOut(task, this.#checkOf(lease))
      })
    } catch (error) {
      // Publishes no outcome, because the node that has the lease now will publish it.
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
   * Reports the outcome of a job to the caller that waits in this process. If none waits, publishes the
   * outcome to the other nodes.
   */
  #tell(jobId: string, outcome: 'done' | 'failed'): void {
    if (!this.#waiters.has(jobId)) this.#outcomes.publish(this.#options.engine.bus, { jobId, outcome })
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

  /** Returns the function that a task must call between its slices. */
  #checkOf(lease: HeldLease): CheckLease {
    return async () => {
      // A store in memory answers without a delay. Without this pause, all other work would have to wait
      // until the task has ended.
      await nextTurn()
      this.checkRunning()
      if (!lease.isHeld) throw new LeaseLostError()
    }
  }
}

/** Thrown if this process has lost the lease of a task. Another node may then be running the task. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor() {
    super('the lease ended before the task was finished; another node may continue the task')
  }
}

const stopping = (): ApiError =>
  new ApiError('server/stopping', 'the server is stopping; it completes the work after its next start')
