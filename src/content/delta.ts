import * as Y from 'yjs'
import { type Change, unchanged } from './change.ts'
import { type DeltaOp, formattedTextOf, opsOf } from './delta-ops.ts'
import { planDelta } from './delta-plan.ts'
import { Formats, readFormatted, tooManyAttributes } from './delta-state.ts'
import { tidyFormatting } from './tidy-formatting.ts'

/** Items that formatting may be tidied up in, and attributes that are on at each: about a tenth of a second. */
const tidiedMax = 5_000_000

/**
 * A text root as Quill delta: exactly what is stored, without the line break that Quill adds at the end of what it
 * shows. `replaceDelta` with it changes nothing. Throws INVALID_ARGUMENT when it has more than 200,000 attributes.
 */
export function readDelta(doc: Y.Doc, contentKey: string): readonly DeltaOp[] {
  const formats = new Formats()
  const stored = readFormatted(doc.share.get(contentKey), formats)
  if (!stored.complete) throw tooManyAttributes()
  return opsOf(stored.content, formats)
}

/**
 * Makes text, attributes and embeds of the root `contentKey` those of `target`: what is equal stays, kept text gets other
 * attributes in place, an embed that differs is another one. Equal already: nothing happens. The root is left of the
 * type it has, as with plain text.
 */
export function replaceDelta(doc: Y.Doc, contentKey: string, target: readonly DeltaOp[]): Change {
  const formats = new Formats()
  const known = doc.share.get(contentKey)
  const stored = readFormatted(known, formats)
  const { operations, insertions, deletions } = planDelta(stored, formattedTextOf(target, formats), formats)
  if (operations.length === 0) return unchanged
  const root = known ?? doc.get(contentKey)
  doc.transact(() => {
    Y.Text.prototype.applyDelta.call(root, operations)
    tidyFormatting(root, { tidyLeft: tidiedMax })
  })
  return { changed: true, insertions, deletions }
}
