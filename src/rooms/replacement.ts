import type { Change } from '../content/change.ts'
import { readContent } from '../content/read.ts'
import { type CheckedContent, type ContentTarget, replaceChecked } from '../content/replace.ts'
import { invalid } from '../errors.ts'
import type { RoomState } from './state.ts'

/** Of its limit, what a document may be above it and still be replaced by something that is not longer. */
const replaceableExcess = 0.25

/** `replaceContent`, unless the document would grow past `bytesMax`. @throws ApiError INVALID_ARGUMENT, and nothing is changed */
export function replaceIn(state: RoomState, content: CheckedContent, bytesMax: number): Change {
  checkGrowth(state, content.target, bytesMax)
  return replaceChecked(state.doc, content)
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
    throw invalid(
      `a document has at most ${bytesMax} bytes; this one would have ${state.sizeBytes + growthBytes}`,
    )
}

const textBytes = (data: unknown): number =>
  Buffer.byteLength(typeof data === 'string' ? data : (JSON.stringify(data) ?? ''))
