import type { InsertedContent } from '../edit.ts'
import { editNotSupported } from '../edit-errors.ts'

/**
 * Returns the text of an edit's content.
 * @param reason why the root has only text; '' if the message need not name it
 * @throws ApiError INVALID_ARGUMENT if the content is not text
 */
export function requireTextContent(content: InsertedContent, place: string, reason = ''): string {
  if (content.format === 'text') return content.text.toWellFormed()
  throw editNotSupported(
    `${place}: the content for this root or target must be text; send a string with the format "text"${reason}`,
  )
}

/** Returns the lines of a text, each of which becomes a block. A line break at the end adds no line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}
