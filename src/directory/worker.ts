import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { ClaimedJob, Queue } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { ApiError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Tenant } from '../model/address.ts'
import { FairSlots } from './fair-slots.ts'
import { tenantPart } from './organization-keys.ts'

/** Tasks that are claimed: so far ahead it is seen whose they are. */
const claimedMax = 1_000
/** Tasks under way at the same time, and those of one tenant: nobody waits long behind what others have to do. */
const atOnce = { total: 64, each: 8 }
/** A task of a process that has died is taken up again after this; it is extended while one waits and with every slice. */
const leaseMs = 10_000
/** How often tasks are looked for that nobody has told of: those of a process that has died, or failed ones. */
const pollMs = 1_000
/** A task that has failed is tried again after this, and then after twice as long each time. */
const retryMs = 1_000
const retryMsMax = 60_000

/** To be called between slices: throws when the work must not go on. */
export type GoOn = () => Promise<void>

export interface WorkerOptions<Task> {
  readonly queue: Queue
  /** Whose jobs are carried out; the log calls the worker so. */
  readonly queueName: string
  readonly clock: Clock
  readonly log: Log
  readonly taskOf: (payload: Uint8Array) => Task
  /** Who has to wait while others have their turn. */
  readonly ownerOf: (task: Task) => Tenant
  /** May be called again for a task that is done. */
  readonly carryOut: (task: Task, goOn: GoOn) => Promise<void>
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/** Carries out tasks in the background; those that a crash or a stop has interrupted are taken up at the next start. */
export class Worker<Task> {
  readonly #options: WorkerOptions<Task>
  readonly #waiters = new Map<string, Waiter>()
  /** Those that are claimed: under way, or waiting for a slot. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #slots = new FairSlots(atOnce)
  #claiming: Promise<void> | null = null
  #claimAgain = false
  #stopped = false
  #cancelPoll: () => void = () => {}

  constructor(options: WorkerOptions<Task>) {
    this.#options = options
  }

  /** Begins to look for tasks. */
  start(): void {
    this.wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.start())
  }

  /** Resolves when nothing is carried out any more; what is left goes on at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelPoll()
    await this.#claiming
    await Promise.all(this.#running.values())
    for (const waiter of this.#waiters.values()) waiter.reject(stopping())
  }

  /** @throws ApiError UNAVAILABLE when it has been stopped */
  checkRunning(): void {
    if (this.#stopped) throw stopping()
  }

  /**
   * Resolves when the job has been carried out; rejects with what that failed with: then it goes on in the background,
   * or, once this has been stopped, at the next start. To be forgotten when nobody waits any more.
   */
  expect(jobId: string): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.set(jobId, { resolve, reject })
      if (this.#stopped) reject(stopping())
    })
    // Nobody may be waiting yet when it fails.
    done.catch(() => {})
    return done
  }

  forget(jobId: string): void {
    this.#waiters.delete(jobId)
  }

  /** A job has been enqueued. */
  wake(): void {
    if (this.#stopped) return
    this.#claimAgain = true
    this.#claiming ??= this.#claim()
  }

  /** Whoever wakes it sees it under way until it has looked for the last time. */
  async #claim(): Promise<void> {
    const { queue, queueName, log } = this.#options
    while (this.#claimAgain && !this.#stopped) {
      this.#claimAgain = false
      try {
        const jobs = await queue.claim(queueName, claimedMax - this.#running.size, leaseMs)
        for (const job of jobs) this.#begin(job)
      } catch (err) {
        log.warn({ err, worker: queueName }, 'work cannot be claimed')
      }
    }
    this.#claiming = null
  }

  #begin(job: ClaimedJob): void {
    // Its lease has ended though it goes on: it is claimed again when it has really ended.
    if (this.#running.has(job.id)) return
    const running = this.#carryOut(job).finally(() => {
      this.#running.delete(job.id)
      this.wake()
    })
    this.#running.set(job.id, running)
  }

  async #carryOut(job: ClaimedJob): Promise<void> {
    const { queue, queueName, log, taskOf, ownerOf, carryOut } = this.#options
    const task = taskOf(job.payload)
    const stopKeeping = this.#keep(job)
    try {
      await this.#slots.run(keyName(tenantPart(ownerOf(task))), async () => {
        stopKeeping()
        if (this.#stopped) throw stopping()
        await carryOut(task, this.#goOn(job))
      })
      await queue.done(job.token)
      this.#waiters.get(job.id)?.resolve()
    } catch (err) {
      this.#waiters.get(job.id)?.reject(err)
      if (!this.#stopped)
        log.error({ err, attempt: job.attempt, worker: queueName }, 'work failed; it is tried again')
      const delayMs = this.#stopped ? 0 : Math.min(retryMs * 2 ** (job.attempt - 1), retryMsMax)
      // Without this it is due at the end of its lease.
      await queue.retry(job.token, delayMs, messageOf(err)).catch(() => {})
    }
  }

  /** Keeps the lease of one that waits for a slot. Returns the function that ends it. */
  #keep(job: ClaimedJob): () => void {
    const { queue, queueName, clock, log } = this.#options
    const keep = (): (() => void) =>
      clock.after(leaseMs / 4, () => {
        queue
          .extend(job.token, leaseMs)
          .catch((err: unknown) => log.warn({ err, worker: queueName }, 'a lease is not kept'))
        cancel = keep()
      })
    let cancel = keep()
    return () => cancel()
  }

  /** What a task calls between two slices. */
  #goOn({ token }: ClaimedJob): GoOn {
    const { queue, clock } = this.#options
    let extendedAt = clock.now()
    return async () => {
      // A store in memory answers at once: without this everybody else would wait for the end of the task.
      await nextTurn()
      if (this.#stopped) throw stopping()
      if (clock.now() - extendedAt < leaseMs / 4) return
      extendedAt = clock.now()
      await queue.extend(token, leaseMs)
    }
  }
}

const stopping = (): ApiError =>
  new ApiError('UNAVAILABLE', 'the server is stopping; what is left is done at its next start')
