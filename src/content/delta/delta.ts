import * as Y from 'yjs'
import type { Output } from '../output.ts'
import { applyToRoot, type PlannedUpdate, type ReplacementResult } from '../replacement-result.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type DeltaInsert, formattedTextOf, toInserts } from './delta-json.ts'
import { FormatTable, type FormattedText, readFormatted, tooManyAttributes } from './formatted-text.ts'
import { planDelta } from './plan.ts'

/** Items that formatting may be tidied up in, and attributes that are on at each: about a tenth of a second. */
const tidiedMax = 5_000_000

/**
 * A text root as Quill delta: exactly what is stored, without the line break that Quill adds at the end of what it
 * shows. `replaceDelta` with it changes nothing. Throws INVALID_ARGUMENT when it has more than 200,000 attributes.
 */
export function readDelta(doc: Y.Doc, contentKey: string, output?: Output): readonly DeltaInsert[] {
  const formats = new FormatTable()
  const stored = readFormatted(doc.share.get(contentKey), formats, output)
  if (!stored.complete) throw tooManyAttributes()
  return toInserts(stored.content, formats)
}

/**
 * Makes text, attributes and embeds of the root `contentKey` those of `target`: what is equal stays, kept text gets other
 * attributes in place, an embed that differs is another one. Equal already: nothing happens. The root is left of the
 * type it has, as with plain text.
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

/** The same with what the root is in another document. Throws INVALID_ARGUMENT as `readDelta` does. */
export const restoreDelta = (doc: Y.Doc, contentKey: string, past: Y.Doc): ReplacementResult =>
  applyToRoot(doc, contentKey, planFormatted(doc.share.get(contentKey), past.share.get(contentKey)))

/** Compares a text, a root or inside of other values, with another one and writes nothing; null when they are equal. */
export const planFormatted = (
  type: SharedRoot | undefined,
  past: SharedRoot | undefined,
): PlannedUpdate | null =>
  plan(type, (formats) => {
    const { content, complete } = readFormatted(past, formats)
    if (!complete) throw tooManyAttributes()
    return content
  })

/** What the document has is noted in the formats before the target is. */
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
