import * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { jsonTypeName } from '../json/json.ts'
import { noReplacement, type ReplacementResult } from '../replacement-result.ts'
import { editsToDelta } from './edits-to-delta.ts'
import { planEdits, stepsMax } from './plan.ts'
import { plainText, readTextState } from './text-state.ts'

/** The `data` of a text target: any string; unpaired surrogates become U+FFFD. */
export function checkText(data: unknown): string {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "text", not ${jsonTypeName(data)}`)
  return data.toWellFormed()
}

/** The whole string of a text root; embeds are not part of it. */
export const readText = (doc: Y.Doc, contentKey: string): string =>
  plainText(readTextState(doc.share.get(contentKey)))

/**
 * Makes the string of the root `contentKey` equal to `target` (well-formed) with few, small operations: what is kept
 * keeps its identity, its attributes and the cursors in it. Equal already: nothing happens.
 *
 * The root is left of the type it has, mostly none: were it made a Y.Text, this document would from then on clean up
 * formatting after each remote change, by deletions of its own that nobody asked for. `applyDelta` needs nothing
 * that roots of other types do not have.
 */
export function replaceText(doc: Y.Doc, contentKey: string, target: string): ReplacementResult {
  const state = readTextState(doc.share.get(contentKey))
  if (state.text === target) return noReplacement
  const { operations, insertions, deletions } = editsToDelta(
    state,
    target,
    planEdits(state, target, { steps: stepsMax }),
  )
  const root = doc.share.get(contentKey) ?? doc.get(contentKey)
  doc.transact(() => Y.Text.prototype.applyDelta.call(root, operations))
  return { changed: true, insertions, deletions }
}
