import type { ApiError } from '../../errors.ts'
import { contentLimit, invalidContent } from '../content-error.ts'

/** A position in XML. Both numbers start at 1, and columns count code points. */
export interface XmlPosition {
  readonly line: number
  readonly column: number
}

export const malformed = (reason: string, { line, column }: XmlPosition): ApiError =>
  invalidContent(`data is not well-formed XML at ${line}:${column}: ${reason}`, { line, column })

export const tooMuch = (limit: string, size: number, { line, column }: XmlPosition): ApiError =>
  contentLimit(`data has too much at ${line}:${column}: ${limit}; here it is ${size}`, { line, column })

/** Returns the position of the character at `index`. */
export function positionAt(data: string, index: number): XmlPosition {
  const lines = data.slice(0, index).split(/\r\n|\r|\n/)
  return { line: lines.length, column: Array.from(lines.at(-1) as string).length + 1 }
}

const isDoctype = /doctype/i

/** Ampersands that start no reference. Comments, CDATA and instructions are skipped, also unfinished ones. */
const ampersands =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&(?!(?:lt|gt|amp|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)/g

/**
 * Returns the error for a complaint of the parser at `at`. The parser looks for the end of a reference up to
 * the end of the data, so an earlier ampersand that starts no reference is the actual position.
 */
export function parseErrorAt(data: string, complaint: string, at: XmlPosition): ApiError {
  const reason = complaint.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
  if (isDoctype.test(reason)) return malformed('a DOCTYPE is not allowed', at)
  for (const found of data.matchAll(ampersands)) {
    if (found[0] !== '&') continue
    const place = positionAt(data, found.index)
    const isBefore = place.line < at.line || (place.line === at.line && place.column <= at.column)
    if (!isBefore) break
    const name = /^&[^\s<&;]{0,50};/.exec(data.slice(found.index, found.index + 52))?.[0] ?? '&'
    return malformed(`${JSON.stringify(name)} is not a known reference; write an ampersand as &amp;`, place)
  }
  return malformed(reason, at)
}
