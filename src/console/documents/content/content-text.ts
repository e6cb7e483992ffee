/** Content of a root, as the server returns it. */
export interface EditableContent {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/** Whether content of this type is a string; content of all other types is JSON. */
const isString = (type: string): boolean => type === 'text' || type === 'xml'

/** Content as one edits it: text and XML as they are, all else as indented JSON. */
export const contentToText = ({ type, data }: Pick<EditableContent, 'type' | 'data'>): string =>
  isString(type) ? String(data) : JSON.stringify(data, null, 2)

/** The reverse of `contentToText`. @throws SyntaxError with the position of the JSON error */
export const textToContent = (type: string, text: string): unknown =>
  isString(type) ? text : (JSON.parse(text) as unknown)

/** Content as one compares it: in lines, of XML too, each with its end, so that the last is like the others. */
export function toComparableLines({ type, data }: Pick<EditableContent, 'type' | 'data'>): string {
  if (type === 'text') return contentToText({ type, data })
  const lines = type === 'xml' ? prettyXml(String(data)) : contentToText({ type, data })
  return lines === '' ? '' : `${lines}\n`
}

/** An element or a text a line, indented; only to be looked at. */
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

/** Returns the tags of the XML and the texts between them, in order. Each character is read once. */
function* piecesOf(xml: string): Generator<string> {
  for (let at = 0; at < xml.length; ) {
    const end = xml[at] === '<' ? xml.indexOf('>', at) + 1 : xml.indexOf('<', at)
    const piece = xml.slice(at, end > 0 ? end : xml.length)
    yield piece
    at += piece.length
  }
}
