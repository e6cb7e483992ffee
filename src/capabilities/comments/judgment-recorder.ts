import { randomUUID } from 'node:crypto'
import { type Clock, endsWithin } from '../../core/base/clock.ts'
import { ApiError } from '../../core/base/errors.ts'
import * as s from '../../core/base/schema.ts'
import { isUserErased } from '../../core/directory/organizations/erased-users.ts'
import { tenantPart } from '../../core/directory/organizations/organization-keys.ts'
import type { DirectoryReader } from '../../core/directory/store/directory-reader.ts'
import { TaskWorker } from '../../core/jobs/task-worker.ts'
import { addressSchemas } from '../../core/model/address-schemas.ts'
import type { Job } from '../../core/store/engine.ts'
import type { Services } from '../../rest/services.ts'
import { memoryLimits } from '../decisions/limits.ts'
import { commentKeys } from './comment-keys.ts'
import type { JudgedComment } from './comment-quotes.ts'
import { commentRecordType } from './comment-records.ts'

/** Queue of decided suggestions that a consumer stores as judgments. */
const judgmentQueue = 'judgments'

const decidedSchema = s.object(
  {
    /**
     * Id of the job that stores the judgment. The id is globally unique, so a repeated job stores the judgment
     * only once.
     */
    jobId: s.string,
    scope: addressSchemas.organization,
    documentId: s.string,
    /** Text of the first comment of the annotation. The judgment quotes this text. */
    text: s.string,
    decision: s.choice(['approve', 'reject']),
    reviewerId: s.string,
    /** Time of the decision in epoch milliseconds. */
    judgedAt: s.number,
  },
  {
    /** The comment that contains the text. Absent in jobs that older versions have created. */
    comment: s.object({
      commentId: s.string,
      order: s.string,
      createdAt: s.number,
      annotationId: s.string,
    }),
  },
)
type DecidedSuggestion = s.TypeOf<typeof decidedSchema>

/**
 * Creates the job that stores a judgment. The judgment is stored by a job because it is in another partition
 * than the annotation. A crash between the two commits then cannot lose the judgment.
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

/**
 * Returns the text that a judgment quotes, truncated to the limit. If the limit splits a surrogate pair, the
 * remaining half is replaced.
 */
const quoteOf = (text: string): string => text.slice(0, memoryLimits.queryCharacters).toWellFormed()

/** What the services of comments use. */
export type CommentDependencies = Pick<
  Services,
  'store' | 'organizations' | 'events' | 'memory' | 'engine' | 'clock' | 'log'
>

/**
 * Maximum time in ms for which a call waits for its judgments. Without this limit, the call could wait
 * forever: another node may store the judgments, and its message on the bus may be lost.
 */
const waitMs = 5_000

/** Result of a change, with the ids of the jobs that the change enqueued. */
interface DecisionResult<T> {
  readonly result: T
  readonly jobIds: readonly string[]
}

/**
 * Stores decided suggestions as judgments, each suggestion once. The caller must start this service with the
 * server, and stop it before the engine is closed.
 */
export class JudgmentRecorder {
  /** Stores the judgments, also those that remained after a crash. */
  readonly worker: TaskWorker<DecidedSuggestion>
  readonly #clock: Clock

  constructor(dependencies: CommentDependencies) {
    const { engine, clock, log } = dependencies
    this.#clock = clock
    this.worker = new TaskWorker({
      engine,
      clock,
      log,
      queueName: judgmentQueue,
      schema: decidedSchema,
      partOf: ({ scope }) => tenantPart(scope),
      carryOut: (decided) => keep(dependencies, decided),
    })
  }

  /**
   * Runs `change`, which may enqueue up to `count` jobs under the ids that it gets. Resolves when all
   * enqueued jobs are done or have failed, and at the latest after `waitMs`. A failed job is retried later.
   * Jobs of other calls are not awaited.
   */
  async await<T>(
    count: number,
    change: (jobIds: readonly string[]) => Promise<DecisionResult<T>>,
  ): Promise<T> {
    const ids: readonly string[] = Array.from({ length: count }, () => randomUUID())
    const expected = new Map(ids.map((id) => [id, this.worker.expect(id)]))
    try {
      const { result, jobIds } = await change(ids)
      if (jobIds.length > 0) this.worker.wake()
      await this.#settled(jobIds.flatMap((id) => expected.get(id) ?? []))
      return result
    } finally {
      for (const id of ids) this.worker.forget(id)
    }
  }

  async #settled(expected: readonly Promise<void>[]): Promise<void> {
    if (expected.length > 0) await endsWithin(this.#clock, waitMs, Promise.allSettled(expected))
  }
}

async function keep(
  { memory, store }: CommentDependencies,
  { jobId, scope, text, comment, ...decided }: DecidedSuggestion,
): Promise<void> {
  const judgment = { ...decided, query: text, organizationId: scope.organizationId }
  try {
    const judgmentId = await memory.add(scope, judgment, jobId)
    // This check comes after the judgment is stored. A call that changes or deletes the comment later finds
    // the judgment, and deletes it.
    if (comment !== undefined && !(await says(store.read(scope), comment, text)))
      await memory.delete(scope, [judgmentId])
    // This check also comes after the judgment is stored. If an erasure of the reviewer's data starts later,
    // it finds the judgment.
    if (await isUserErased(store.read(scope), decided.reviewerId, decided.judgedAt))
      while ((await memory.forgetReviewer(scope, judgment)) > 0);
  } catch (error) {
    // The document was deleted meanwhile.
    if (!(error instanceof ApiError && error.status === 'NOT_FOUND')) throw error
  }
}

/** Returns whether the comment still exists with the text that a judgment quotes. */
async function says(
  reader: DirectoryReader,
  { annotationId, order, commentId, createdAt }: JudgedComment,
  quote: string,
): Promise<boolean> {
  const found = await reader.get(commentKeys.comment(annotationId, order), commentRecordType)
  if (found?.commentId !== commentId || found.createdAt !== createdAt) return false
  return quoteOf(found.text) === quote
}
