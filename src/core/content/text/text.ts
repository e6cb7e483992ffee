import * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { jsonTypeName } from '../json/json.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import { editsToDelta } from './edits-to-delta.ts'
import { planEdits, stepsMax } from './plan.ts'
import { plainText, readTextState } from './text-state.ts'

/** Checks that the `data` of a text target is a string. Unpaired surrogates become U+FFFD. */
export function checkText(data: unknown): string {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "text", not ${jsonTypeName(data)}`)
  return data.toWellFormed()
}

/** Returns the whole string of a text root, without embeds. */
export const readText = (doc: Y.Doc, contentKey: string): string =>
  plainText(readTextState(doc.share.get(contentKey)))

/**
 * Changes the string of the root `contentKey` so that it equals `target` (well-formed), with few and small
 * operations. Text that stays keeps its identity, its attributes and the cursors in it. If the string is
 * already equal, nothing changes.
 *
 * The Yjs type of the root does not change; usually it is unset. If the root became a Y.Text, this document
 * would then clean up formatting after each remote change, and would add unwanted deletions. `applyDelta`
 * only needs members that roots of all types have.
 */
export function replaceText(doc: Y.Doc, contentKey: string, target: string): RootReplacement {
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
