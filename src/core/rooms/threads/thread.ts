import { Worker } from 'node:worker_threads'
import { runUntraced } from '../../base/current-trace.ts'
import { ApiError } from '../../base/errors.ts'
import { builtFile } from '../../base/package-file.ts'
import { type PackedUpdates, packUpdates, type ThreadOutcome, type ThreadTask } from './thread-task.ts'

/**
 * Path of the built script of a thread. The built file is needed even if the sources run, as in tests,
 * because a thread of Node does not run TypeScript.
 */
const script = builtFile('core/rooms/threads/thread-main.js')

/** A job in the form in which a thread gets it. */
export type SentTask = ThreadTask extends infer Task
  ? Omit<Task, 'updates'> & { readonly updates: PackedUpdates }
  : never

/** Thrown if a job did not end in time. The thread of the job is ended. */
export class DeadlineExceededError extends Error {
  constructor(ms: number) {
    super(`not done within ${ms} ms`)
    this.name = 'DeadlineExceededError'
  }
}

/** One thread. If it ends, the next job starts it again. */
export class WorkerThread {
  #ended = false
  #worker: Worker | null = null
  /**
   * Settles when the previous thread has ended. The next thread starts only then, because two threads must
   * not run simultaneously.
   */
  #ending: Promise<unknown> | null = null

  /**
   * Runs a job. Starts the thread if it is not running.
   * @throws DeadlineExceededError; Error if the job ended the thread; ApiError UNAVAILABLE if the server is
   * stopping
   */
  async run(job: ThreadTask, deadlineMs: number): Promise<ThreadOutcome> {
    // Bytes from a store are views into larger buffers, which would otherwise be sent as a whole.
    const updates = await packUpdates('updates' in job ? job.updates : [])
    const buffers = [updates.bytes, updates.lengths].map(({ buffer }) => buffer as ArrayBuffer)
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
      const done = (outcome: ThreadOutcome): void => {
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
      worker.postMessage({ ...job, updates } satisfies SentTask, buffers)
    })
  }

  /** Ends the thread permanently. The caller of a running job gets an ApiError UNAVAILABLE. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.all([this.#worker?.terminate(), this.#ending])
  }
}

export const stopping = (): ApiError => new ApiError('server/stopping', 'the server is stopping; try again')

function startWorker(): Worker {
  // The flags of a program that embeds the server are meant for its own code: a thread rejects some of them.
  // The messages of a thread serve many callers, so they belong to the trace of none.
  const worker = runUntraced(() => new Worker(script, { execArgv: [] }))
  // This listener only prevents an uncaught error if an idle thread ends: the next job starts a new thread. A
  // running job has its own listener.
  worker.on('error', () => {})
  // An idle thread must not keep the process running. During a job, the caller keeps the process running.
  worker.unref()
  return worker
}
