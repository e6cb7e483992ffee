import * as Y from 'yjs'
import type { Output } from '../output.ts'
import { applyToRoot, type PlannedUpdate, type ReplacementResult } from '../replacement-result.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type DeltaInsert, formattedTextOf, toInserts } from './delta-json.ts'
import { FormatTable, type FormattedText, readFormatted, tooManyAttributes } from './formatted-text.ts'
import { planDelta } from './plan.ts'

/** Budget of the formatting cleanup: items, plus the attributes that are active at each one. About 0.1 s. */
const tidiedMax = 5_000_000

/**
 * Reads a text root as a Quill delta: exactly the stored content, without the final line break that Quill
 * adds for display. `replaceDelta` with the result changes nothing.
 * @throws ApiError INVALID_ARGUMENT if it has more than 200,000 attributes
 */
export function readDelta(doc: Y.Doc, contentKey: string, output?: Output): readonly DeltaInsert[] {
  const formats = new FormatTable()
  const stored = readFormatted(doc.share.get(contentKey), formats, output)
  if (!stored.complete) throw tooManyAttributes()
  return toInserts(stored.content, formats)
}

/**
 * Makes text, attributes and embeds of the root `contentKey` equal to `target`. Equal parts stay, kept text
 * gets its new attributes in place, and an embed that differs is replaced. If the root is equal already,
 * nothing happens. The type of the root stays unchanged, as with plain text.
 */
export function replaceDelta(
  doc: Y.Doc,
  contentKey: string,
  target: readonly DeltaInsert[],
): ReplacementResult {
  return applyToRoot(
    doc,
    contentKey,
    plan(doc.share.get(contentKey), (formats) => formattedTextOf(target, formats)),
  )
}

/**
 * Like `replaceDelta`, with the content of the root in another document.
 * @throws ApiError INVALID_ARGUMENT as `readDelta`
 */
export const restoreDelta = (doc: Y.Doc, contentKey: string, past: Y.Doc): ReplacementResult =>
  applyToRoot(doc, contentKey, planFormatted(doc.share.get(contentKey), past.share.get(contentKey)))

/**
 * Compares a text, a root or a nested one, with another one. Writes nothing. Returns null if they are equal.
 */
export const planFormatted = (
  type: SharedRoot | undefined,
  past: SharedRoot | undefined,
): PlannedUpdate | null =>
  plan(type, (formats) => {
    const { content, complete } = readFormatted(past, formats)
    if (!complete) throw tooManyAttributes()
    return content
  })

/** The values of the document are added to the formats before those of the target. */
function plan(
  type: SharedRoot | undefined,
  targetIn: (formats: FormatTable) => FormattedText,
): PlannedUpdate | null {
  const formats = new FormatTable()
  const stored = readFormatted(type, formats)
  const { operations, insertions, deletions } = planDelta(stored, targetIn(formats), formats)
  if (operations.length === 0) return null
  return (_, live) => {
    Y.Text.prototype.applyDelta.call(live, operations)
    cleanupFormatting(live, { tidyLeft: tidiedMax })
    return { changed: true, insertions, deletions }
  }
}
