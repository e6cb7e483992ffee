import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { isErasedSince } from '../directory/erased-users.ts'
import type { OrganizationScope } from '../directory/organization-keys.ts'
import type { OrganizationStore } from '../directory/organization-store.ts'
import { Worker, type WorkerEngine } from '../directory/worker.ts'
import type { Job } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Decision } from '../memory/judgment-keys.ts'
import { memoryLimits } from '../memory/limits.ts'
import type { Memory } from '../memory/memory.ts'

/** The queue of decided suggestions that are to be kept as judgments. */
const judgmentQueue = 'judgments'

/** A suggestion that was decided. */
export interface DecidedSuggestion {
  /** Of the job that it waits in, and unique for ever: it is kept once. */
  readonly jobId: string
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
export function judgmentJob({ jobId, scope, text, ...decided }: DecidedSuggestion): Job {
  const { workspaceId, apiKey, organizationId } = scope
  // A pair of surrogates may be cut in two.
  const cut = text.slice(0, memoryLimits.queryCharacters).toWellFormed()
  const payload = { ...decided, jobId, text: cut, scope: { workspaceId, apiKey, organizationId } }
  return {
    queue: judgmentQueue,
    id: jobId,
    at: 0,
    payload: Buffer.from(JSON.stringify(payload satisfies DecidedSuggestion)),
  }
}

const decidedOf = (payload: Uint8Array): DecidedSuggestion =>
  JSON.parse(Buffer.from(payload).toString()) as DecidedSuggestion

interface Parts {
  readonly store: OrganizationStore
  readonly memory: Memory
  readonly engine: WorkerEngine
  readonly clock: Clock
  readonly log: Log
}

/** How long a call waits for what another node may be doing, in ms: what that tells may be lost. */
const waitMs = 5_000

/** What a change has come to, and the ids of the jobs that it has enqueued. */
export interface Decided<T> {
  readonly result: T
  readonly jobIds: readonly string[]
}

/** Keeps decided suggestions as judgments, each once. To be started, and stopped before the engine is closed. */
export class Judging {
  readonly #worker: Worker<DecidedSuggestion>
  readonly #options: Pick<Parts, 'engine' | 'clock'>

  constructor({ memory, store, ...options }: Parts) {
    this.#options = options
    this.#worker = new Worker({
      ...options,
      queueName: judgmentQueue,
      taskOf: decidedOf,
      ownerOf: ({ scope }) => scope,
      carryOut: (decided) => keep({ memory, store }, decided),
    })
  }

  /** Begins to record, also what a crash has left. */
  start(): void {
    this.#worker.start()
  }

  /** Resolves when nothing is recorded any more; what is left is recorded at the next start. */
  stop(): Promise<void> {
    return this.#worker.stop()
  }

  /**
   * Does `change`, which may enqueue as many jobs under the ids given to it; resolves when those are recorded, or are to
   * be tried again. Those of others are not waited for.
   */
  async await<T>(count: number, change: (jobIds: readonly string[]) => Promise<Decided<T>>): Promise<T> {
    const ids: readonly string[] = Array.from({ length: count }, () => randomUUID())
    const expected = new Map(ids.map((id) => [id, this.#worker.expect(id)]))
    try {
      const { result, jobIds } = await change(ids)
      if (jobIds.length > 0) this.#worker.wake()
      await this.#settled(jobIds.flatMap((id) => expected.get(id) ?? []))
      return result
    } finally {
      for (const id of ids) this.#worker.forget(id)
    }
  }

  async #settled(expected: readonly Promise<void>[]): Promise<void> {
    const { engine, clock } = this.#options
    if (!engine.cluster.isShared || expected.length === 0) return void (await Promise.allSettled(expected))
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => {
      cancel = clock.after(waitMs, resolve)
    })
    await Promise.race([Promise.allSettled(expected), late])
    cancel()
  }
}

async function keep(
  { memory, store }: Pick<Parts, 'memory' | 'store'>,
  { jobId, scope, text, ...decided }: DecidedSuggestion,
): Promise<void> {
  const judgment = { ...decided, query: text, organizationId: scope.organizationId }
  try {
    await memory.add(scope, judgment, jobId)
    // Asked afterwards: a deletion of the reviewer's data that begins only now finds the judgment.
    if (await isErasedSince(store.read(scope), decided.reviewerId, decided.judgedAt))
      while ((await memory.forgetReviewer(scope, judgment)) > 0);
  } catch (error) {
    // Its document has gone meanwhile.
    if (!(error instanceof ApiError && error.status === 'NOT_FOUND')) throw error
  }
}
