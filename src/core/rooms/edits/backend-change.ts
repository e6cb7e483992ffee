import { startSpan } from '../../base/current-trace.ts'
import { ApiError } from '../../base/errors.ts'
import { WorkLimitError } from '../../content/edit/work-limit.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { versionOf } from '../../model/version.ts'
import { runSpan } from '../../tracing/run-span.ts'
import type { TraceWriter } from '../../tracing/trace.ts'
import type { Room } from '../room/room.ts'
import { headConflict } from '../room/room-errors.ts'
import { whileAllowed } from '../updates/write-rights.ts'
import {
  checkStorage,
  commitEdit,
  type EditResult,
  type RestoreOptions,
  rejectWhenDurable,
  waitUntilDurable,
} from './edit-conditions.ts'

/** A change that was computed on a working copy and is not applied to the document yet. */
export interface ProposedChange<T> {
  /** Returns the result of the change. Called after the change was applied. */
  readonly result: () => T
  /** The update of the change; null if nothing changes. */
  readonly update: Uint8Array | null
  /** The author of the update, if it is not that of the change. */
  readonly by?: string | undefined
  /**
   * Returns whether the change is still valid, although the document may have changed since it was computed.
   * @throws ApiError if the document no longer permits the change; StaleRightError
   */
  readonly isCurrent: () => boolean
  /**
   * Applies the update to the document. Called in the tick in which `isCurrent` has returned true. Returns the part of
   * the update that the document lacked; null if it lacked nothing.
   */
  readonly apply: () => Uint8Array | null
}

/** A change that was made directly in the document, and is therefore already applied. */
export interface AppliedChange<T> extends Pick<ProposedChange<T>, 'result'> {
  readonly added: Uint8Array | null
}

/** A change by a backend: an edit, a replacement or a restoration. */
export interface BackendChange<T> {
  readonly by: string
  readonly options: RestoreOptions
  /** The place at which the change is computed, for a trace. */
  readonly runs?: 'event loop' | 'thread'
  /** True if other writes pause already during the first computation. */
  readonly pauses?: boolean
  /** Prepares the creation of the document, if the change creates it. Called before anything is computed. */
  readonly prepare?: (() => Promise<void>) | undefined
  /**
   * Makes the change directly in the document. Returns null, and changes nothing, if a working copy is
   * needed. Undefined if a working copy is always needed.
   */
  readonly inPlace?: (() => AppliedChange<T> | null) | undefined
  /**
   * Resolves the base version and computes the change on a working copy. Called again if the document has
   * changed in the meantime.
   */
  readonly compute: () => Promise<ProposedChange<T>>
  /** Called once, before the commit. `again`: the change had to be computed a second time. */
  readonly computed?: ((when: 'first' | 'again') => void) | undefined
}

/**
 * Maximum number of computations of one change while writes pause. A computation fails if an update that a thread was
 * already integrating is applied before it ends.
 */
const triesMax = 5

/**
 * Executes a change that a backend requests, in these steps: resolve base → compute → commit if unchanged →
 * apply → deliver.
 *
 * A change that can be made directly in the document needs no working copy and takes about half the time. Any other
 * change is computed on a working copy while writes continue. If the document has changed by then, the change is
 * computed again while writes pause. It is applied and appended in one tick.
 * @throws ApiError ABORTED if the document has changed each time; UNAVAILABLE; the errors of `compute`
 */
export function makeChange<T>(room: Room, change: BackendChange<T>): Promise<EditResult<T>> {
  const made = (): Promise<EditResult<T>> =>
    whileAllowed(change.options.right, () => rejectWhenDurable(room, () => attempt(room, change)))
  const trace = room.trace?.of(change.by)
  return trace === undefined ? made() : tracedChange(trace, change, made)
}

/** Runs a computation of a change with a span, if the call is traced and an exporter is configured. */
const spanned = <R>(runs: string, work: () => R): R =>
  runSpan(startSpan('weft.compute', { 'weft.runs': runs }), work)

async function tracedChange<T>(
  trace: TraceWriter,
  { by, runs, options }: BackendChange<T>,
  made: () => Promise<EditResult<T>>,
): Promise<EditResult<T>> {
  const userId = knownUser(by)
  trace('change_started', { userId, runs, dryRun: options.dryRun === true })
  try {
    const changed = await made()
    const { bytes, version, result } = changed
    trace('change_applied', { userId, bytes, version, ...planOf(result) })
    return changed
  } catch (error) {
    trace('change_rejected', { userId, code: error instanceof ApiError ? error.code : 'unknown' })
    throw error
  }
}

/**
 * Returns the numbers of insertions and deletions of a replacement or a restoration. The result of any other
 * change is a state vector; for it, returns an empty object.
 */
function planOf(result: unknown): Pick<Partial<ReplacementResult>, 'insertions' | 'deletions'> {
  if (result instanceof Uint8Array) return {}
  const { insertions, deletions } = result as ReplacementResult
  return { insertions, deletions }
}

const knownUser = (by: string): string | undefined => (by === '' ? undefined : by)

/**
 * Traces how long a change has waited for the lock.
 * @param since start of the wait, on the clock of `performance.now`
 */
function traceLock<T>(room: Room, { by }: BackendChange<T>, since: number): void {
  if (room.trace === undefined) return
  room.trace.of(by)?.('change_locked', {
    userId: knownUser(by),
    waitMs: Math.round(performance.now() - since),
  })
}

/** @throws ApiError PERMISSION_DENIED if an agent would change protected content; the errors of `compute` */
async function computed<T>(
  room: Room,
  { runs = 'event loop', compute, options: { right } }: BackendChange<T>,
): Promise<ProposedChange<T>> {
  const proposal = await spanned(runs, compute)
  const { update, isCurrent } = proposal
  const names = right?.protects ?? []
  if (update === null || names.length === 0) return proposal
  const { version } = room.commits
  await room.dependencies.threads.use(room.address, async (thread) =>
    thread.run({ is: 'protect', updates: await room.updatesOf(version, true), update, names }),
  )
  const isUnchanged = (): boolean => versionOf(room.commits.version) === versionOf(version)
  // The first call reads the updates that have arrived.
  return { ...proposal, isCurrent: () => isCurrent() && isUnchanged() }
}

async function attempt<T>(room: Room, change: BackendChange<T>): Promise<EditResult<T>> {
  await change.prepare?.()
  // The content that an agent must not change is compared in a working copy.
  const isProtected = (change.options.right?.protects ?? []).length > 0
  if (change.inPlace !== undefined && !isProtected) {
    const since = performance.now()
    while (room.lock.held !== null || room.isCrowded) await (room.lock.held ?? room.uncrowded())
    traceLock(room, change, since)
    // From here to the commit there is no await, so that other callers that waited for the same lock find the
    // changed document.
    const applied = spanned('in place', change.inPlace)
    if (applied !== null) return committed(room, change, applied)
  }
  if (change.pauses === true) return whilePaused(room, change, null)
  const first = await computed(room, change)
  if (change.options.dryRun === true) {
    change.computed?.('first')
    return foundOut(room, change, first)
  }
  const isCurrent = (): boolean => room.lock.held === null && first.isCurrent()
  const made = await commitInTick(room, change, { ...first, isCurrent }, 'first')
  return made === null ? whilePaused(room, change, first) : made.result
}

/** @param first the change as it was computed while writes continued; null if it was not computed yet */
async function whilePaused<T>(
  room: Room,
  change: BackendChange<T>,
  first: ProposedChange<T> | null,
): Promise<EditResult<T>> {
  const since = performance.now()
  const release = await room.pauseIncoming()
  traceLock(room, change, since)
  try {
    const early = first === null ? null : await commitInTick(room, change, first, 'first')
    if (early !== null) return early.result
    for (let tries = 1; tries <= triesMax; tries += 1) {
      const proposal = await computed(room, change)
      const made = await commitInTick(room, change, proposal, first === null ? 'first' : 'again')
      if (made !== null) return made.result
    }
  } finally {
    release()
  }
  throw headConflict()
}

/** A change that is applied. `result` resolves when it is durable. */
interface Committed<T> {
  readonly result: Promise<EditResult<T>>
}

/**
 * Applies a change and appends it, in the share that the workspace has of a tick. Resolves with null, and changes
 * nothing, if the document has changed so that the change is not valid.
 */
async function commitInTick<T>(
  room: Room,
  change: BackendChange<T>,
  proposal: ProposedChange<T>,
  when: 'first' | 'again',
): Promise<Committed<T> | null> {
  for (;;) {
    await room.uncrowded()
    const made = await room.dependencies.tickScheduler.run(room.workspaceId, () => {
      // Other documents may have used up what the disk had room for.
      if (room.isCrowded) return 'crowded'
      if (!proposal.isCurrent()) return null
      change.computed?.(when)
      return { result: commitHere(room, change, proposal) }
    })
    if (made !== 'crowded') return made
  }
}

/** Applies a change and appends it in the same tick. */
function commitHere<T>(
  room: Room,
  change: BackendChange<T>,
  { result, update, apply, by = change.by }: ProposedChange<T>,
): Promise<EditResult<T>> {
  checkStorage(change.options, update)
  const added = update === null ? null : failUnlessRejected(room, apply)
  return committed(room, { ...change, by }, { result, added })
}

/** Appends an applied change. Resolves when it is durable and sent. */
async function committed<T>(
  room: Room,
  { by, options }: BackendChange<T>,
  { result, added }: AppliedChange<T>,
): Promise<EditResult<T>> {
  commitEdit(room, by, options, added)
  return { ...(await waitUntilDurable(room, result())), bytes: added?.length ?? 0 }
}

/**
 * Resolves with the result of a dry run, when the state of the document that the dry run has read is durable.
 */
async function foundOut<T>(
  room: Room,
  { options }: BackendChange<T>,
  { result, update }: ProposedChange<T>,
): Promise<EditResult<T>> {
  checkStorage(options, update)
  return { ...(await waitUntilDurable(room, result())), bytes: update?.length ?? 0 }
}

/**
 * Runs `work`, which edits the document. If `work` throws an ApiError or a WorkLimitError, the document is
 * unchanged, and the room continues. Any other error may leave half an edit in the document, so the room ends.
 */
export function failUnlessRejected<T>(room: Room, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof WorkLimitError)) room.fail(error)
    throw error
  }
}
