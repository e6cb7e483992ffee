import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import type { Decision } from '../decisions/judgment-keys.ts'
import { memoryLimits } from '../decisions/limits.ts'
import { isUserErased } from '../directory/organizations/erased-users.ts'
import { type OrganizationScope, tenantPart } from '../directory/organizations/organization-keys.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { DirectoryReader } from '../directory/store/directory-reader.ts'
import type { Job } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { readPayload } from '../jobs/job-payload.ts'
import { TaskWorker, type WorkerEngine } from '../jobs/task-worker.ts'
import type { Log } from '../log.ts'
import { addressSchemas } from '../model/address-schemas.ts'
import { commentKeys } from './comment-keys.ts'
import { commentRecordType } from './comment-records.ts'
import type { JudgedComment } from './judged-comments.ts'

/** Queue of decided suggestions that must be stored as judgments. */
const judgmentQueue = 'judgments'

/** A suggestion that was decided. */
export interface DecidedSuggestion {
  /**
   * Id of the job that stores the judgment. The id is globally unique, so that the judgment is stored once.
   */
  readonly jobId: string
  readonly scope: OrganizationScope
  readonly documentId: string
  /** The comment with the text; absent in jobs of older versions. */
  readonly comment?: JudgedComment
  /** Text of the first comment, which the judgment quotes. */
  readonly text: string
  readonly decision: Decision
  readonly reviewerId: string
  /** Time of the decision, in epoch milliseconds. */
  readonly judgedAt: number
}

/**
 * Creates the job that stores a judgment. A job is necessary because judgments are in another partition: a
 * crash between the two commits must not lose a judgment.
 */
export function judgmentJob({ jobId, scope, text, ...decided }: DecidedSuggestion): Job {
  const { workspaceId, apiKey, organizationId } = scope
  const payload = { ...decided, jobId, text: quoteOf(text), scope: { workspaceId, apiKey, organizationId } }
  return {
    queue: judgmentQueue,
    id: jobId,
    at: 0,
    payload: Buffer.from(JSON.stringify(payload satisfies DecidedSuggestion)),
  }
}

/** Returns the text that a judgment quotes. A surrogate pair that is cut at the end is replaced. */
const quoteOf = (text: string): string => text.slice(0, memoryLimits.queryCharacters).toWellFormed()

const decidedSchema = v.looseObject({
  jobId: v.string(),
  scope: addressSchemas.organization,
  documentId: v.string(),
  comment: v.exactOptional(
    v.looseObject({
      commentId: v.string(),
      order: v.string(),
      createdAt: v.number(),
      annotationId: v.string(),
    }),
  ),
  text: v.string(),
  decision: v.picklist(['approve', 'reject']),
  reviewerId: v.string(),
  judgedAt: v.number(),
})

const decidedOf = (payload: Uint8Array): DecidedSuggestion => readPayload(decidedSchema, payload)

interface JudgmentRecorderDependencies {
  readonly store: OrganizationStore
  readonly memory: DecisionMemory
  readonly engine: WorkerEngine
  readonly clock: Clock
  readonly log: Log
}

/**
 * Maximum time in ms for which a call waits for its judgments. Without the limit, the call could wait
 * forever: another node may record the judgments, and the bus may lose its message.
 */
const waitMs = 5_000

/** Result of a change, and the ids of the jobs that it enqueued. */
export interface DecisionResult<T> {
  readonly result: T
  readonly jobIds: readonly string[]
}

/**
 * Stores decided suggestions as judgments, each of them once. Start this service with the server, and stop it
 * before the engine is closed.
 */
export class JudgmentRecorder {
  readonly #worker: TaskWorker<DecidedSuggestion>
  readonly #clock: Clock

  constructor({ memory, store, ...options }: JudgmentRecorderDependencies) {
    this.#clock = options.clock
    this.#worker = new TaskWorker({
      ...options,
      queueName: judgmentQueue,
      taskOf: decidedOf,
      partOf: ({ scope }) => tenantPart(scope),
      carryOut: (decided) => keep({ memory, store }, decided),
    })
  }

  /** Starts to store judgments, including those of jobs that a crash left behind. */
  start(): void {
    this.#worker.start()
  }

  /** Resolves when no judgment is being stored. The next start continues with the remaining jobs. */
  stop(): Promise<void> {
    return this.#worker.stop()
  }

  /**
   * Runs `change`, which may enqueue up to `count` jobs under the given ids. Resolves when these jobs are
   * done, when a failed one waits for its next attempt, or after `waitMs`. Does not wait for jobs of other
   * calls.
   */
  async await<T>(
    count: number,
    change: (jobIds: readonly string[]) => Promise<DecisionResult<T>>,
  ): Promise<T> {
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
    if (expected.length === 0) return
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(waitMs, resolve)
    })
    await Promise.race([Promise.allSettled(expected), late])
    cancel()
  }
}

async function keep(
  { memory, store }: Pick<JudgmentRecorderDependencies, 'memory' | 'store'>,
  { jobId, scope, text, comment, ...decided }: DecidedSuggestion,
): Promise<void> {
  const judgment = { ...decided, query: text, organizationId: scope.organizationId }
  try {
    const judgmentId = await memory.add(scope, judgment, jobId)
    // Read after the judgment is stored: a call that changes or deletes the comment later finds the judgment,
    // and deletes it too.
    if (comment !== undefined && !(await says(store.read(scope), comment, text)))
      await memory.delete(scope, [judgmentId])
    // Checked after the judgment is stored: an erasure of the reviewer's data that starts later finds the judgment.
    if (await isUserErased(store.read(scope), decided.reviewerId, decided.judgedAt))
      while ((await memory.forgetReviewer(scope, judgment)) > 0);
  } catch (error) {
    // The document was deleted meanwhile.
    if (!(error instanceof ApiError && error.status === 'NOT_FOUND')) throw error
  }
}

/** Returns whether the comment exists and still has the text that a judgment quotes. */
async function says(
  reader: DirectoryReader,
  { annotationId, order, commentId, createdAt }: JudgedComment,
  quote: string,
): Promise<boolean> {
  const found = await reader.get(commentKeys.comment(annotationId, order), commentRecordType)
  if (found?.commentId !== commentId || found.createdAt !== createdAt) return false
  return quoteOf(found.text) === quote
}
