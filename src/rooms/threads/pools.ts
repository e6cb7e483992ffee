import type { RoomMemory } from '../room/room-options.ts'
import { type ThreadDependencies, type ThreadLimits, ThreadPool } from './thread-pool.ts'

/** Threads of one workspace for reading large documents, if there are any for changes. */
const readersMax = 1
/** Threads of one workspace for updates of other nodes, if there are any for changes. */
const mergersMax = 1
/** Large changes, and large readings, that may wait for a thread. */
const waitingMax = 256
/** The part of them that one workspace may have. */
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
  }: Omit<ThreadDependencies, 'purpose' | 'memory'> & { readonly memory: RoomMemory },
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
