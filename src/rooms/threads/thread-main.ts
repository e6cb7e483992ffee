/**
 * The code of a thread: it runs one job after the other. An exception ends the thread; the pool starts another.
 */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { buffersOf, runThreadTask, type ThreadTask } from './thread-task.ts'

/** Priority that gets a third of the processor time of the event loop if both need the same core. */
const priority = 5

/** If threads have priorities (Linux), this one yields to the event loop. */
function yieldToEventLoop(): void {
  try {
    if (process.platform === 'linux')
      setPriority(Number(basename(readlinkSync('/proc/thread-self'))), priority)
  } catch {
    // Without `/proc`, it competes with the event loop like any other thread.
  }
}

yieldToEventLoop()

parentPort?.on('message', (job: ThreadTask) => {
  const outcome = runThreadTask(job)
  parentPort?.postMessage(outcome, buffersOf(outcome))
})
