import { escapePointer } from '../../base/json.ts'
import { shortened } from '../../base/text.ts'

/** Maximum number of characters of a JSON pointer in a message. */
const shownLengthMax = 200

/** Returns the JSON pointer (RFC 6901) to the value at a path. */
export const formatPointer = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${escapePointer(String(step))}`).join('')

/** Describes a position in the data by a JSON pointer (RFC 6901). The whole value is called `data`. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.length === 0 ? 'data' : `data at ${pointerOf(path)}`
}

/** Returns a JSON pointer. A long pointer is shortened. */
export const pointerOf = (path: readonly (string | number)[]): string =>
  shortened(formatPointer(path.slice(0, shownLengthMax + 1)), shownLengthMax).toWellFormed()

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
export const shownPointer = (path: readonly string[]): string => JSON.stringify(pointerOf(path))

/** Returns the array index that a reference token states; null if the token is not an index. */
export const parseIndex = (token: string): number | null =>
  /^(?:0|[1-9][0-9]*)$/.test(token) ? Number(token) : null
