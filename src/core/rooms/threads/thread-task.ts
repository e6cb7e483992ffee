import { ApiError, type ErrorCode } from '../../base/errors.ts'
import { MalformedJsonError } from '../../base/json.ts'
import { type ComparedBranch, compareBranch } from '../../content/branches/branch-hunks.ts'
import type { HunkDecision } from '../../content/branches/decide-hunks.ts'
import type { MainChanges } from '../../content/branches/follow-main.ts'
import { type AnchorAnswers, type AnchorQueries, lookUpAnchors } from '../../content/edit/anchors.ts'
import { answerHistory, type HistoryAnswer, type HistoryQuery } from '../../content/history/history-query.ts'
import { type InitialContent, readInitialContent } from '../../content/initial-content.ts'
import type { OverlapPolicy } from '../../content/merge/overlap.ts'
import {
  type DocumentReading,
  type EncodedContent,
  readStateEncoded,
  withState,
} from '../../content/read-document.ts'
import { type AnsweredText, answerTextQuery, type TextQuery } from '../../content/reading/text-query.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { checkChange, encodeData, type RootChange } from '../../content/root-change.ts'
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
import { type StreamWriter, writeInCopy } from '../../content/stream/stream-writing.ts'
import { decodeAttribution } from '../../update/attribution/attribution-codec.ts'
import { IntegrationTooExpensiveError } from '../../update/integration.ts'
import { MalformedUpdateError } from '../../update/malformed.ts'
import { checkMapEntries } from '../../update/map-entries.ts'
import { checkNesting } from '../../update/nesting.ts'
import { readUpdate } from '../../update/read-update.ts'
import { splitUpdate } from '../../update/split-update.ts'
import {
  type ClientClock,
  DocumentState,
  type PlacedIntegration,
  placementsIn,
} from '../document/document-state.ts'
import { tooExpensive } from '../document/expensive-documents.ts'
import { documentStepsMax, structsPerTick } from '../document/integration-limits.ts'
import type { PlacedDocument } from '../log/load-room.ts'
import { DocumentRejectedError, type Merged, mergeStored } from '../log/merge-stored.ts'
import {
  applyWithinLimit,
  changeAndMerge,
  decideWithinLimit,
  followWithinLimit,
  restoreWithinLimit,
} from './size-check.ts'

/** A job on a copy of a document. All members can be sent to a thread. */
interface Copy {
  /** The content of the document: a snapshot (or an empty update) and the updates after it. */
  readonly updates: readonly Uint8Array[]
  /**
   * Whether the result contains the whole state of the document after the job. `ifDear`: only if reading this
   * state takes less time than applying the update of the job.
   */
  readonly state: 'always' | 'ifDear' | 'never'
}

/** A job that changes a copy of a document. */
export interface ThreadEdit extends Copy {
  /**
   * Client ids that the job may write with. The job uses the first id whose clock is the same in the copy. If
   * no clock is the same, the job uses a new client id.
   */
  readonly writers: readonly ClientClock[]
  /** Maximum encoded size of the document in bytes. */
  readonly documentBytesMax: number
}

export type ThreadTask =
  | { readonly is: 'check'; readonly change: RootChange }
  /**
   * With `merge`, the first `pastCount` of the updates are those of an older version. The change is made for it, and
   * merged into the document, which the other updates have.
   */
  | (ThreadEdit & {
      readonly is: 'replace'
      readonly change: RootChange
      readonly merge?: { readonly pastCount: number; readonly onOverlap: OverlapPolicy } | undefined
    })
  /** `past`: the whole state (V1) whose content is restored; `schema`: the schema that the result must match. */
  | (ThreadEdit & { readonly is: 'restore'; readonly past: Uint8Array; readonly schema: RootSchema | null })
  /** `schema`: the schema that the result must match. */
  | (ThreadEdit & {
      readonly is: 'decide'
      readonly decision: HunkDecision
      readonly schema: RootSchema | null
    })
  /** Applies changes of the main editor to a branch. */
  | (ThreadEdit & { readonly is: 'follow'; readonly changes: MainChanges })
  /** Compares a branch with its main editor. `updates`: the whole states (V1) of the main editor and the branch. */
  | { readonly is: 'compare'; readonly updates: readonly [Uint8Array, Uint8Array] }
  /** `updates`: a single update, which is a whole state (V1). */
  | {
      readonly is: 'read'
      readonly updates: readonly [Uint8Array]
      readonly reading: DocumentReading
      /** Maximum bytes of the encoded content. */
      readonly bytesMax: number
    }
  /** `updates`: as for `read`. */
  | {
      readonly is: 'anchors'
      readonly updates: readonly [Uint8Array]
      readonly queries: AnchorQueries
    }
  /** `updates`: as for `read`; `schema`: the schema of the root. */
  | {
      readonly is: 'streamPlace'
      readonly updates: readonly [Uint8Array]
      readonly request: StreamPlaceRequest
      readonly schema: NamedSchema | null
    }
  /** Writes the next part of a stream. `schema`: as for `streamPlace`. */
  | {
      readonly is: 'stream'
      readonly updates: readonly Uint8Array[]
      readonly writer: StreamWriter
      readonly text: string
      readonly schema: NamedSchema | null
    }
  /** `updates`: the updates of the earlier version, then those up to the later version, then those after it. */
  | {
      readonly is: 'history'
      readonly updates: readonly Uint8Array[]
      /** Numbers of updates of the earlier version, and after it up to the later version. */
      readonly counts: readonly [from: number, to: number]
      /** As `encodeAttribution` returns it. */
      readonly attribution: Uint8Array
      readonly query: HistoryQuery
    }
  /** Merges the updates of one document of an import. */
  | { readonly is: 'merge'; readonly updates: readonly Uint8Array[] }
  /** Parses the response of a backend (JSON in UTF-8). */
  | { readonly is: 'parse'; readonly json: Uint8Array }
  /** Answers a query about a response of `/v2/crdt/get` (JSON in UTF-8); see `answerTextQuery`. */
  | {
      readonly is: 'text'
      readonly json: Uint8Array
      readonly query: TextQuery
      readonly charactersMax: number
    }
  /** Splits a whole state into updates for single ticks of an event loop. `updates`: as for `read`. */
  | { readonly is: 'split'; readonly updates: readonly [Uint8Array] }
  /** Reads a document whose conflict scans are too expensive for an event loop. */
  | { readonly is: 'open'; readonly updates: readonly Uint8Array[] }
  /** Integrates an update whose conflict scans are too expensive for an event loop. */
  | {
      readonly is: 'place'
      /** The document before the update, in the form that `Copy` describes. */
      readonly updates: readonly Uint8Array[]
      readonly update: Uint8Array
      /** The schema that the result must match. */
      readonly schema: RootSchema | null
      /** True if the log has the update, so that no limit can reject it. */
      readonly isStored: boolean
    }

/** Number of copies that a thread has in memory: the bytes of a document or of JSON, and the Y.Doc or the values. */
const copies = 2

/** Returns a lower bound of the memory in bytes that a job takes. */
export function taskBytes(job: ThreadTask): number {
  if ('json' in job) return job.json.length * copies
  const updates = 'updates' in job ? job.updates : []
  return updates.reduce((sum, { length }) => sum + length, 0) * copies
}

export type ThreadResult =
  /** The change is valid. */
  | { readonly is: 'checked' }
  /**
   * The job was rejected. The members are those of an ApiError, because a thread cannot send instances of
   * classes.
   */
  | {
      readonly is: 'refused'
      readonly code: ErrorCode
      readonly message: string
      readonly details: Record<string, unknown> | undefined
      readonly retryAfterSeconds: number | undefined
    }
  | {
      readonly is: 'replaced'
      readonly change: ReplacementResult
      /** The update (V1) of the change; null if nothing changes. */
      readonly update: Uint8Array | null
      /** True if the change deletes content. */
      readonly deletes: boolean
      readonly state: Uint8Array | null
      readonly writer: ClientClock
      /** Milliseconds of creating the Y.Doc. */
      readonly loadMs: number
    }
  | {
      readonly is: 'read'
      readonly content: Omit<EncodedContent, 'data'>
      /** The members of an `EncodedJson`, because a thread cannot send instances of classes. */
      readonly data: Pick<EncodedContent['data'], 'as' | 'parts'>
    }
  | { readonly is: 'anchors'; readonly answers: AnchorAnswers }
  | { readonly is: 'streamPlace'; readonly found: FoundStreamPlace }
  | {
      readonly is: 'streamed'
      readonly change: ReplacementResult
      /** The update (V1) of the change; null if nothing changes. */
      readonly update: Uint8Array | null
    }
  | { readonly is: 'history'; readonly answer: HistoryAnswer }
  | { readonly is: 'compared'; readonly compared: ComparedBranch }
  /** `merged` is null if the document is rejected; `problem` is the reason. */
  | { readonly is: 'merged'; readonly merged: Merged | null; readonly problem: string }
  /** `content` is null if the JSON has the wrong form; `problem` is the reason. The data of a target is encoded. */
  | { readonly is: 'parsed'; readonly content: InitialContent | null; readonly problem: string }
  | { readonly is: 'text'; readonly answered: AnsweredText | 'too long' | null }
  /** `parts`: as `splitUpdate` returns them. */
  | { readonly is: 'split'; readonly parts: readonly Uint8Array[] }
  | ({ readonly is: 'opened' } & PlacedDocument)
  | ({ readonly is: 'placed' } & PlacedIntegration)

/** The result of a job that was not rejected. */
export type Done = Exclude<ThreadResult, { is: 'refused' }>

/** Checks the result of a job, and returns it. @throws ApiError with the reason, if the job was rejected */
export function completed(outcome: ThreadResult): Done {
  if (outcome.is !== 'refused') return outcome
  const { code, message, details, retryAfterSeconds: after } = outcome
  throw new ApiError(code, message, {
    ...(details !== undefined && { details }),
    ...(after !== undefined && { retryAfterSeconds: after }),
  })
}

/**
 * Runs a job. If the job is rejected with an ApiError, returns the error as a result.
 * @throws all other errors, which are bugs of the server
 */
export function runThreadTask(job: ThreadTask): ThreadResult {
  try {
    if (job.is === 'replace') return replace(job)
    if (job.is === 'restore')
      return edit(job, (copy) => restoreWithinLimit(copy, job.past, job.documentBytesMax, job.schema))
    if (job.is === 'decide')
      return edit(job, (copy) => decideWithinLimit(copy, job.decision, job.documentBytesMax, job.schema))
    if (job.is === 'follow')
      return edit(job, (copy) => followWithinLimit(copy, job.changes, job.documentBytesMax))
    if (job.is === 'compare') return { is: 'compared', compared: compareBranch(...job.updates) }
    if (job.is === 'read') return read(job)
    if (job.is === 'anchors')
      return {
        is: 'anchors',
        answers: withState(job.updates[0], (doc) => lookUpAnchors(doc, job.queries)),
      }
    if (job.is === 'streamPlace') return streamPlace(job)
    if (job.is === 'stream') return streamed(job)
    if (job.is === 'history') return history(job)
    if (job.is === 'merge') return merge(job.updates)
    if (job.is === 'parse') return parse(job.json)
    if (job.is === 'text')
      return { is: 'text', answered: answerTextQuery(job.json, job.query, job.charactersMax) }
    if (job.is === 'split') return { is: 'split', parts: splitUpdate(job.updates[0], structsPerTick) }
    if (job.is === 'open') return open(job.updates)
    if (job.is === 'place') return place(job)
    checkChange(job.change)
    return { is: 'checked' }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, details, retryAfterSeconds } = error
    return { is: 'refused', code, message, details, retryAfterSeconds }
  }
}

/**
 * Returns the buffers of a result that are transferred instead of copied: all buffers that contain nothing
 * else. A receiver would copy a large buffer in one step of its event loop.
 */
export function buffersOf(outcome: ThreadResult): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  for (const bytes of bytesIn(outcome))
    if (bytes?.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength)
      buffers.add(bytes.buffer)
  return [...buffers]
}

function bytesIn(outcome: ThreadResult): readonly (Uint8Array | null)[] {
  if (outcome.is === 'read') return outcome.data.parts
  if (outcome.is === 'history') return historyBytes(outcome.answer)
  if (outcome.is === 'parsed') return contentBytes(outcome.content)
  if (outcome.is === 'split') return outcome.parts
  if (outcome.is === 'merged') return [outcome.merged?.bytes ?? null]
  if (outcome.is === 'opened') return [outcome.state]
  if (outcome.is === 'placed') return [outcome.added, outcome.state]
  if (outcome.is === 'streamed') return [outcome.update]
  return outcome.is === 'replaced' ? [outcome.update, outcome.state] : []
}

function read({ updates: [bytes], reading, bytesMax }: Extract<ThreadTask, { is: 'read' }>): ThreadResult {
  const { data, ...content } = readStateEncoded(bytes, reading, bytesMax)
  return { is: 'read', content, data: { as: data.as, parts: data.parts } }
}

function streamPlace({
  updates: [bytes],
  request,
  schema,
}: Extract<ThreadTask, { is: 'streamPlace' }>): ThreadResult {
  const named = schema === null ? null : schemaOf(schema)
  return { is: 'streamPlace', found: withState(bytes, (doc) => findStreamPlace(doc, request, named)) }
}

function streamed({ updates, writer, text, schema }: Extract<ThreadTask, { is: 'stream' }>): ThreadResult {
  const copy = stateOf({ updates })
  const { result, added } = copy.edit(() => writeInCopy(copy.doc, writer, text, schema))
  return { is: 'streamed', change: result, update: added }
}

function history({
  updates,
  counts: [from, to],
  attribution,
  query,
}: Extract<ThreadTask, { is: 'history' }>): ThreadResult {
  const parts = {
    from: updates.slice(0, from),
    to: updates.slice(from, from + to),
    after: updates.slice(from + to),
  }
  return { is: 'history', answer: answerHistory(parts, decodeAttribution(attribution), query) }
}

function historyBytes(answer: HistoryAnswer): readonly (Uint8Array | null)[] {
  if (answer.is === 'diff') return answer.diff.parts
  return answer.is === 'undo' ? [answer.result.update] : []
}

function replace(job: Extract<ThreadTask, { is: 'replace' }>): ThreadResult {
  const change = checkChange(job.change)
  const { merge, updates, documentBytesMax: bytesMax } = job
  if (merge === undefined) return edit(job, (copy) => applyWithinLimit(copy, change, bytesMax))
  const { pastCount, onOverlap } = merge
  const past = stateOf({ updates: updates.slice(0, pastCount) })
  const copy = stateOf({ updates: updates.slice(pastCount) })
  const writer = past.writeAs(job.writers)
  copy.doc.clientID = writer.client
  const { result, update, deletes, isDear } = changeAndMerge([past, copy], change, { onOverlap, bytesMax })
  const state = stateFor(job, copy, update !== null, isDear)
  return { is: 'replaced', change: result, update, deletes, state, writer, loadMs: copy.loadMs }
}

function edit(job: ThreadEdit, work: (copy: DocumentState) => ReplacementResult): ThreadResult {
  const copy = stateOf(job)
  const writer = copy.writeAs(job.writers)
  const { result, added, isDear, deletes } = copy.edit(() => work(copy))
  const state = stateFor(job, copy, added !== null, isDear)
  return {
    is: 'replaced',
    change: result,
    update: added,
    deletes,
    state,
    writer,
    loadMs: copy.loadMs,
  }
}

function merge(updates: readonly Uint8Array[]): ThreadResult {
  try {
    return { is: 'merged', merged: mergeStored(updates), problem: '' }
  } catch (error) {
    if (!(error instanceof DocumentRejectedError)) throw error
    return { is: 'merged', merged: null, problem: error.message }
  }
}

function parse(json: Uint8Array): ThreadResult {
  try {
    const content = readInitialContent(json)
    const encoded = content.kind === 'target' ? { ...content, target: encodeData(content.target) } : content
    return { is: 'parsed', content: encoded, problem: '' }
  } catch (error) {
    if (!(error instanceof MalformedJsonError)) throw error
    return { is: 'parsed', content: null, problem: error.message }
  }
}

function contentBytes(content: InitialContent | null): readonly (Uint8Array | null)[] {
  if (content?.kind === 'update') return [content.update]
  const data = content?.kind === 'target' ? content.target.data : null
  return data instanceof Uint8Array ? [data] : []
}

function open(updates: readonly Uint8Array[]): ThreadResult {
  const state = stateOf({ updates }).encode()
  return { is: 'opened', state, placements: placementsIn(state) }
}

function place({ updates, update, schema, isStored }: Extract<ThreadTask, { is: 'place' }>): ThreadResult {
  const copy = stateOf({ updates })
  copy.check()
  const stepsMax = isStored ? Number.POSITIVE_INFINITY : documentStepsMax(copy.sizeBytes + update.length)
  try {
    checkNesting(update, copy.doc)
    const check = expectMatch(copy.doc, schema)
    const placed = copy.placeItems(update, stepsMax)
    if (placed.added !== null) checkMapEntries(readUpdate(placed.added), copy.doc)
    const warnings = placed.gap ? [] : check()
    const state = placed.added !== null && placed.isDear ? copy.encode() : null
    return { is: 'placed', ...placed, state, problem: null, warnings }
  } catch (error) {
    if (error instanceof IntegrationTooExpensiveError) throw tooExpensive(stepsMax)
    if (!(error instanceof MalformedUpdateError)) throw error
    const { message: problem } = error
    const nothing = { added: null, gap: false, isDear: false, placements: [], state: null, warnings: [] }
    return { is: 'placed', ...nothing, problem }
  }
}

function stateFor(job: Copy, copy: DocumentState, hasChanged: boolean, isDear: boolean): Uint8Array | null {
  const isWanted = job.state === 'always' || (job.state === 'ifDear' && isDear)
  return hasChanged && isWanted ? copy.encode() : null
}

function stateOf({ updates: [snapshot, ...entries] }: Pick<Copy, 'updates'>): DocumentState {
  const state = DocumentState.fromBytes(snapshot ?? null, { isBounded: false })
  state.applyPlain(entries.map((bytes) => ({ bytes })))
  return state
}
