import * as Y from 'yjs'
import { type Change, unchanged } from './change.ts'
import { type DeltaOp, formattedTextOf, opsOf } from './delta-ops.ts'
import { planDelta } from './delta-plan.ts'
import { Formats, readFormatted, tooManyAttributes } from './delta-state.ts'

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
  const { change, tidy } = planDelta(stored, formattedTextOf(target, formats), formats)
  const { operations, insertions, deletions } = change
  if (operations.length === 0) return unchanged
  const root = known ?? doc.get(contentKey)
  doc.transact(() => {
    Y.Text.prototype.applyDelta.call(root, operations)
    // Else every client would do it on receiving the change, and so take away marks that a next one still builds on.
    // It needs nothing that other types of roots do not have.
    if (tidy) Y.cleanupYTextFormatting(root as object as Y.Text)
  })
  return { changed: true, insertions, deletions }
}
