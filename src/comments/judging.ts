import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { isErasedSince } from '../directory/erased-users.ts'
import type { OrganizationScope } from '../directory/organization-keys.ts'
import type { OrganizationStore } from '../directory/organization-store.ts'
import type { ClaimedJob, Job, Queue } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Decision } from '../memory/judgment-keys.ts'
import { memoryLimits } from '../memory/limits.ts'
import type { Memory } from '../memory/memory.ts'

/** The queue of decided suggestions that are to be kept as judgments. */
const judgmentQueue = 'judgments'
/** Judgments that are recorded at the same time. */
const atOnceMax = 32
/** One of a process that has died, or that failed, is recorded after this. */
const leaseMs = 10_000
/** How often those are looked for. */
const pollMs = 5_000

/** A suggestion that was decided. */
export interface DecidedSuggestion {
  readonly scope: OrganizationScope
  readonly documentId: string
  /** What was judged. */
  readonly text: string
  readonly decision: Decision
  readonly reviewerId: string
  /** Epoch milliseconds. */
  readonly judgedAt: number
}

/**
 * The job of keeping a judgment: judgments are another partition, and a crash between the two commits must not lose one.
 */
export function judgmentJob({ scope, text, ...decided }: DecidedSuggestion): Job {
  const { workspaceId, apiKey, organizationId } = scope
  // A pair of surrogates may be cut in two.
  const cut = text.slice(0, memoryLimits.queryCharacters).toWellFormed()
  const payload = { ...decided, text: cut, scope: { workspaceId, apiKey, organizationId } }
  return {
    queue: judgmentQueue,
    id: randomUUID(),
    at: 0,
    payload: Buffer.from(JSON.stringify(payload satisfies DecidedSuggestion)),
  }
}

interface Parts {
  readonly store: OrganizationStore
  readonly memory: Memory
  readonly queue: Queue
  readonly clock: Clock
  readonly log: Log
}

/** Keeps decided suggestions as judgments, each once. To be started, and stopped before the engine is closed. */
export class Judging {
  readonly #parts: Parts
  #running: Promise<void> | null = null
  #again = false
  #isStopped = false
  #cancelPoll: () => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Begins to record, also what a crash has left. */
  start(): void {
    void this.settled()
    this.#cancelPoll = this.#parts.clock.after(pollMs, () => this.start())
  }

  /** Resolves when nothing is recorded any more; what is left is recorded at the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelPoll()
    await this.#running
  }

  /** Resolves when what has been enqueued before is recorded, or is to be tried again. */
  async settled(): Promise<void> {
    if (this.#isStopped) return
    this.#again = true
    this.#running ??= this.#record()
    await this.#running
  }

  async #record(): Promise<void> {
    const { queue, log } = this.#parts
    try {
      while (this.#again && !this.#isStopped) {
        this.#again = false
        const jobs = await queue.claim(judgmentQueue, atOnceMax, leaseMs)
        if (jobs.length > 0) this.#again = true
        await Promise.all(jobs.map((job) => this.#carryOut(job)))
      }
    } catch (err) {
      log.warn({ err }, 'judgments cannot be recorded; it is tried again')
    } finally {
      // At once, so that nobody waits for one that has looked for the last time.
      this.#running = null
    }
  }

  async #carryOut({ id, payload, token }: ClaimedJob): Promise<void> {
    const { store, memory, queue } = this.#parts
    const { scope, text, ...decided } = JSON.parse(Buffer.from(payload).toString()) as DecidedSuggestion
    const judgment = { ...decided, query: text, organizationId: scope.organizationId }
    try {
      await memory.add(scope, judgment, id)
      // Asked afterwards: a deletion of the reviewer's data that begins only now finds the judgment.
      if (await isErasedSince(store.read(scope), decided.reviewerId, decided.judgedAt))
        while ((await memory.forgetReviewer(scope, judgment)) > 0);
    } catch (error) {
      // Its document has gone meanwhile.
      if (!(error instanceof ApiError && error.status === 'NOT_FOUND')) throw error
    }
    await queue.done(token)
  }
}
