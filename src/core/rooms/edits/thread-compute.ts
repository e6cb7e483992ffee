import { ApiError } from '../../base/errors.ts'
import type { HunkDecision } from '../../content/branches/decide-hunks.ts'
import type { MainChanges } from '../../content/branches/follow-main.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import type { PreparedChange } from '../../content/root-change.ts'
import type { NamedSchema } from '../../content/schemas/content-schema.ts'
import type { StreamWriter } from '../../content/stream/stream-writing.ts'
import type { Version } from '../../model/version.ts'
import { type ClientClock, emptyUpdate } from '../document/document-state.ts'
import { loadVersionUpdates } from '../log/version-content.ts'
import type { PooledThread } from '../threads/thread-pool.ts'
import type { ThreadEdit, ThreadTask } from '../threads/thread-task.ts'
import {
  baseVersionExpired,
  beginEdit,
  copySizeMax,
  type EditContext,
  type EditPrecondition,
  presentVersion,
  type ReplaceOptions,
  type RestoreOptions,
  resolveBase,
  waitUntilDurable,
} from './edit-context.ts'

/** A change that was computed on a copy of the document and is not in the document yet. */
export interface ComputedEdit {
  readonly change: ReplacementResult
  readonly update: Uint8Array | null
  /** True if the change deletes content of the version for which it was computed. */
  readonly deletes: boolean
  /**
   * The whole state (V1) of the document after the change, if the room should use this state instead of
   * applying the update; otherwise null.
   */
  readonly state: Uint8Array | null
  /** The version for which the change was computed. It must still be the current one. */
  readonly version: Version
  /** The client id with which the update was written, and its clock before the update. */
  readonly writer: ClientClock
  /** Milliseconds in which a thread has created the Y.Doc; absent if no thread has. */
  readonly loadMs?: number
}

/** Computes a change on a thread. @throws ApiError if the change or the options are rejected */
export async function computeOnThread(
  room: EditContext,
  thread: PooledThread,
  prepared: PreparedChange,
  options: ReplaceOptions,
): Promise<ComputedEdit> {
  const base = await begun(room, thread, prepared, options)
  const past = base === null ? [] : await updatesOf(room, base, false)
  const version = presentVersion(room)
  const present = await updatesOf(room, version, true)
  const copied = base === null ? present : past
  const outcome = await thread.run({
    is: 'replace',
    change: prepared.change,
    updates: [...past, ...present],
    merge: base === null ? undefined : { pastCount: past.length, onOverlap: options.onOverlap ?? 'report' },
    writers: room.state.mergers,
    documentBytesMax: copySizeMax(
      room,
      copied.reduce((sum, { length }) => sum + length, 0),
    ),
    state: stateWanted(room, options.dryRun === true),
  })
  if (outcome.is !== 'replaced')
    throw new TypeError(`the thread returned an unexpected result for a replacement: ${outcome.is}`)
  const { change, update, deletes, state, writer, loadMs } = outcome
  return { change, writer, update, deletes, state, version, ...(base === null && { loadMs }) }
}

/**
 * Computes a restoration of the content of `past`, a whole state (V1), on a thread.
 * @throws ApiError as for `beginEdit`
 */
export function restoreOnThread(
  room: EditContext,
  thread: PooledThread,
  past: Uint8Array,
  options: RestoreOptions,
): Promise<ComputedEdit> {
  const schema = options.rootSchema ?? null
  // `past` may be a view into a larger buffer. Without a copy, the whole buffer would be sent to the thread.
  const copied = new Uint8Array(past)
  return ofPresent(room, thread, options, (edit) => ({ ...edit, is: 'restore', past: copied, schema }))
}

/**
 * Makes a decision on hunks of a branch on a thread.
 * @throws ApiError as for `beginEdit`
 */
export function decideOnThread(
  room: EditContext,
  thread: PooledThread,
  decision: HunkDecision,
  options: RestoreOptions,
): Promise<ComputedEdit> {
  const schema = options.rootSchema ?? null
  // Copied as in `restoreOnThread`.
  const copied = { ...decision, other: new Uint8Array(decision.other) }
  return ofPresent(room, thread, options, (edit) => ({
    ...edit,
    is: 'decide',
    decision: copied,
    writers: writersFor(room, decision),
    schema,
  }))
}

/**
 * Applies changes of the main editor to a branch on a thread.
 * @throws ApiError as for `beginEdit`
 */
export function followOnThread(
  room: EditContext,
  thread: PooledThread,
  { base, updates }: MainChanges,
  options: RestoreOptions,
): Promise<ComputedEdit> {
  // Copied as in `restoreOnThread`.
  const changes = {
    base: base === null ? null : new Uint8Array(base),
    updates: updates.map((bytes) => new Uint8Array(bytes)),
  }
  return ofPresent(room, thread, options, (edit) => ({ ...edit, is: 'follow', changes }))
}

/** Makes a change that is valid for the present version only, on a thread. */
async function ofPresent(
  room: EditContext,
  thread: PooledThread,
  options: RestoreOptions,
  taskOf: (edit: ThreadEdit) => ThreadTask,
): Promise<ComputedEdit> {
  beginEdit(room, options)
  const version = presentVersion(room)
  const task = taskOf({
    updates: await updatesOf(room, version, true),
    writers: room.state.mergers,
    documentBytesMax: room.documentBytesMax,
    state: stateWanted(room, options.dryRun === true),
  })
  const outcome = await thread.run(task)
  if (outcome.is !== 'replaced')
    throw new TypeError(`the thread returned an unexpected result for ${task.is}: ${outcome.is}`)
  const { change, update, deletes, state, writer } = outcome
  return { change, writer, update, deletes, state, version }
}

/**
 * Writes the next part of a stream in a copy of the current document on a thread. Resolves with the update (V1); null if
 * nothing changes.
 * @throws ApiError as for `beginEdit` and `writeInCopy`
 */
export async function streamOnThread(
  room: EditContext,
  thread: PooledThread,
  part: { readonly writer: StreamWriter; readonly text: string; readonly schema: NamedSchema | null },
  options: EditPrecondition,
): Promise<{ readonly change: ReplacementResult; readonly update: Uint8Array | null }> {
  beginEdit(room, options)
  const updates = await updatesOf(room, presentVersion(room), true)
  const outcome = await thread.run({ is: 'stream', updates, ...part })
  if (outcome.is !== 'streamed')
    throw new TypeError(`the thread returned an unexpected result for a stream: ${outcome.is}`)
  return outcome
}

/** Returns the clients with which a decision on hunks can be written. */
export const writersFor = ({ state }: EditContext, { client }: HunkDecision): readonly ClientClock[] =>
  client === undefined ? state.mergers : [{ client, clock: 0 }]

/**
 * Checks the preconditions of the change, and returns its base version. If a check fails, also checks the
 * content on the thread, so that problems of the content are reported first.
 */
async function begun(
  room: EditContext,
  thread: PooledThread,
  { change, checked }: PreparedChange,
  options: ReplaceOptions,
): Promise<Version | null> {
  try {
    beginEdit(room, options)
    return resolveBase(room, options)
  } catch (error) {
    if (checked === null) await thread.run({ is: 'check', change })
    throw error
  }
}

/**
 * Returns the updates (V1) that make up the document at a version. For the current version, returns the bytes
 * in the room if there are any; otherwise reads the log.
 * @param isPresent true if `version` is the current version
 */
export async function updatesOf(
  room: EditContext,
  version: Version,
  isPresent: boolean,
): Promise<readonly Uint8Array[]> {
  const { commits, log, doc, state } = room
  const atHand = isPresent ? state.bytes : null
  if (atHand !== null) return [atHand]
  if (commits.existence !== 'live') return [emptyUpdate]
  await waitUntilDurable(room, null)
  const updates = await loadVersionUpdates(log, doc, version)
  if (updates === null) throw isPresent ? gone() : baseVersionExpired()
  return updates
}

const stateWanted = ({ state }: EditContext, isCopy: boolean): 'always' | 'ifDear' | 'never' => {
  if (isCopy) return 'never'
  return state.bytes === null ? 'ifDear' : 'always'
}

const gone = (): ApiError =>
  new ApiError('crdt/document-changed', 'the document was deleted or created again; try again')
