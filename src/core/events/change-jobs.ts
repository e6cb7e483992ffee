import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { memoized } from '../base/maps.ts'
import { type TraceContext, toTraceHeaders } from '../base/trace-context.ts'
import type { DocumentAddress, Tenant } from '../model/address.ts'
import type { Job } from '../store/engine.ts'
import type { ActionUser } from './activity.ts'
import { type EditAuthor, type EditListener, editorName, type StartedWindows } from './debounce-windows.ts'
import { eventJob, type QueuedEvent } from './outbound-event.ts'

/**
 * Time in ms after an edit at which the version of the editor is read. The edits within this time become one event
 * of the feed, and one request of `store`.
 */
export const changeWindowMs = 1_000
/** Maximum time in ms between two notices while edits continue. */
const noticeEveryMs = 250
/** Time in ms between the due time of a job and the notice, because the clock of the store may differ a little. */
const noticeDelayMs = 20

/**
 * Adds a job to each commit of an editor while the feed or the callback `store` is on. All commits of an editor have
 * the same job id, so at most one job of an editor waits. A commit during the run of the job leaves a new job.
 * Therefore a job that starts after a commit always follows the commit, also if the process ends at any point.
 */
export class ChangeJobs implements EditListener {
  readonly #clock: Clock
  /** Returns whether the feed of an API key may be on, or its callback `store`. */
  readonly #wanted: (tenant: Tenant) => boolean
  /** Called when jobs are due. */
  readonly #due: () => void
  readonly #jobs = new WeakMap<DocumentAddress, Job>()
  /** Time at which the last job is due, in epoch milliseconds. */
  #lastDue = 0
  #hasTimer = false

  constructor(clock: Clock, wanted: (tenant: Tenant) => boolean, due: () => void) {
    this.#clock = clock
    this.#wanted = wanted
    this.#due = due
  }

  noted(
    address: DocumentAddress,
    _editors: readonly EditAuthor[] = [],
    trace: TraceContext | null = null,
  ): StartedWindows | null {
    if (!this.#wanted(address)) return null
    const at = this.#clock.now() + changeWindowMs
    this.#lastDue = at
    this.#schedule(changeWindowMs)
    const job =
      trace === null ? memoized(this.#jobs, address, () => changeJob(address)) : changeJob(address, trace)
    return { jobs: [{ ...job, at }], ...nothingToEnd }
  }

  #schedule(ms: number): void {
    if (this.#hasTimer) return
    this.#hasTimer = true
    this.#clock.after(ms + noticeDelayMs, () => {
      this.#hasTimer = false
      this.#due()
      const leftMs = this.#lastDue - this.#clock.now()
      if (leftMs > 0) this.#schedule(Math.min(leftMs, noticeEveryMs))
    })
  }
}

const nothingToEnd = { stored: () => {}, lost: () => {} }

/**
 * Time in ms after which the feed checks whether content was deleted, if the server was killed before it could
 * report the end of the deletion.
 */
const deletionCheckMs = 5_000

/** A deletion of the content of an editor. */
export interface ContentDeletion {
  readonly address: DocumentAddress
  readonly id: string
  /** Epoch of the content; null if the content is damaged. */
  readonly epoch: number | null
  readonly user: ActionUser
  /** Start of the deletion, in epoch milliseconds. */
  readonly at: number
}

/**
 * Returns the job that records the deletion of content in the feed. The feed ignores it while the content is there.
 * So one job must be added before the deletion, and another one after it.
 */
export function deletionJob(
  { address, id, epoch, user, at }: ContentDeletion,
  when: 'before' | 'after',
): Job {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = address
  const event: QueuedEvent = {
    id,
    type: 'crdt.delete_data',
    scope: { workspaceId, apiKey, organizationId },
    documentId,
    actionUser: user,
    data: { editorId, epoch },
    at,
    only: 'feed',
  }
  const job = eventJob(event)
  return when === 'after' ? job : { ...job, id: `${id} check`, at: at + deletionCheckMs }
}

/** Returns the job that records the change of an editor. Its event has no version yet. It is due immediately. */
export function changeJob(address: DocumentAddress, trace: TraceContext | null = null): Job {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = address
  const digest = createHash('sha256').update(editorName(address)).digest('base64url')
  const event: QueuedEvent = {
    id: `feed_${digest}`,
    type: 'crdt.update_data',
    scope: { workspaceId, apiKey, organizationId },
    documentId,
    actionUser: { userId: apiKey },
    data: { editorId },
    at: 0,
    only: 'feed',
    ...(trace !== null && { trace: toTraceHeaders(trace) }),
  }
  return eventJob(event)
}
