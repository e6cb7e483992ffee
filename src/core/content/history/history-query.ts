import * as Y from 'yjs'
import { ApiError } from '../../base/errors.ts'
import { EncodedJson } from '../../model/json-pieces.ts'
import type { Attribution } from '../../update/attribution/attribution.ts'
import type { OverlapPolicy } from '../merge/overlap.ts'
import { findRoot } from '../read-document.ts'
import { requireRoot } from '../roots.ts'
import { expectMatch, type RootSchema } from '../schemas/content-schema.ts'
import { type RunsPage, readRuns } from './author-runs.ts'
import { type ChangeSetOptions, type ChangeSetPage, readChangeSets } from './change-sets.ts'
import { type DiffReading, readVersionDiff } from './diff/version-diff.ts'
import { DocumentHistory, type HistoryUpdates } from './document-history.ts'
import { type ListedOrigins, listOrigins } from './listed-origins.ts'
import { stateUntil } from './past-state.ts'
import { SegmentReader } from './segments.ts'
import { type UndoResult, undoChanges } from './undo-changes.ts'
import type { UndoSelection } from './undo-selection.ts'

/** A question about the history of a document. All members can be sent to a thread. */
export type HistoryQuery =
  | { readonly is: 'changes'; readonly options: ChangeSetOptions }
  | { readonly is: 'diff'; readonly reading: DiffReading; readonly bytesMax: number }
  /** The whole document with its deleted content and the origins of its ids. `bytesMax`: the limit of the answer in JSON. */
  | { readonly is: 'document'; readonly bytesMax: number }
  /** The authors of the later version. */
  | { readonly is: 'runs'; readonly contentKey: string | undefined; readonly runsMax: number }
  /** The whole document at a time: see `stateUntil`. */
  | { readonly is: 'state'; readonly until: number }
  /**
   * `schema`: the schema that the document must match after the undo; null without one. `lastPrune`: the client id of the
   * copies of the last prune; null without one. `first`: the first version of the range that the caller has given.
   */
  | {
      readonly is: 'undo'
      readonly selection: UndoSelection
      readonly onOverlap: OverlapPolicy
      readonly schema: RootSchema | null
      readonly lastPrune: number | null
      readonly first: 'from' | 'to'
    }

export type HistoryAnswer =
  | { readonly is: 'changes'; readonly page: ChangeSetPage }
  | {
      readonly is: 'diff'
      readonly contentKey: string
      /** The members of an `EncodedJson`, because a thread cannot send instances of classes. */
      readonly diff: Pick<EncodedJson, 'as' | 'parts'>
    }
  /** `update` (V1) contains the deleted content that the history still has. */
  | ({ readonly is: 'document'; readonly update: Uint8Array } & ListedOrigins)
  | { readonly is: 'runs'; readonly page: RunsPage }
  | { readonly is: 'state'; readonly update: Uint8Array }
  | { readonly is: 'undo'; readonly result: CheckedUndo }

export interface CheckedUndo extends UndoResult {
  /** Sentences about places that did not match the schema before: see `checkAgainstSchema`. */
  readonly warnings: readonly string[]
}

/**
 * Answers a question about the changes between two versions of a document. Takes time and memory that are linear in the
 * size of the history.
 * @param attribution the attribution of the whole document; the query `diff` does not use it
 * @throws ApiError the errors of `readVersionDiff`, `listOrigins` and `undoChanges`; NOT_FOUND if a root does not exist; INVALID_ARGUMENT if the
 * document would not match its schema
 */
export function answerHistory(
  updates: HistoryUpdates,
  attribution: Attribution,
  query: HistoryQuery,
): HistoryAnswer {
  const history = new DocumentHistory(updates)
  try {
    switch (query.is) {
      case 'changes':
        return { is: 'changes', page: readChangeSets(new SegmentReader(history, attribution), query.options) }
      case 'diff': {
        const { contentKey, diff } = readVersionDiff(history, query.reading, query.bytesMax)
        return { is: 'diff', contentKey, diff: { as: diff.as, parts: diff.parts } }
      }
      case 'document': {
        const update = Y.encodeStateAsUpdate(history.doc)
        const bytesLeft = query.bytesMax - new EncodedJson('base64', [update]).bytes
        return { is: 'document', update, ...listOrigins(attribution, bytesLeft) }
      }
      case 'runs':
        return { is: 'runs', page: runsOf(history, attribution, query.contentKey, query.runsMax) }
      case 'state':
        return { is: 'state', update: stateUntil(history, attribution, query.until) }
      default: {
        requireSincePrune(history, query)
        const check = expectMatch(history.doc, query.schema)
        const result = undoChanges(history, attribution, query.selection, query.onOverlap)
        const warnings = result.update === null ? [] : check()
        const isIncomplete = query.lastPrune !== null && query.first === 'to'
        return {
          is: 'undo',
          result: { ...result, warnings: isIncomplete ? [...warnings, prunedText] : warnings },
        }
      }
    }
  } finally {
    history.destroy()
  }
}

const prunedText = 'text that was deleted before the last prune of the editor cannot be restored'

/** Throws if the copies of a prune would count as changes of their authors, or replaced content as undone. */
function requireSincePrune(
  history: DocumentHistory,
  { lastPrune, first }: HistoryQuery & { readonly is: 'undo' },
): void {
  if (lastPrune === null || history[first].clocks.has(lastPrune)) return
  throw new ApiError(
    'crdt/version-too-old',
    `the editor was pruned after the version \`${first}\`: send a later version`,
    { details: { oldest: null } },
  )
}

function runsOf(
  { doc }: DocumentHistory,
  attribution: Attribution,
  given: string | undefined,
  runsMax: number,
): RunsPage {
  const { contentKey } = findRoot(doc, given)
  requireRoot(doc, contentKey, given)
  return readRuns(doc, attribution, contentKey, runsMax)
}
