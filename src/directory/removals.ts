import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Bus, ClaimedJob, Queue } from '../engine/engine.ts'
import { keyName } from '../engine/keys.ts'
import { ApiError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { FairSlots } from './fair-slots.ts'
import { tenantPart } from './organization-keys.ts'
import type { GoOn, Removal } from './removal.ts'
import { type RemovalTask, removalQueue, removalTaskOf } from './removal-task.ts'
import { encodeRemovalNews, removalTopic } from './removed.ts'

/** Removals that are claimed: so far ahead it is seen whose they are. */
const claimedMax = 1_000
/** Removals under way at the same time, and those of one tenant: nobody waits long behind what others delete. */
const atOnce = { total: 64, each: 8 }
/** A removal of a process that has died is taken up again after this; it is extended while one waits and with every slice. */
const leaseMs = 10_000
/** How often removals are looked for that nobody has told of: those of a process that has died, or failed ones. */
const pollMs = 1_000
/** A removal that has failed is tried again after this, and then after twice as long each time. */
const retryMs = 1_000
const retryMsMax = 60_000

export interface RemovalsOptions {
  readonly queue: Queue
  readonly bus: Bus
  readonly removal: Removal
  readonly clock: Clock
  readonly log: Log
}

/** What a change that marks has come to; `task` null: there is nothing to remove. */
export interface Marked<T> {
  readonly result: T
  readonly task: RemovalTask | null
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/** Carries out removals in the background; those that a crash or a stop has interrupted are taken up at the next start. */
export class Removals {
  readonly #options: RemovalsOptions
  readonly #waiters = new Map<string, Waiter>()
  /** Those that are claimed: under way, or waiting for a slot. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #slots = new FairSlots(atOnce)
  #claiming: Promise<void> | null = null
  #claimAgain = false
  #stopped = false
  #cancelPoll: () => void = () => {}

  constructor(options: RemovalsOptions) {
    this.#options = options
  }

  /** Begins to look for removals. */
  start(): void {
    this.#wake()
    this.#cancelPoll = this.#options.clock.after(pollMs, () => this.start())
  }

  /** Resolves when nothing is removed any more; what is left goes on at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelPoll()
    await this.#claiming
    await Promise.all(this.#running.values())
    for (const waiter of this.#waiters.values()) waiter.reject(stopping())
  }

  /**
   * Does `change`, which is to enqueue the removal of what it marks, if anything, under the id given to it; tells that
   * it has begun, and waits until it has been carried out.
   * @throws what `change` throws; what the removal failed with: then it goes on in the background
   */
  async await<T>(change: (jobId: string) => Promise<Marked<T>>): Promise<T> {
    const jobId = randomUUID()
    const done = this.#expect(jobId)
    try {
      const { result, task } = await change(jobId)
      if (task !== null) this.#options.bus.publish(removalTopic, encodeRemovalNews({ kind: 'begun', task }))
      if (this.#stopped) throw stopping()
      this.#wake()
      if (task !== null) await done
      return result
    } finally {
      this.#waiters.delete(jobId)
    }
  }

  #expect(jobId: string): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      this.#waiters.set(jobId, { resolve, reject })
    })
    // Nobody may be waiting yet when it fails.
    done.catch(() => {})
    return done
  }

  #wake(): void {
    if (this.#stopped) return
    this.#claimAgain = true
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null
    })
  }

  async #claim(): Promise<void> {
    const { queue, log } = this.#options
    while (this.#claimAgain && !this.#stopped) {
      this.#claimAgain = false
      try {
        const jobs = await queue.claim(removalQueue, claimedMax - this.#running.size, leaseMs)
        for (const job of jobs) this.#begin(job)
      } catch (err) {
        log.warn({ err }, 'removals cannot be claimed')
      }
    }
  }

  #begin(job: ClaimedJob): void {
    // Its lease has ended though it goes on: it is claimed again when it has really ended.
    if (this.#running.has(job.id)) return
    const running = this.#carryOut(job).finally(() => {
      this.#running.delete(job.id)
      this.#wake()
    })
    this.#running.set(job.id, running)
  }

  async #carryOut(job: ClaimedJob): Promise<void> {
    const { queue, removal, log } = this.#options
    const task = removalTaskOf(job.payload)
    const stopKeeping = this.#keep(job)
    try {
      await this.#slots.run(keyName(tenantPart(task.scope)), async () => {
        stopKeeping()
        if (this.#stopped) throw stopping()
        await removal.carryOut(task, this.#goOn(job))
      })
      await queue.done(job.token)
      this.#waiters.get(job.id)?.resolve()
    } catch (err) {
      this.#waiters.get(job.id)?.reject(err)
      if (!this.#stopped) log.error({ err, attempt: job.attempt }, 'a removal failed; it is tried again')
      const delayMs = this.#stopped ? 0 : Math.min(retryMs * 2 ** (job.attempt - 1), retryMsMax)
      // Without this it is due at the end of its lease.
      await queue.retry(job.token, delayMs, messageOf(err)).catch(() => {})
    }
  }

  /** Keeps the lease of one that waits for a slot. Returns the function that ends it. */
  #keep(job: ClaimedJob): () => void {
    const { queue, clock, log } = this.#options
    const keep = (): (() => void) =>
      clock.after(leaseMs / 4, () => {
        queue.extend(job.token, leaseMs).catch((err: unknown) => log.warn({ err }, 'a removal is not kept'))
        cancel = keep()
      })
    let cancel = keep()
    return () => cancel()
  }

  /** What a removal calls between two slices. */
  #goOn({ token }: ClaimedJob): GoOn {
    const { queue, clock } = this.#options
    let extendedAt = clock.now()
    return async () => {
      if (this.#stopped) throw stopping()
      if (clock.now() - extendedAt < leaseMs / 4) return
      extendedAt = clock.now()
      await queue.extend(token, leaseMs)
    }
  }
}

const stopping = (): ApiError =>
  new ApiError('UNAVAILABLE', 'the server is stopping; what is left is removed at its next start')
