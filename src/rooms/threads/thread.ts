import { Worker } from 'node:worker_threads'
import { builtFile } from '../../config/package-file.ts'
import { ApiError } from '../../errors.ts'
import type { ThreadResult, ThreadTask } from './thread-task.ts'

/** The built file, also if the sources run, as in tests: a thread of Node does not run TypeScript. */
const script = builtFile('rooms/threads/thread-main.js')

/** A job that was not done in time: its thread is ended. */
export class DeadlineExceededError extends Error {
  constructor(ms: number) {
    super(`not done within ${ms} ms`)
    this.name = 'DeadlineExceededError'
  }
}

/** One thread, which is started again after it has ended. */
export class WorkerThread {
  #ended = false
  #worker: Worker | null = null
  /** The end of the thread before: two of them do not run at the same time. */
  #ending: Promise<unknown> | null = null

  /** @throws DeadlineExceededError; Error when the job ended the thread; ApiError UNAVAILABLE when the server is stopping */
  async run(job: ThreadTask, deadlineMs: number): Promise<ThreadResult> {
    await this.#ending
    this.#ending = null
    if (this.#ended) throw stopping()
    const worker = this.#worker ?? startWorker()
    this.#worker = worker
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(new DeadlineExceededError(deadlineMs)), deadlineMs)
      const settle = (): void => {
        clearTimeout(timer)
        worker.off('message', done).off('error', fail).off('exit', gone)
      }
      const done = (outcome: ThreadResult): void => {
        settle()
        resolve(outcome)
      }
      const fail = (cause: Error): void => {
        settle()
        this.#worker = null
        this.#ending = worker.terminate()
        reject(this.#ended ? stopping() : cause)
      }
      const gone = (code: number): void => fail(new Error(`the thread ended with code ${code}`))
      worker.on('message', done).on('error', fail).on('exit', gone)
      const { own, buffers } = ownUpdates('updates' in job ? job.updates : [])
      worker.postMessage({ ...job, updates: own }, buffers)
    })
  }

  /** The caller of a running job gets UNAVAILABLE. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.all([this.#worker?.terminate(), this.#ending])
  }
}

export const stopping = (): ApiError => new ApiError('server/stopping', 'the server is stopping; try again')

function startWorker(): Worker {
  const worker = new Worker(script)
  // A running task has its own listener. An error that ends an idle thread is harmless: the next task finds it ended.
  worker.on('error', () => {})
  // An idle thread must not keep the process alive. During a job, its caller keeps the process alive.
  worker.unref()
  return worker
}

/** Exact copies, which the thread takes over. A store returns views of larger buffers, which would be sent whole. */
function ownUpdates(updates: readonly Uint8Array[]): { own: Uint8Array[]; buffers: ArrayBuffer[] } {
  const own = updates.map((update) => new Uint8Array(update))
  return { own, buffers: own.map(({ buffer }) => buffer) }
}
