/**
 * The entry point of a thread. It runs one job after the other. An exception ends the thread, and the pool
 * starts another one.
 */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import type { SentTask } from './thread.ts'
import { buffersOf, outcomeOf, type ThreadTask, unpackUpdates } from './thread-task.ts'

/**
 * Priority (nice value) of a thread. If a thread and the event loop need the same core, the thread gets a
 * third of the processor time that the event loop gets.
 */
const priority = 5

/**
 * Sets the priority of this thread below that of the event loop. This works only on Linux, where each thread
 * has its own priority.
 */
function yieldToEventLoop(): void {
  try {
    if (process.platform === 'linux')
      setPriority(Number(basename(readlinkSync('/proc/thread-self'))), priority)
  } catch {
    // Without `/proc`, the thread has the same priority as the event loop.
  }
}

yieldToEventLoop()

parentPort?.on('message', (job: SentTask) => {
  const outcome = outcomeOf({ ...job, updates: unpackUpdates(job.updates) } as ThreadTask)
  parentPort?.postMessage(outcome, buffersOf(outcome))
})
