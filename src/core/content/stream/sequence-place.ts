import * as Y from 'yjs'
import { ApiError } from '../../base/errors.ts'
import { putItem } from '../values/write-edits.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** A place between two items of a shared type. */
export interface SequencePlace {
  readonly type: SharedRoot
  readonly left: Y.Item | null
  readonly right: Y.Item | null
}

/** Inserts text. */
export function putText(
  transaction: Y.Transaction,
  { type, left, right }: SequencePlace,
  text: string,
): Y.Item {
  // The positions that Yjs has cached become wrong.
  if (type._searchMarker !== null) type._searchMarker.length = 0
  return putItem(transaction, { type, key: null, left, right }, new Y.ContentString(text))
}

export const placeRemoved = (): ApiError =>
  new ApiError(
    'crdt/stream-place-removed',
    'the place of the stream was deleted; read the document again, and open a new stream',
  )

/** Returns the length of a text without the line breaks at its end. */
export function unitsWithoutBreaks(text: string): number {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1
  return end
}
