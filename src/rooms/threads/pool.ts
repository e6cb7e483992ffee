import { Worker } from 'node:worker_threads'
import { packageFile } from '../../config/package-file.ts'
import { ApiError } from '../../errors.ts'
import { exhausted } from '../../quota/limits.ts'
import type { Job, Outcome } from './job.ts'

export interface ThreadLimits {
  /** Threads at once. 0: nothing is computed elsewhere. */
  readonly threads: number
  /** Those who may wait for a thread; more are refused. */
  readonly waitingMax: number
  /** Longest time for one job: work is bounded, so that this is reached only when something is wrong. */
  readonly jobMs: number
}

/** Does one job at a time for whoever holds it. */
export interface Thread {
  /**
   * Does a job elsewhere.
   * @throws ApiError what the job refuses; Error when it took too long or ended the thread
   */
  run(job: Job): Promise<Exclude<Outcome, { is: 'refused' }>>
}

/** The built one also where sources are run, as in tests: a thread of Node runs no TypeScript. */
const script = packageFile('dist/rooms/threads/worker.js')

/** Threads for work that would hold up the event loop. They are started when first needed, and kept. */
export class Threads {
  readonly #limits: ThreadLimits
  readonly #all: WorkerThread[] = []
  readonly #idle: WorkerThread[] = []
  readonly #waiting: ((thread: WorkerThread) => void)[] = []

  constructor(limits: ThreadLimits) {
    this.#limits = limits
  }

  /** Is there any thread to be had? */
  get enabled(): boolean {
    return this.#limits.threads > 0
  }

  /** Runs `work` with a thread of its own, when one is free. @throws ApiError RESOURCE_EXHAUSTED when too many wait */
  async use<T>(work: (thread: Thread) => Promise<T>): Promise<T> {
    const thread = await this.#acquire()
    try {
      return await work(thread)
    } finally {
      this.#release(thread)
    }
  }

  /** Ends all threads, whatever they are doing. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.end()))
  }

  #acquire(): WorkerThread | Promise<WorkerThread> {
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    if (this.#all.length < this.#limits.threads) {
      const thread = new WorkerThread(this.#limits.jobMs)
      this.#all.push(thread)
      return thread
    }
    if (this.#waiting.length >= this.#limits.waitingMax) {
      throw exhausted('threadQueue', this.#limits.waitingMax, 'too many large documents at once', 5)
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #release(thread: WorkerThread): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(thread)
    else next(thread)
  }
}

/** One thread, started anew after it has ended. */
class WorkerThread implements Thread {
  readonly #jobMs: number
  #ended = false
  #worker: Worker | null = null

  constructor(jobMs: number) {
    this.#jobMs = jobMs
  }

  async run(job: Job): Promise<Exclude<Outcome, { is: 'refused' }>> {
    const outcome = await this.#outcome(job)
    if (outcome.is !== 'refused') return outcome
    const { status, message, details } = outcome
    throw new ApiError(status, message, details === undefined ? {} : { details })
  }

  /** Whoever has a job there is told to come back. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#worker?.terminate()
  }

  #outcome(job: Job): Promise<Outcome> {
    if (this.#ended) return Promise.reject(stopping())
    const worker = this.#worker ?? startWorker()
    this.#worker = worker
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(new Error(`not done within ${this.#jobMs} ms`)), this.#jobMs)
      const settle = (): void => {
        clearTimeout(timer)
        worker.off('message', done).off('error', fail).off('exit', gone)
      }
      const done = (outcome: Outcome): void => {
        settle()
        resolve(outcome)
      }
      const fail = (cause: Error): void => {
        settle()
        this.#worker = null
        void worker.terminate()
        reject(this.#ended ? stopping() : new Error('it could not be computed', { cause }))
      }
      const gone = (code: number): void => fail(new Error(`the thread ended with code ${code}`))
      worker.on('message', done).on('error', fail).on('exit', gone)
      const { own, buffers } = ownUpdates('updates' in job ? job.updates : [])
      worker.postMessage({ ...job, updates: own }, buffers)
    })
  }
}

const stopping = (): ApiError => new ApiError('UNAVAILABLE', 'the server is stopping')

function startWorker(): Worker {
  const worker = new Worker(script)
  // Whoever has a job there listens too. What ends an idle thread harms nobody, and is found by the next job.
  worker.on('error', () => {})
  // A thread without work keeps no process alive; a job is always awaited by something that does.
  worker.unref()
  return worker
}

/** Exact copies, which the thread takes over: what a store hands out are views of larger buffers, which would be sent whole. */
function ownUpdates(updates: readonly Uint8Array[]): { own: Uint8Array[]; buffers: ArrayBuffer[] } {
  const own = updates.map((update) => new Uint8Array(update))
  return { own, buffers: own.map(({ buffer }) => buffer) }
}
