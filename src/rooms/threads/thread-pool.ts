import type { Clock } from '../../clock.ts'
import { ApiError } from '../../errors.ts'
import { FairSemaphore } from '../../jobs/fair-semaphore.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { DocumentAddress } from '../../model/address.ts'
import { exhausted } from '../../quota/limits.ts'
import type { MemoryAccount } from '../../quota/memory-account.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'
import { Overruns } from './overruns.ts'
import { DeadlineExceededError, stopping, WorkerThread } from './thread.ts'
import { completed, type Done, type ThreadTask, taskBytes } from './thread-task.ts'

export interface ThreadLimits {
  /** Threads for one workspace; all workspaces together have one more. 0: the event loop computes everything. */
  readonly threads: number
  /** Uses that may wait for a thread; more are refused. */
  readonly waitingMax: number
  /** Number of waiting uses that one workspace may have. */
  readonly waitingPerWorkspaceMax: number
  /** Longest time for the jobs of one use together. */
  readonly jobMs: number
}

export interface ThreadDependencies {
  /** The purpose of the threads in the metrics. */
  readonly purpose: 'change' | 'read' | 'merge'
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Log
  readonly memory: MemoryAccount
}

/** Runs one job at a time for its current user. */
export interface PooledThread {
  /**
   * Runs a job on the thread.
   * @throws ApiError if the job is rejected, RESOURCE_EXHAUSTED if it takes too long; Error if it ends the thread
   */
  run(job: ThreadTask): Promise<Done>
}

/** A whole number of seconds, for callers that have to come back later. */
const retryAfterSeconds = 5
const queueRemedy = `try again after ${retryAfterSeconds} s, with fewer calls at once`

/**
 * Threads for work that would hold up the event loop. They are started when first needed, and kept. One workspace never
 * has all of them, and waiting workspaces are served in turn.
 */
export class ThreadPool {
  readonly #limits: ThreadLimits
  readonly #dependencies: ThreadDependencies
  readonly #slots: FairSemaphore
  readonly #overruns: Overruns
  readonly #all = new Set<WorkerThread>()
  readonly #idle: WorkerThread[] = []
  #running = 0
  #isClosed = false

  constructor(limits: ThreadLimits, dependencies: ThreadDependencies) {
    this.#limits = limits
    this.#dependencies = dependencies
    this.#slots = new FairSemaphore({ total: limits.threads + 1, each: limits.threads })
    this.#overruns = new Overruns(dependencies.clock, limits.jobMs)
  }

  /** True if the pool may start threads. */
  get enabled(): boolean {
    return this.#limits.threads > 0
  }

  /**
   * Runs `work` for a document with a thread of its own, when a thread is free for the workspace of the document.
   * @throws ApiError RESOURCE_EXHAUSTED if too many uses wait, or if too many jobs of the workspace had no result
   */
  async use<T>(document: DocumentAddress, work: (thread: PooledThread) => Promise<T>): Promise<T> {
    this.#check(document)
    const { metrics, purpose } = this.#dependencies
    const cameAt = performance.now()
    const used = this.#slots.run(document.workspaceId, async () => {
      metrics.threadWaitSeconds.observe({ purpose }, (performance.now() - cameAt) / 1000)
      // While this use waited, other jobs of its workspace may have ended without a result.
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

  /** Ends all threads, including running tasks. */
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
   * Ends the thread if the pool has as many idle ones as one workspace may use: more are rarely needed, and each keeps
   * memory.
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

  /** Returns the thread for one use. The time between jobs does not count against its deadline. */
  #lent(thread: WorkerThread, document: DocumentAddress): PooledThread {
    const deadlineMs = this.#overruns.deadlineMs(document.workspaceId)
    let spentMs = 0
    return {
      run: async (job) => {
        const beganAt = performance.now()
        const claim = this.#dependencies.memory.open(
          { workspaceId: document.workspaceId, address: null },
          null,
        )
        try {
          claim.reserve(taskBytes(job))
          const outcome = await thread.run(job, Math.max(1, Math.round(deadlineMs - spentMs)))
          this.#count('done')
          return completed(outcome)
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
      isLate ? 'work on a document took too long and was ended' : 'work on a document ended its thread',
    )
    if (!isLate) throw new Error('it could not be computed', { cause })
    throw exhausted('threadJobSeconds', this.#limits.jobMs / 1000, {
      problem: `work on document "${documentId}" (editor "${editorId}") was ended after ${deadlineMs / 1000} s`,
      remedy: 'send less at once',
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
  /** How long the use ran. */
  readonly ms: number
}

/** Threads of one workspace for reading large documents, if there are any for changes. */
const readersMax = 1
/** Threads of one workspace for updates of other nodes, if there are any for changes. */
const mergersMax = 1
/** Large changes, and large readings, that may wait for a thread. */
const waitingMax = 256
/** Number of waiting uses that one workspace may have. */
const waitingPerWorkspaceMax = 32

export interface ThreadPoolOptions {
  /** Threads of one workspace for large changes; 0: they are computed on the event loop. */
  readonly computeThreads: number
  /** Longest time for the work of one call on a thread. */
  readonly threadJobMs: number
}

export interface ThreadPoolSet {
  readonly threads: ThreadPool
  /** Threads for reading, which does not wait until changes are done. */
  readonly readers: ThreadPool
  /** Threads for updates of other nodes, for which changes and readings wait. */
  readonly mergers: ThreadPool
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
    mergers: poolOf('merge', Math.min(computeThreads, mergersMax)),
  }
}
