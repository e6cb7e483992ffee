import type { CrdtGetDataItem } from '../../../client/api/operation-types.ts'

/** Content of a root, in the form in which the server returns it. */
export type EditableContent = Pick<CrdtGetDataItem, 'type' | 'contentKey' | 'data'>

/** Returns whether content of this type is a string. Content of all other types is JSON. */
const isString = (type: string): boolean => type === 'text' || type === 'xml'

/**
 * Converts content to text that the user can edit. Text and XML stay unchanged; all other types become
 * indented JSON.
 */
export const contentToText = ({ type, data }: Pick<EditableContent, 'type' | 'data'>): string =>
  isString(type) ? String(data) : JSON.stringify(data, null, 2)

/**
 * Converts edited text to content. This function is the inverse of `contentToText`.
 * @throws SyntaxError with the position of the error in the JSON
 */
export function textToContent(type: string, text: string): unknown {
  if (isString(type)) return text
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError(`This is not JSON: ${(error as SyntaxError).message}`)
  }
}

/**
 * Converts content to lines that can be compared. Each line ends with a line break, so that the last line is
 * not different from the others.
 */
export function toComparableLines({ type, data }: Pick<EditableContent, 'type' | 'data'>): string {
  if (type === 'text') return contentToText({ type, data })
  const lines = type === 'xml' ? prettyXml(String(data)) : contentToText({ type, data })
  return lines === '' ? '' : `${lines}\n`
}

/**
 * Formats XML with one indented line for each element or text. The result is only for display, because the
 * added white space changes the content.
 */
export function prettyXml(xml: string): string {
  let depth = 0
  const rows: string[] = []
  for (const piece of piecesOf(xml)) {
    const isClosing = piece.startsWith('</')
    if (isClosing) depth = Math.max(0, depth - 1)
    rows.push('  '.repeat(depth) + piece)
    if (piece.startsWith('<') && !isClosing && !piece.endsWith('/>')) depth += 1
  }
  return rows.join('\n')
}

/** Yields the tags of the XML and the texts between them, in their order. Each character is read once. */
function* piecesOf(xml: string): Generator<string> {
  for (let at = 0; at < xml.length; ) {
    const end = xml[at] === '<' ? xml.indexOf('>', at) + 1 : xml.indexOf('<', at)
    const piece = xml.slice(at, end > 0 ? end : xml.length)
    yield piece
    at += piece.length
  }
}
