import type { Clock } from '../../base/clock.ts'
import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { exhausted } from '../../quota/limits.ts'
import type { MemoryAccount } from '../../quota/memory-account.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'
import { RateLimiter } from '../../quota/rate-limiter.ts'
import { DeadlineExceededError, stopping, WorkerThread } from './thread.ts'
import {
  type ResultOf,
  runTask,
  type TaskName,
  type TaskOf,
  type ThreadTask,
  taskBytes,
  taskResult,
} from './thread-task.ts'

export interface ThreadLimits {
  /**
   * Maximum number of threads that one workspace may use at the same time; all workspaces together may use
   * one more. 0: there are no threads, and the event loop does all work.
   */
  readonly threads: number
  /** Maximum number of calls of `use` that may wait for a thread. Further calls are rejected. */
  readonly waitingMax: number
  /** Maximum number of calls of `use` for one workspace that may wait for a thread. */
  readonly waitingPerWorkspaceMax: number
  /** Maximum milliseconds of all jobs of one call of `use` together. */
  readonly jobMs: number
}

export interface ThreadDependencies {
  /** Purpose of the threads, as a label in metrics. */
  readonly purpose: 'change' | 'read'
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Log
  readonly memory: MemoryAccount
}

/** A thread during one call of `use`. It runs one job at a time. */
export interface PooledThread {
  /**
   * Runs a job on the thread.
   * @throws ApiError if the job is rejected; ApiError RESOURCE_EXHAUSTED if the job takes too long; Error if
   * the job ends the thread
   */
  run<Name extends TaskName>(job: TaskOf<Name>): Promise<ResultOf<Name>>
}

/**
 * Number of copies that a thread has in memory at least: the bytes of a document or of JSON, and the Y.Doc or the values.
 */
const copies = 2

/** Runs jobs without a thread. */
const eventLoop: PooledThread = { run: async (job) => runTask(job) }

/** Seconds after which callers should try again. Must be a whole number. */
const retryAfterSeconds = 5
const queueRemedy = `try again after ${retryAfterSeconds} s, with fewer concurrent calls`

/**
 * Threads for work that would block the event loop for too long. A thread is started when it is first needed,
 * and is kept for later work. One workspace can never use all threads, and waiting workspaces are served in
 * turn.
 */
export class ThreadPool {
  readonly #limits: ThreadLimits
  readonly #dependencies: ThreadDependencies
  readonly #slots: Semaphore
  readonly #overruns: Overruns
  readonly #all = new Set<WorkerThread>()
  readonly #idle: WorkerThread[] = []
  #running = 0
  #isClosed = false

  constructor(limits: ThreadLimits, dependencies: ThreadDependencies) {
    this.#limits = limits
    this.#dependencies = dependencies
    this.#slots = new Semaphore({ total: limits.threads + 1, each: limits.threads })
    this.#overruns = new Overruns(dependencies.clock, limits.jobMs)
  }

  /** True if the pool may start threads. */
  get enabled(): boolean {
    return this.#limits.threads > 0
  }

  /**
   * Waits until a thread is free for the workspace of the document, then calls `work` with this thread. No
   * other call uses the thread until `work` ends. If there are no threads, the event loop runs the jobs.
   * @throws ApiError RESOURCE_EXHAUSTED if too many calls wait, or if too many jobs of the workspace have
   * ended without a result
   */
  async use<T>(document: DocumentAddress, work: (thread: PooledThread) => Promise<T>): Promise<T> {
    if (!this.enabled) return work(eventLoop)
    this.#check(document)
    const { metrics, purpose } = this.#dependencies
    const cameAt = performance.now()
    const used = this.#slots.run(document.workspaceId, async () => {
      metrics.threadWaitSeconds.observe({ purpose }, (performance.now() - cameAt) / 1000)
      // The check is repeated: during the wait, other jobs of the workspace may have ended without a result.
      this.#overruns.check(document.workspaceId)
      const thread = this.#take()
      try {
        return await work(this.#lent(thread, document))
      } finally {
        this.#giveBack(thread)
      }
    })
    this.#show()
    return used
  }

  /** Ends all threads, even if they are running jobs. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#all].map((thread) => thread.end()))
  }

  #check({ workspaceId }: DocumentAddress): void {
    const { waitingMax, waitingPerWorkspaceMax } = this.#limits
    this.#overruns.check(workspaceId)
    if (this.#slots.waitingOf(workspaceId) >= waitingPerWorkspaceMax) {
      const problem = 'too many large documents of this workspace at once'
      throw exhausted('threadQueuePerWorkspace', waitingPerWorkspaceMax, {
        problem,
        remedy: queueRemedy,
        retryAfterSeconds,
      })
    }
    if (this.#slots.waiting >= waitingMax)
      throw exhausted('threadQueueLength', waitingMax, {
        problem: 'too many large documents at once',
        remedy: queueRemedy,
        retryAfterSeconds,
      })
  }

  #take(): WorkerThread {
    if (this.#isClosed) throw stopping()
    const thread = this.#idle.pop() ?? new WorkerThread()
    this.#all.add(thread)
    this.#running += 1
    this.#show()
    return thread
  }

  /**
   * Returns a thread to the pool. Ends the thread if the pool already has as many idle threads as one
   * workspace may use: more threads are rarely needed, and each thread takes memory.
   */
  #giveBack(thread: WorkerThread): void {
    this.#running -= 1
    this.#show()
    if (this.#idle.length < this.#limits.threads) {
      this.#idle.push(thread)
      return
    }
    void thread.end().then(() => this.#all.delete(thread))
  }

  /**
   * Wraps a thread for one call of `use`: all its jobs together get one deadline. The time between the jobs
   * does not count against the deadline.
   */
  #lent(thread: WorkerThread, document: DocumentAddress): PooledThread {
    const deadlineMs = this.#overruns.deadlineMs(document.workspaceId)
    let spentMs = 0
    return {
      run: async <Name extends TaskName>(given: TaskOf<Name>): Promise<ResultOf<Name>> => {
        const job = given as ThreadTask
        const beganAt = performance.now()
        const claim = this.#dependencies.memory.open(
          { workspaceId: document.workspaceId, address: null },
          null,
        )
        try {
          claim.reserve(taskBytes(job) * copies)
          const outcome = await thread.run(job, Math.max(1, Math.round(deadlineMs - spentMs)))
          this.#count('done')
          return taskResult<Name>(outcome)
        } catch (error) {
          if (error instanceof ApiError) throw error
          return this.#failed(error, { document, job, deadlineMs, ms: spentMs + performance.now() - beganAt })
        } finally {
          claim.release()
          spentMs += performance.now() - beganAt
        }
      },
    }
  }

  #failed(cause: unknown, { document, job, deadlineMs, ms }: FailedJob): never {
    const { workspaceId, apiKey, organizationId, documentId, editorId } = document
    const isLate = cause instanceof DeadlineExceededError
    this.#overruns.charge(workspaceId, Math.min(ms, deadlineMs))
    this.#count(isLate ? 'late' : 'failed')
    const restSeconds = this.#overruns.restSeconds(workspaceId)
    this.#dependencies.logger.warn(
      {
        event: isLate ? 'thread.job_timed_out' : 'thread.job_failed',
        workspaceId,
        apiKey,
        organizationId,
        documentId,
        editorId,
        job: job.is,
        ms: Math.round(ms),
        restSeconds,
        ...(!isLate && { err: cause }),
      },
      isLate ? 'a thread task took too long and was stopped' : 'a thread task ended its thread',
    )
    if (!isLate) throw new Error('it could not be computed', { cause })
    throw exhausted('threadJobSeconds', this.#limits.jobMs / 1000, {
      problem: `work on document "${documentId}" (editor "${editorId}") was stopped after ${Math.round(deadlineMs / 100) / 10} s`,
      remedy: 'send less in one call',
      retryAfterSeconds: Math.max(restSeconds, retryAfterSeconds),
    })
  }

  #count(outcome: 'done' | 'late' | 'failed'): void {
    this.#dependencies.metrics.threadJobs.inc({ purpose: this.#dependencies.purpose, outcome })
  }

  #show(): void {
    const { metrics, purpose } = this.#dependencies
    metrics.threadUses.set({ purpose, state: 'waiting' }, this.#slots.waiting)
    metrics.threadUses.set({ purpose, state: 'running' }, this.#running)
  }
}

interface FailedJob {
  readonly document: DocumentAddress
  readonly job: ThreadTask
  readonly deadlineMs: number
  /** Milliseconds that the jobs of the call of `use` have run, including the failed one. */
  readonly ms: number
}

/**
 * Maximum number of threads of one workspace that read large documents. If `computeThreads` is 0, there are
 * no such threads.
 */
const readersMax = 1
/** Maximum number of calls of `use` that may wait for a thread, in each pool. */
const waitingMax = 256
/** Maximum number of calls of `use` for one workspace that may wait for a thread, in each pool. */
const waitingPerWorkspaceMax = 32

export interface ThreadPoolOptions {
  /**
   * Number of threads that one workspace may use for large changes; 0: the event loop computes these changes.
   */
  readonly computeThreads: number
  /** Maximum milliseconds for the work of one call on a thread. */
  readonly threadJobMs: number
}

export interface ThreadPoolSet {
  readonly threads: ThreadPool
  /** Threads for reads. They are separate, so that reads do not wait until changes are done. */
  readonly readers: ThreadPool
}

export function threadPools(
  { computeThreads, threadJobMs }: ThreadPoolOptions,
  {
    clock,
    metrics,
    logger,
    memory,
  }: Omit<ThreadDependencies, 'purpose' | 'memory'> & { readonly memory: Pick<MemoryLedger, 'threadJobs'> },
): ThreadPoolSet {
  const poolOf = (purpose: ThreadDependencies['purpose'], threads: number): ThreadPool => {
    const limits: ThreadLimits = { threads, waitingMax, waitingPerWorkspaceMax, jobMs: threadJobMs }
    return new ThreadPool(limits, { purpose, clock, metrics, logger, memory: memory.threadJobs })
  }
  return {
    threads: poolOf('change', computeThreads),
    readers: poolOf('read', Math.min(computeThreads, readersMax)),
  }
}

/** Share of the maximum time that a job gets at least, even if its workspace has a large debt. */
const shortestShare = 0.1
/**
 * Milliseconds by which a debt decreases in each elapsed millisecond. In the long run, the jobs of a
 * workspace that end without a result therefore use at most this share of a thread.
 */
const forgivenShare = 0.1

/**
 * Limits the time that threads spend on jobs that end without a result. The time of such a job is added to
 * the debt of its workspace, which decreases slowly. While a workspace has a debt, its jobs have a shorter
 * deadline. If the debt is large, the workspace gets no thread until the debt has decreased.
 */
class Overruns {
  readonly #jobMs: number
  /** The debt of each workspace in milliseconds. */
  readonly #debts: RateLimiter

  constructor(clock: Clock, jobMs: number) {
    this.#jobMs = jobMs
    // A RateLimiter accepts a call while at least one unit is left, so the burst is larger by one.
    this.#debts = new RateLimiter({ perSecond: forgivenShare * 1_000, burst: jobMs + 1 }, clock)
  }

  /** Returns the maximum milliseconds for the next job of a workspace. */
  deadlineMs(workspaceId: string): number {
    return Math.max(this.#jobMs * shortestShare, this.#jobMs - this.#debts.usedBy(workspaceId))
  }

  charge(workspaceId: string, ms: number): void {
    this.#debts.charge(workspaceId, ms)
  }

  /** Returns the seconds until the workspace gets a thread again; 0 if it gets one now. */
  restSeconds(workspaceId: string): number {
    return Math.ceil(this.#debts.waitMs(workspaceId) / 1000)
  }

  /** Checks whether the workspace may use a thread. @throws ApiError RESOURCE_EXHAUSTED while it may not */
  check(workspaceId: string): void {
    const seconds = this.restSeconds(workspaceId)
    if (seconds === 0) return
    const value = this.#jobMs / 1000
    throw exhausted('threadOverrunSeconds', value, {
      problem: `work on large documents of this workspace took more than ${value} s without a result`,
      remedy: `try again after ${seconds} s, with less content`,
      retryAfterSeconds: seconds,
    })
  }
}
