import { decodeRelativePosition, encodeRelativePosition, type RelativePosition } from 'yjs'
import type { CommentAnchor } from './comment-store.ts'

/**
 * Returns the anchor of a new thread. The bindings of editors and `createRelativePositionFromTypeIndex` of Yjs make
 * relative positions.
 * @param end end of a range; without it, the anchor is one position
 * @param contentKey name of the shared type of the content
 */
export const encodeAnchor = (
  start: RelativePosition,
  end?: RelativePosition,
  contentKey?: string,
): CommentAnchor => ({
  position: encodePosition(start),
  ...(end !== undefined && { positionEnd: encodePosition(end) }),
  ...(contentKey !== undefined && { contentKey }),
})

/**
 * Returns the relative positions of an anchor. The binding of the editor or `createAbsolutePositionFromRelativePosition`
 * of Yjs finds their place in the content.
 * @throws Error if the anchor is not valid
 */
export const decodeAnchor = ({
  position,
  positionEnd,
}: CommentAnchor): { readonly start: RelativePosition; readonly end: RelativePosition | null } => ({
  start: decodePosition(position),
  end: positionEnd === undefined ? null : decodePosition(positionEnd),
})

const encodePosition = (position: RelativePosition): string =>
  btoa(String.fromCharCode(...encodeRelativePosition(position)))

const decodePosition = (text: string): RelativePosition =>
  decodeRelativePosition(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)))
