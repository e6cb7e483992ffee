import type { ApiError } from '../../base/errors.ts'
import { contentLimit, invalidContent } from '../content-error.ts'

/** A position in XML. Line and column start at 1, and columns count code points. */
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
  return { line: lines.length, column: Array.from(lines.at(-1) ?? '').length + 1 }
}

const isDoctype = /doctype/i

/**
 * Matches ampersands that do not start a reference. Comments, CDATA sections and processing instructions are
 * skipped, even if they are not terminated.
 */
const ampersands =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<\?[\s\S]*?(?:\?>|$)|&(?!(?:lt|gt|amp|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)/g

/**
 * Converts an error of the parser at `at` to the error for the caller. The parser searches for the end of a
 * reference up to the end of the data. Therefore the first ampersand before `at` that does not start a
 * reference is reported as the position.
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
