import { shortened } from '../../../base/text.ts'
import { formatPointer } from '../../json/json.ts'

/** Maximum number of characters of a JSON pointer in a message. */
const shownLengthMax = 200

/**
 * Parses a JSON pointer (RFC 6901) into its reference tokens. Unpaired surrogates become U+FFFD, as in stored
 * keys. Returns null if the text is not a JSON pointer.
 */
export function parsePointer(pointer: string): readonly string[] | null {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null
  const tokens = pointer.slice(1).toWellFormed().split('/')
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Formats reference tokens as a JSON pointer in quotes, for a message. */
export const shownPointer = (path: readonly string[]): string =>
  JSON.stringify(shortened(formatPointer(path.slice(0, shownLengthMax + 1)), shownLengthMax))

/** Returns the array index that a reference token states; null if the token is not an index. */
export const parseIndex = (token: string): number | null =>
  /^(?:0|[1-9][0-9]*)$/.test(token) ? Number(token) : null

/** Returns the length of the longest path that starts both paths. */
export function commonLength(first: readonly string[], second: readonly string[]): number {
  let length = 0
  while (length < first.length && length < second.length && first[length] === second[length]) length += 1
  return length
}
