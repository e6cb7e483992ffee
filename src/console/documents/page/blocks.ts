/** The formats of a text or the attributes of an element, by name. */
export type RunAttributes = Readonly<Record<string, unknown>>

type Heading = 'h1' | 'h2' | 'h3' | 'h4' | 'h5' | 'h6'

type BlockTag =
  | Heading
  | 'p'
  | 'div'
  | 'span'
  | 'strong'
  | 'em'
  | 'u'
  | 's'
  | 'ul'
  | 'ol'
  | 'li'
  | 'blockquote'
  | 'pre'
  | 'table'
  | 'tr'
  | 'td'
  | 'th'
  | 'hr'
  | 'br'

interface BlockForm {
  readonly tag: BlockTag
  readonly className?: string
  /** The text that stands for an element without content. */
  readonly leaf?: string
}

const headingOf = (level: unknown): Heading => {
  const number = Math.min(6, Math.max(1, Number(level) || 1))
  return `h${number}` as Heading
}

/** Elements by the names that editor libraries use, without signs and in lower case. */
const tags: Readonly<Record<string, BlockTag>> = {
  paragraph: 'p',
  p: 'p',
  blockquote: 'blockquote',
  quote: 'blockquote',
  bulletlist: 'ul',
  bulletedlist: 'ul',
  tasklist: 'ul',
  ul: 'ul',
  list: 'ul',
  orderedlist: 'ol',
  numberedlist: 'ol',
  ol: 'ol',
  listitem: 'li',
  taskitem: 'li',
  li: 'li',
  codeblock: 'pre',
  code: 'pre',
  pre: 'pre',
  horizontalrule: 'hr',
  hr: 'hr',
  hardbreak: 'br',
  br: 'br',
  table: 'table',
  tablerow: 'tr',
  tr: 'tr',
  tablecell: 'td',
  td: 'td',
  tableheader: 'th',
  th: 'th',
  link: 'span',
  a: 'span',
  strong: 'strong',
  b: 'strong',
  em: 'em',
  i: 'em',
  u: 'u',
  s: 's',
}

/** Items of lists that are not in a list, as BlockNote has them. */
const looseItems = new Set(['bulletlistitem', 'numberedlistitem', 'checklistitem'])
const leaves = new Set(['image', 'video', 'audio', 'file', 'mention', 'embed', 'iframe'])

/** Returns how an element of an editor library is drawn. */
export function blockOf(nodeName: string, attributes: RunAttributes): BlockForm {
  const name = nodeName.toLowerCase().replaceAll(/[-_]/g, '')
  const [, size] = /^(?:h|heading)([1-6]|one|two|three|four|five|six)?$/.exec(name) ?? []
  if (size !== undefined || name === 'heading') {
    const words = ['one', 'two', 'three', 'four', 'five', 'six']
    const named = String(attributes.__tag ?? '').slice(1)
    const level = size === undefined ? (attributes.level ?? named) : words.indexOf(size) + 1 || size
    return { tag: headingOf(level) }
  }
  if (leaves.has(name)) return { tag: 'span', leaf: leafText(nodeName, attributes) }
  if (looseItems.has(name)) return { tag: 'p', className: 'loose-item' }
  if (name === 'tasklist') return { tag: 'ul', className: 'tasks' }
  return { tag: tags[name] ?? 'div' }
}

function leafText(nodeName: string, { alt, label, id, src }: RunAttributes): string {
  const text = [alt, label, id, src].find((each) => typeof each === 'string' && each !== '')
  return text === undefined ? `[${nodeName}]` : `[${nodeName}: ${String(text).slice(0, 100)}]`
}

/** How a line of a text is drawn. */
export interface LineForm {
  readonly tag: Heading | 'p' | 'pre' | 'blockquote'
  readonly className: string
  /** Number of characters at the start that are marks of Markdown. */
  readonly hidden: number
  readonly isMarkdown: boolean
}

interface TextLine {
  readonly text: string
  readonly attributes: RunAttributes
}

const markdownStart = /^(#{1,6} |[-*+] |\d+[.)] |> |```)/

/** Returns how the lines of a text are drawn: by the formats of Quill, as Markdown, or as plain text. */
export function lineBlocks(lines: readonly TextLine[]): readonly LineForm[] {
  const isMarkdown = lines.some(({ text }) => markdownStart.test(text))
  let isCode = false
  return lines.map(({ text, attributes }) => {
    if (!isMarkdown) return formattedLine(attributes)
    const isFence = text.startsWith('```')
    const code = isCode || isFence
    if (isFence) isCode = !isCode
    if (isFence) return { tag: 'pre', className: 'fence', hidden: text.length, isMarkdown }
    if (code) return { tag: 'pre', className: 'line', hidden: 0, isMarkdown: false }
    return markdownLine(text)
  })
}

function formattedLine(attributes: RunAttributes): LineForm {
  const { header, list, blockquote, 'code-block': code } = attributes
  const line = { className: 'line', hidden: 0, isMarkdown: false }
  if (header) return { ...line, tag: headingOf(header) }
  if (blockquote) return { ...line, tag: 'blockquote' }
  if (code) return { ...line, tag: 'pre' }
  return { ...line, tag: 'p', className: list ? 'line loose-item' : 'line' }
}

function markdownLine(text: string): LineForm {
  const [start = ''] = markdownStart.exec(text) ?? []
  const line = { className: 'line', hidden: start.length, isMarkdown: true }
  if (start.startsWith('#')) return { ...line, tag: headingOf(start.length - 1) }
  if (start.startsWith('>')) return { ...line, tag: 'blockquote' }
  // The number of an item is content.
  if (/^\d/.test(start)) return { ...line, tag: 'p', hidden: 0 }
  return { ...line, tag: 'p', className: start === '' ? 'line' : 'line loose-item' }
}

interface MarkdownPart {
  readonly start: number
  readonly end: number
  readonly formats: RunAttributes
}

const inlineMarks = /\*\*[^*]+\*\*|`[^`]+`|\*[^*]+\*|\[[^[\]]+\]\([^()]*\)/g

/** Returns the parts of a line of Markdown that are shown, with their formats. */
export function markdownParts(text: string, hidden: number): readonly MarkdownPart[] {
  const parts: MarkdownPart[] = []
  let at = hidden
  for (const { 0: whole, index } of text.slice(hidden).matchAll(inlineMarks)) {
    const start = hidden + index
    const skipped = whole.startsWith('**') ? 2 : 1
    const end = whole.startsWith('[') ? whole.indexOf(']') : whole.length - skipped
    parts.push({ start: at, end: start, formats: {} })
    parts.push({ start: start + skipped, end: start + end, formats: { [formatOf(whole)]: true } })
    at = start + whole.length
  }
  return [...parts, { start: at, end: text.length, formats: {} }]
}

function formatOf(marked: string): string {
  if (marked.startsWith('**')) return 'bold'
  if (marked.startsWith('*')) return 'italic'
  return marked.startsWith('`') ? 'code' : 'link'
}
