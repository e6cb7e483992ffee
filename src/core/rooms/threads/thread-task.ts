import { setImmediate as nextTick } from 'node:timers/promises'
import * as Y from 'yjs'
import { ApiError, type ErrorCode } from '../../base/errors.ts'
import { MalformedJsonError } from '../../base/json.ts'
import { type ComparedBranch, compareBranch } from '../../content/branches/branch-hunks.ts'
import { decideHunks, type HunkDecision } from '../../content/branches/decide-hunks.ts'
import { followMain, type MainChanges } from '../../content/branches/follow-main.ts'
import { type AnchorAnswers, type AnchorQueries, lookUpAnchors } from '../../content/edit/anchors.ts'
import { FreshCopy } from '../../content/fresh-copy.ts'
import { type Archive, Generations } from '../../content/generations/generations.ts'
import { movePositions } from '../../content/generations/move-positions.ts'
import { type PrunedState, pruneState } from '../../content/generations/prune-state.ts'
import { type Rebased, rebase } from '../../content/generations/rebase.ts'
import { answerHistory, type HistoryAnswer, type HistoryQuery } from '../../content/history/history-query.ts'
import { type InitialContent, readInitialContent } from '../../content/initial-content.ts'
import type { OverlapPolicy } from '../../content/merge/overlap.ts'
import { expectProtected } from '../../content/protected-ranges.ts'
import {
  type DocumentReading,
  type EncodedContent,
  readStateEncoded,
  withState,
} from '../../content/read-document.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { type CheckedChange, checkChange, encodeData, type RootChange } from '../../content/root-change.ts'
import {
  expectMatch,
  type NamedSchema,
  type RootSchema,
  schemaOf,
} from '../../content/schemas/content-schema.ts'
import {
  type FoundStreamPlace,
  findStreamPlace,
  type StreamPlaceRequest,
} from '../../content/stream/stream-place.ts'
import { type StreamWriter, stepInCopy, type WriterStep } from '../../content/stream/stream-writing.ts'
import { type AnsweredText, answerTextQuery, type TextQuery } from '../../content/text-query.ts'
import { baseVersionExpired } from '../../model/version.ts'
import { decodeAttribution } from '../../update/attribution/attribution-codec.ts'
import { checkPlaces } from '../../update/check-places.ts'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'
import { splitUpdate } from '../../update/split-update.ts'
import {
  type ClientClock,
  DocumentState,
  type PlacedBatch,
  type PlacedIntegration,
  placementsIn,
} from '../document/document-state.ts'
import { bytesPerTick, documentStepsMax, structsPerTick } from '../document/integration-limits.ts'
import { tooExpensive } from '../document/unreadable-documents.ts'
import type { PlacedDocument } from '../log/load-room.ts'
import { DocumentRejectedError, type Merged, mergeStored } from '../log/merge-stored.ts'
import {
  applyWithinLimit,
  changeAndMerge,
  changeWithinLimit,
  documentTooLarge,
  restoreIn,
} from './size-check.ts'

/** The content of a document: a snapshot (or an empty update) and the updates after it. */
interface DocumentUpdates {
  readonly updates: readonly Uint8Array[]
}

/** A whole state (V1) as the only update. */
interface WholeState {
  readonly updates: readonly [Uint8Array]
}

/** A change of a copy of a document. */
export interface EditTask extends DocumentUpdates {
  /**
   * Client ids that the task may write with. The task uses the first id whose clock is the same in the copy. If
   * no clock is the same, it uses a new client id.
   */
  readonly writers: readonly ClientClock[]
  /** Maximum encoded size of the document in bytes. */
  readonly documentBytesMax: number
  /**
   * Whether the result contains the whole state of the document after the change. `ifDear`: only if reading this
   * state takes less time than applying the update of the change.
   */
  readonly state: 'always' | 'ifDear' | 'never'
  /** As in `StateOptions`. Default: false. */
  readonly isBounded?: boolean | undefined
}

/** A change of a copy of the present document. */
export interface PresentEdit extends EditTask {
  /** The schema that the result must match where it changes; null without one. */
  readonly schema: RootSchema | null
}

/** A change that was made in a copy of a document. */
export interface CopyEdit {
  readonly change: ReplacementResult
  /** The update (V1) of the change; null if nothing changes. */
  readonly update: Uint8Array | null
  /** True if the change deletes content of the document that was copied. */
  readonly deletes: boolean
  /**
   * The whole state (V1) of the document after the change, if the room should use this state instead of
   * applying the update; otherwise null.
   */
  readonly state: Uint8Array | null
  /** The client id with which the update was written, and its clock before the update. */
  readonly writer: ClientClock
}

interface ReplaceTask extends EditTask {
  readonly change: RootChange
  /** The change if it was checked already; it cannot be sent to a thread. */
  readonly checked?: CheckedChange | null
  /**
   * With `merge`, the first `pastCount` of the updates are those of an older version. The change is made for
   * it, and merged into the document, which the other updates have. `lastPrune`: the client id of the copies of the last
   * prune; null without one. The version must be later.
   */
  readonly merge?:
    | {
        readonly pastCount: number
        readonly onOverlap: OverlapPolicy
        readonly lastPrune: number | null
      }
    | undefined
}

interface PlaceTask extends DocumentUpdates {
  readonly update: Uint8Array
  /** False if the event loop would have to create the Y.Doc of a large document to apply the update. */
  readonly isOpen: boolean
  /** The schema that the result must match. */
  readonly schema: RootSchema | null
}

/** The last `count` of the updates are integrated into the document of the others, one after the other. */
interface PlaceAllTask extends DocumentUpdates {
  readonly count: number
}

interface ReadTask extends WholeState {
  readonly reading: DocumentReading
  /** Maximum bytes of the encoded content. */
  readonly bytesMax: number
}

/** One step of a stream. */
interface StreamTask extends DocumentUpdates {
  readonly writer: StreamWriter
  readonly step: WriterStep
}

interface CopyTask extends WholeState {
  /** As `encodeAttribution` returns it. */
  readonly attribution: Uint8Array
  readonly anchors: AnchorQueries['show']
}

/** `updates`: the updates of the earlier version, then those up to the later version, then those after it. */
interface HistoryTask extends DocumentUpdates {
  /** Numbers of updates of the earlier version, and after it up to the later version. */
  readonly counts: readonly [from: number, to: number]
  /** As `encodeAttribution` returns it. */
  readonly attribution: Uint8Array
  readonly query: HistoryQuery
}

/** A whole state (V1), and the content that prunes and rebases have replaced. */
interface GenerationsTask extends WholeState {
  readonly archives: readonly Archive[]
  /** The replaced items that are needed, by the client id of their archive; see `GenerationStore`. */
  readonly items: ReadonlyMap<number, Uint8Array>
}

/** The tasks by name. All parameters and results can be sent to a thread. */
const tasks = {
  check: ({ change }: { readonly change: RootChange }): undefined => void checkChange(change),
  replace,
  /** Restores the content of `past`, a whole state (V1). */
  restore: (task: PresentEdit & { readonly past: Uint8Array }): CopyEdit =>
    editPresent(task, (copy) => restoreIn(copy, task.past)),
  /** Makes a decision on hunks of a branch. */
  decide: (task: PresentEdit & { readonly decision: HunkDecision }): CopyEdit =>
    editPresent(task, (copy) => decideHunks(copy.doc, copy.encode(), task.decision)),
  /** Applies changes of the main editor to a branch. */
  follow: (task: PresentEdit & { readonly changes: MainChanges }): CopyEdit =>
    editPresent(task, (copy) => followMain(copy.doc, copy.encode(), task.changes)),
  /** Compares a branch with its main editor. `updates`: their whole states (V1). */
  compare: ({
    updates,
  }: {
    readonly updates: readonly [main: Uint8Array, branch: Uint8Array]
  }): ComparedBranch => compareBranch(...updates),
  read: ({ updates: [bytes], reading, bytesMax }: ReadTask): EncodedContent =>
    readStateEncoded(bytes, reading, bytesMax),
  anchors: ({ updates: [bytes], queries }: WholeState & { readonly queries: AnchorQueries }): AnchorAnswers =>
    withState(bytes, (doc) => lookUpAnchors(doc, queries)),
  streamPlace: ({
    updates: [bytes],
    request,
    schema,
  }: WholeState & {
    readonly request: StreamPlaceRequest
    readonly schema: NamedSchema | null
  }): FoundStreamPlace =>
    withState(bytes, (doc) => findStreamPlace(doc, request, schema === null ? null : schemaOf(schema))),
  stream: (task: StreamTask): Pick<CopyEdit, 'change' | 'update'> => {
    const copy = stateOf(task)
    const { result, added } = copy.edit(() => stepInCopy(copy.doc, task.writer, task.step))
    return { change: result, update: added }
  },
  history: ({ updates, counts: [from, to], attribution, query }: HistoryTask): HistoryAnswer => {
    const after = updates.slice(from + to)
    const parts = { from: updates.slice(0, from), to: updates.slice(from, from + to), after }
    return answerHistory(parts, decodeAttribution(attribution), query)
  },
  /** Merges the updates of one document of an import. `merged` is null if it is rejected; `problem` is the reason. */
  merge: ({ updates }: DocumentUpdates): { readonly merged: Merged | null; readonly problem: string } => {
    try {
      return { merged: mergeStored(updates), problem: '' }
    } catch (error) {
      if (!(error instanceof DocumentRejectedError)) throw error
      return { merged: null, problem: error.message }
    }
  },
  /**
   * Parses the response of a backend (JSON in UTF-8). `content` is null if it has the wrong form; `problem` is the
   * reason. The data of a target is encoded.
   */
  parse: ({
    json,
  }: {
    readonly json: Uint8Array
  }): { readonly content: InitialContent | null; readonly problem: string } => {
    try {
      const content = readInitialContent(json)
      const isTarget = content.kind === 'target'
      return { content: isTarget ? { ...content, target: encodeData(content.target) } : content, problem: '' }
    } catch (error) {
      if (!(error instanceof MalformedJsonError)) throw error
      return { content: null, problem: error.message }
    }
  },
  /** Answers a query about a response of `/v2/crdt/get` (JSON in UTF-8); see `answerTextQuery`. */
  text: ({
    json,
    query,
    charactersMax,
  }: {
    readonly json: Uint8Array
    readonly query: TextQuery
    readonly charactersMax: number
  }): AnsweredText | 'too long' | null => answerTextQuery(json, query, charactersMax),
  /** Copies a document under a new client id, with its authors and anchors. `bytes`: the whole state (V1) of the copy. */
  copy: ({ updates: [bytes], attribution, anchors }: CopyTask) =>
    withState(bytes, (doc) => {
      const copy = new FreshCopy(doc)
      return {
        bytes: Y.encodeStateAsUpdate(copy.doc),
        attribution: copy.attribution(decodeAttribution(attribution)),
        anchors: copy.anchors(anchors),
      }
    }),
  /** Splits a whole state into updates for single ticks of an event loop; see `splitUpdate`. */
  split: ({ updates: [bytes] }: WholeState): readonly Uint8Array[] =>
    splitUpdate(bytes, structsPerTick, bytesPerTick),
  /** Reads a document whose conflict scans are too expensive for an event loop. */
  open: (task: DocumentUpdates): PlacedDocument => {
    const state = stateOf(task).encode()
    return { state, placements: placementsIn(state) }
  },
  prune: ({ updates: [bytes], archives }: Omit<GenerationsTask, 'items'>): PrunedState =>
    pruneState(bytes, new Generations(archives)),
  rebase: rebaseEdit,
  /** Moves positions to the present generation; see `movePositions`. */
  movePositions: ({
    updates: [bytes],
    archives,
    items,
    positions,
  }: GenerationsTask & { readonly positions: readonly string[] }): readonly string[] =>
    movePositions(new Generations(archives), items, bytes, positions),
  /** Integrates an update whose conflict scans are too expensive for an event loop into a document. */
  place,
  /** Integrates several such updates. */
  placeAll,
  /** Checks that an update does not change the content that `names` protect. */
  protect: ({
    updates,
    update,
    names,
  }: DocumentUpdates & { readonly update: Uint8Array; readonly names: readonly string[] }): undefined => {
    const copy = stateOf({ updates })
    const check = expectProtected(copy.doc, names)
    copy.integrateOwn(update)
    check()
  },
}

export type TaskName = keyof typeof tasks
export type TaskOf<Name extends TaskName> = { readonly is: Name } & Parameters<(typeof tasks)[Name]>[0]
export type ResultOf<Name extends TaskName> = ReturnType<(typeof tasks)[Name]>
export type ThreadTask = { [Name in TaskName]: TaskOf<Name> }[TaskName]

const tasksByName: { readonly [Name in TaskName]: (task: TaskOf<Name>) => ResultOf<Name> } = tasks

/** Runs a task on this thread. @throws the errors of the task */
export function runTask<Name extends TaskName>(task: TaskOf<Name>): ResultOf<Name> {
  const { is }: { readonly is: Name } = task
  return tasksByName[is](task)
}

/** Returns the number of bytes of the documents, or of the JSON, that a task reads. */
export function taskBytes(task: ThreadTask): number {
  if ('json' in task) return task.json.length
  const updates = 'updates' in task ? task.updates : []
  const items = 'items' in task ? task.items.values() : []
  return [...updates, ...items].reduce((sum, { length }) => sum + length, 0)
}

/**
 * The outcome of a task on a thread: its result, or the members of the ApiError that has rejected it, because a thread
 * cannot send instances of classes.
 */
export type ThreadOutcome =
  | { readonly is: 'done'; readonly result: unknown }
  | {
      readonly is: 'refused'
      readonly code: ErrorCode
      readonly message: string
      readonly details: Record<string, unknown> | undefined
      readonly retryAfterSeconds: number | undefined
    }

/** Runs a task for another thread. @throws all errors except ApiErrors, which are bugs of the server */
export function outcomeOf(task: ThreadTask): ThreadOutcome {
  try {
    return { is: 'done', result: runTask(task) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, details, retryAfterSeconds } = error
    return { is: 'refused', code, message, details, retryAfterSeconds }
  }
}

/** Returns the result of a task. @throws ApiError with the reason, if the task was rejected */
export function taskResult<Name extends TaskName>(outcome: ThreadOutcome): ResultOf<Name> {
  if (outcome.is === 'done') return outcome.result as ResultOf<Name>
  const { code, message, details, retryAfterSeconds: after } = outcome
  throw new ApiError(code, message, {
    ...(details !== undefined && { details }),
    ...(after !== undefined && { retryAfterSeconds: after }),
  })
}

/**
 * Returns the buffers of a result that are transferred instead of copied: all buffers that contain nothing
 * else. A receiver would copy a large buffer in one step of its event loop.
 */
export function buffersOf(result: unknown): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  addBuffers(result, buffers)
  return [...buffers]
}

function addBuffers(value: unknown, buffers: Set<ArrayBuffer>): void {
  if (typeof value !== 'object' || value === null) return
  if (value instanceof Uint8Array) {
    if (value.buffer instanceof ArrayBuffer && value.length === value.buffer.byteLength)
      buffers.add(value.buffer)
  } else if (!Array.isArray(value) || typeof value[0] === 'object')
    for (const member of Object.values(value)) addBuffers(member, buffers)
}

function replace(task: ReplaceTask): CopyEdit {
  const { merge, updates, documentBytesMax: bytesMax, isBounded } = task
  const checked = task.checked ?? checkChange(task.change)
  if (merge === undefined) return edit(task, (copy) => applyWithinLimit(copy, checked, bytesMax))
  const { pastCount, onOverlap, lastPrune } = merge
  const past = stateOf({ updates: updates.slice(0, pastCount), isBounded })
  if (lastPrune !== null && !past.doc.store.clients.has(lastPrune)) throw baseVersionExpired()
  const copy = stateOf({ updates: updates.slice(pastCount), isBounded })
  const writer = past.writeAs(task.writers)
  copy.doc.clientID = writer.client
  const { result: change, ...made } = changeAndMerge([past, copy], checked, { onOverlap, bytesMax })
  return copyEdit(task, copy, writer, { change, ...made })
}

const editPresent = (task: PresentEdit, work: (copy: DocumentState) => ReplacementResult): CopyEdit =>
  edit(task, (copy) => changeWithinLimit(copy, task, () => work(copy)))

function edit(task: EditTask, work: (copy: DocumentState) => ReplacementResult): CopyEdit {
  const copy = stateOf(task)
  const writer = copy.writeAs(task.writers)
  const { result: change, added: update, ...made } = copy.edit(() => work(copy))
  return copyEdit(task, copy, writer, { change, update, ...made })
}

function copyEdit(
  task: EditTask,
  copy: DocumentState,
  writer: ClientClock,
  made: Pick<CopyEdit, 'change' | 'update' | 'deletes'> & { readonly isDear: boolean },
): CopyEdit {
  const { change, update, deletes, isDear } = made
  const isWanted = task.state === 'always' || (task.state === 'ifDear' && isDear)
  const state = update !== null && isWanted ? copy.encode() : null
  return { change, update, deletes, state, writer }
}

function place({ updates, update, schema, isOpen }: PlaceTask): PlacedIntegration {
  const copy = stateOf({ updates })
  copy.check()
  const stepsMax = documentStepsMax(copy.sizeBytes + update.length)
  try {
    checkPlaces(update, copy.doc)
    const check = expectMatch(copy.doc, schema)
    const placed = copy.placeItems(update, stepsMax)
    const warnings = placed.gap ? [] : check()
    const state = placed.added !== null && (placed.isDear || !isOpen) ? copy.encode() : null
    return { ...placed, state, problem: null, warnings }
  } catch (error) {
    if (error instanceof IntegrationTooExpensiveError) throw tooExpensive(stepsMax)
    if (!(error instanceof MalformedUpdateError)) throw error
    const nothing = { added: null, gap: false, isDear: false, placements: [], state: null, warnings: [] }
    return { ...nothing, problem: error.message }
  }
}

/** Integrates all updates that are not malformed. Throws if they are too expensive together. */
function placeAll({ updates, count }: PlaceAllTask): PlacedBatch {
  const copy = stateOf({ updates: updates.slice(0, -count) })
  const batch = updates.slice(-count)
  copy.check()
  const stepsMax = documentStepsMax(batch.reduce((sum, { length }) => sum + length, copy.sizeBytes))
  try {
    const placed = batch.map((update) => {
      const problem = problemOf(update, copy.doc)
      if (problem !== null) return { added: null, gap: false, problem }
      const { added, gap } = copy.placeItems(update, stepsMax)
      return { added, gap, problem }
    })
    return { placed, state: copy.encode() }
  } catch (error) {
    // The caller then integrates them one by one.
    const isOfUpdate = error instanceof IntegrationTooExpensiveError || error instanceof MalformedUpdateError
    throw isOfUpdate ? tooExpensive(stepsMax) : error
  }
}

/** Returns the reason why the new items of an update may not have their places; null if they may. */
function problemOf(update: Uint8Array, doc: Y.Doc): string | null {
  try {
    checkPlaces(update, doc)
    return null
  } catch (error) {
    if (error instanceof MalformedUpdateError) return error.message
    throw error
  }
}

/**
 * Applies an edit of an earlier generation to the present one; see `rebase`. `problem`: the reason why the update is
 * malformed.
 */
function rebaseEdit(
  task: GenerationsTask & { readonly update: Uint8Array; readonly documentBytesMax: number },
): Rebased | 'incomplete' | null | { readonly problem: string } {
  const { updates, archives, items, update, documentBytesMax: bytesMax } = task
  const [bytes] = updates
  const readBytes = [bytes, ...items.values(), update].reduce((sum, { length }) => sum + length, 0)
  // Both documents are read.
  const stepsMax = 2 * documentStepsMax(readBytes)
  try {
    const rebased = rebase(new Generations(archives), items, bytes, update, stepsMax)
    if (rebased === null || rebased === 'incomplete') return rebased
    const { length } = rebased.state
    if (length > bytesMax && length > bytes.length) throw documentTooLarge(length, bytesMax)
    return rebased
  } catch (error) {
    if (error instanceof IntegrationTooExpensiveError) throw tooExpensive(stepsMax)
    if (error instanceof MalformedUpdateError) return { problem: error.message }
    throw error
  }
}

function stateOf({
  updates: [snapshot, ...entries],
  isBounded = false,
}: Pick<EditTask, 'updates' | 'isBounded'>): DocumentState {
  const state = DocumentState.fromBytes(snapshot ?? null, { isBounded })
  state.applyPlain(entries.map((bytes) => ({ bytes })))
  return state
}

/** Updates (V1) in one buffer. A thread gets many small updates in this form, because each buffer costs time. */
export interface PackedUpdates {
  /** All updates, one after the other. It has a buffer of its own. */
  readonly bytes: Uint8Array
  /** Number of bytes of each update. */
  readonly lengths: Uint32Array
}

/** Maximum bytes that are copied in one tick of the event loop. */
const copiedPerTick = 1_000_000

/** Copies updates into one buffer, in several ticks of the event loop if they are large. */
export async function packUpdates(updates: readonly Uint8Array[]): Promise<PackedUpdates> {
  const lengths = Uint32Array.from(updates, ({ length }) => length)
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
  let end = 0
  let pauseAt = copiedPerTick
  for (const update of updates)
    for (let start = 0; start < update.length; ) {
      const part = update.subarray(start, start + pauseAt - end)
      bytes.set(part, end)
      start += part.length
      end += part.length
      if (end < pauseAt) continue
      pauseAt += copiedPerTick
      await nextTick()
    }
  return { bytes, lengths }
}

/** Returns the updates, which are views into the buffer. */
export function unpackUpdates({ bytes, lengths }: PackedUpdates): Uint8Array[] {
  let end = 0
  return Array.from(lengths, (length) => {
    end += length
    return bytes.subarray(end - length, end)
  })
}
