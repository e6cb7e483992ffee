import * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { type Change, unchanged } from './change.ts'
import { deltaOf } from './text-delta.ts'
import { planEdits } from './text-plan.ts'
import { plainText, readState } from './text-state.ts'

/** The `data` of a text target: any string; unpaired surrogates become U+FFFD. */
export function checkText(data: unknown): string {
  if (typeof data !== 'string') throw invalid(`data must be a string for type "text", not ${nameOf(data)}`)
  return data.toWellFormed()
}

function nameOf(data: unknown): string {
  if (data === undefined) return 'missing'
  if (data === null) return 'null'
  return Array.isArray(data) ? 'an array' : `${typeof data === 'object' ? 'an' : 'a'} ${typeof data}`
}

/** The whole string of a text root; embeds are not part of it. */
export const readText = (doc: Y.Doc, contentKey: string): string =>
  plainText(readState(doc.share.get(contentKey)))

/**
 * Makes the string of the root `contentKey` equal to `target` (well-formed) with few, small operations: what is kept
 * keeps its identity, its attributes and the cursors in it. Equal already: nothing happens.
 */
export function replaceText(doc: Y.Doc, contentKey: string, target: string): Change {
  const state = readState(doc.share.get(contentKey))
  if (state.text === target) return unchanged
  const delta = deltaOf(state, target, planEdits(state, target))
  doc.transact(() => textRoot(doc, contentKey).applyDelta(delta.operations))
  return { changed: true, insertions: delta.insertions, deletions: delta.deletions }
}

/**
 * The root as a text. One that was used as another type and is empty again is made an untyped one first, as if it had
 * just been loaded; otherwise Yjs would refuse.
 */
function textRoot(doc: Y.Doc, contentKey: string): Y.Text {
  const root = doc.share.get(contentKey)
  if (root instanceof Y.Text) return root
  if (root !== undefined && root.constructor !== Y.AbstractType) {
    const untyped = new Y.AbstractType<Y.YEvent<Y.Text>>()
    untyped._start = root._start
    untyped._map = root._map
    untyped._length = root._length
    doc.share.set(contentKey, untyped)
  }
  return doc.getText(contentKey)
}
