// The places of comments in the text: a range as two relative positions of Yjs, which Weft stores without
// reading them.
import {
  absolutePositionToRelativePosition,
  relativePositionToAbsolutePosition,
  ySyncPluginKey,
} from '@tiptap/y-tiptap'
import * as Y from 'yjs'

const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes))
const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

/**
 * @returns the anchor of a range of the editor: `position` and `positionEnd` are the base64 of encoded relative
 * positions
 */
export function anchorOf(state, from, to) {
  // Text that is typed before the first or after the last character does not belong to the range.
  return { contentKey: 'default', position: encoded(state, from, 0), positionEnd: encoded(state, to, -1) }
}

/** @param assoc 0 binds the position to the character after it, -1 to the one before it */
function encoded(state, position, assoc) {
  const { doc, type, binding } = ySyncPluginKey.getState(state)
  const relative = absolutePositionToRelativePosition(position, type, binding.mapping)
  const found = Y.createAbsolutePositionFromRelativePosition(relative, doc)
  const own =
    found === null ? relative : Y.createRelativePositionFromTypeIndex(found.type, found.index, assoc)
  return toBase64(Y.encodeRelativePosition(own))
}

/** @returns the present range `{ from, to }`, or null if its text was deleted */
export function rangeOf(state, { position, positionEnd }) {
  const [from, to] = [resolved(state, position), resolved(state, positionEnd)]
  return from !== null && to !== null && from < to ? { from, to } : null
}

function resolved(state, text) {
  const sync = ySyncPluginKey.getState(state)
  if (text === undefined || !sync?.binding) return null
  const { doc, type, binding } = sync
  const found = Y.createAbsolutePositionFromRelativePosition(Y.decodeRelativePosition(fromBase64(text)), doc)
  if (found === null || isGone(found.type)) return null
  const at = (relative) => relativePositionToAbsolutePosition(doc, type, relative, binding.mapping)
  if (!(found.type instanceof Y.XmlText))
    return at(Y.createRelativePositionFromTypeIndex(found.type, found.index, -1))
  // Uses the beginning of its text, because y-tiptap rejects a position at the very first character.
  const start = at(Y.createRelativePositionFromTypeIndex(found.type, 0, -1))
  return start === null ? null : start + found.index
}

/** Yjs keeps text that the user of this page has deleted, for undo. */
function isGone(type) {
  for (let item = type._item; item !== null; item = item.parent._item) if (item.deleted) return true
  return false
}
