import type { Change } from '../content/change.ts'
import { readContent } from '../content/read.ts'
import { type CheckedContent, type ContentTarget, replaceChecked } from '../content/replace.ts'
import { restoreContent } from '../content/restore.ts'
import { type ApiError, invalid } from '../errors.ts'
import { limitDetails } from '../quota/limits.ts'
import { RoomState } from './state.ts'

/** Of its limit, what a document may be above it and still be replaced by something that is not longer. */
const replaceableExcess = 0.25

/** `replaceContent`, unless the document would grow past `bytesMax`. @throws ApiError INVALID_ARGUMENT, and nothing is changed */
export function replaceIn(state: RoomState, content: CheckedContent, bytesMax: number): Change {
  checkGrowth(state, content.target, bytesMax)
  return replaceChecked(state.doc, content)
}

/**
 * Gives a copy of a document the content of `past`, a whole state (V1), unless it would grow past `bytesMax`.
 * @throws ApiError INVALID_ARGUMENT; then the copy is of no use any more
 */
export function restoreIn(copy: RoomState, past: Uint8Array, bytesMax: number): Change {
  const bytesBefore = copy.sizeBytes
  const then = RoomState.fromBytes(past)
  const change = restoreContent(copy.doc, then.doc)
  then.doc.destroy()
  const bytes = copy.encode().length
  if (bytes > bytesMax && bytes > bytesBefore) throw tooLarge(bytes, bytesMax)
  return change
}

/**
 * A replacement adds what it is longer than the content before: what is deleted takes next to no room. One that is not
 * longer is taken above the limit too, a little: else a full document could never be made smaller.
 */
function checkGrowth(state: RoomState, target: ContentTarget, bytesMax: number): void {
  const bytes = textBytes(target.data)
  if (state.hasRoomFor(bytes, bytesMax)) return
  const growthBytes = Math.max(0, bytes - textBytes(readContent(state.doc, target.contentKey).data))
  if (!state.hasRoomFor(growthBytes, growthBytes > 0 ? bytesMax : bytesMax * (1 + replaceableExcess)))
    throw tooLarge(state.sizeBytes + growthBytes, bytesMax)
}

const tooLarge = (bytes: number, bytesMax: number): ApiError =>
  invalid(
    `a document has at most ${bytesMax} bytes; this one would have ${bytes}`,
    limitDetails('maxDocumentBytes', bytesMax),
  )

const textBytes = (data: unknown): number =>
  Buffer.byteLength(typeof data === 'string' ? data : (JSON.stringify(data) ?? ''))
