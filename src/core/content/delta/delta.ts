import * as Y from 'yjs'
import type { Output } from '../output.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { applyToRoot, type PlannedUpdate, type RootReplacement } from '../yjs/root-replacement.ts'
import { type DeltaInsert, formattedTextOf, toInserts } from './delta-json.ts'
import {
  FormatTable,
  type FormattedTarget,
  type FormattedTextState,
  readFormatted,
  tooManyAttributes,
} from './formatted-text.ts'
import { planDelta } from './plan.ts'

/**
 * Budget of the cleanup of formatting. Each item costs one, plus one for each attribute that is active at the
 * item. The whole budget takes about 0.1 s.
 */
const tidiedMax = 5_000_000

/**
 * Reads a text root as a Quill delta. The delta is exactly the stored content, without the final line break
 * that Quill adds for display. `replaceDelta` with this delta would change nothing.
 * @throws ApiError INVALID_ARGUMENT if the root has more than 200,000 attributes
 */
export function readDelta(doc: Y.Doc, contentKey: string, output?: Output): readonly DeltaInsert[] {
  const formats = new FormatTable()
  const stored = readFormatted(doc.share.get(contentKey), formats, output)
  if (!stored.complete) throw tooManyAttributes()
  return toInserts(stored.content, formats)
}

/**
 * Makes text, attributes and embeds of the root `contentKey` equal to `target`. Equal parts stay, the
 * attributes of text that stays are changed in place, and an embed that differs is replaced. If the root is
 * already equal, nothing changes. The root keeps its Yjs type.
 */
export function replaceDelta(
  doc: Y.Doc,
  contentKey: string,
  target: readonly DeltaInsert[],
): RootReplacement {
  return applyToRoot(
    doc,
    contentKey,
    planFormattedText(doc.share.get(contentKey), (formats) => formattedTextOf(target, formats)),
  )
}

/**
 * Makes the root equal to the same root of another document, like `replaceDelta`.
 * @throws ApiError INVALID_ARGUMENT as for `readDelta`
 */
export const restoreDelta = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  applyToRoot(doc, contentKey, planFormatted(doc.share.get(contentKey), past.share.get(contentKey)))

/**
 * Compares a text (a root or a nested text) with a past text, and changes neither of them. Returns the update
 * that makes the text equal to the past text; null if both are equal.
 */
export const planFormatted = (
  type: SharedRoot | undefined,
  past: SharedRoot | undefined,
): PlannedUpdate | null =>
  planFormattedText(type, (formats) => {
    const { content, complete } = readFormatted(past, formats)
    if (!complete) throw tooManyAttributes()
    return content
  })

/**
 * Compares a text with a target, which may be derived from the stored text. Adds the values of the document to
 * the format table before the values of the target, so that equal values of the document are reused.
 */
export function planFormattedText(
  type: SharedRoot | undefined,
  targetIn: (formats: FormatTable, stored: FormattedTextState) => FormattedTarget,
): PlannedUpdate | null {
  const formats = new FormatTable()
  const stored = readFormatted(type, formats)
  const { operations, insertions, deletions } = planDelta(stored, targetIn(formats, stored), formats)
  if (operations.length === 0) return null
  return (_, live) => {
    Y.Text.prototype.applyDelta.call(live, operations)
    cleanupFormatting(live, { tidyLeft: tidiedMax })
    return { changed: true, insertions, deletions }
  }
}
