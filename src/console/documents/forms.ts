/** What a root holds, as the server answers it. */
export interface RootContent {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/** Is the content of this type a string? That of all others is JSON. */
const isString = (type: string): boolean => type === 'text' || type === 'xml'

/** Content as one edits it: text and XML as they are, all else as indented JSON. */
export const written = ({ type, data }: Pick<RootContent, 'type' | 'data'>): string =>
  isString(type) ? String(data) : JSON.stringify(data, null, 2)

/** The reverse. @throws SyntaxError saying what is wrong with the JSON */
export const parsed = (type: string, text: string): unknown =>
  isString(type) ? text : (JSON.parse(text) as unknown)

/** Content as one compares it: in lines, of XML too, each with its end, so that the last is like the others. */
export function comparable({ type, data }: Pick<RootContent, 'type' | 'data'>): string {
  if (type === 'text') return written({ type, data })
  const lines = type === 'xml' ? prettyXml(String(data)) : written({ type, data })
  return lines === '' ? '' : `${lines}\n`
}

const tag = /<(\/?)[^>]*?(\/?)>|[^<]+/g

/** An element or a text a line, indented; only to be looked at. */
export function prettyXml(xml: string): string {
  let depth = 0
  const rows: string[] = []
  for (const [piece, closing, empty] of xml.matchAll(tag)) {
    if (closing === '/') depth = Math.max(0, depth - 1)
    rows.push('  '.repeat(depth) + piece)
    if (piece.startsWith('<') && closing === '' && empty === '') depth += 1
  }
  return rows.join('\n')
}
