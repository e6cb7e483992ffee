import MarkdownIt, { type Token } from 'markdown-it'
import { memoized } from '../../base/maps.ts'
import { limits } from '../../model/limits.ts'
import type {
  BlockList,
  BlockMarks,
  Image,
  Inline,
  NeutralBlock,
  TableCell,
  TableRow,
} from '../blocks/block.ts'
import { addText, dividedAtImages, ListBuilder, paragraphOf, trimmedLine } from '../blocks/block-builders.ts'
import { allFeatures, type BlockFeatures, type ParsedBlocks } from '../blocks/block-format.ts'
import { isInvisible } from '../blocks/block-keys.ts'
import { contentLimit } from '../content-error.ts'
import { mayRunScript } from '../html/safe-address.ts'
import { xmlText } from '../xml/names.ts'
import { useGfmAutolinks, useGfmStrikethrough } from './gfm.ts'
import { atomScheme, placeholderInfo } from './placeholders.ts'

/**
 * Parses CommonMark with the extensions of GFM for tables, task lists, strikethrough and links without markup.
 * HTML is text, except `<br>`, which is a line break. A line break in a paragraph is a space. The position of a
 * block is its line, from 0.
 * @param definitions if the text is a part of a longer one: the definitions before it, as Markdown. Definitions of links
 * in the part become paragraphs of text, because another part may use them. Null: definitions are not shown
 * @throws ApiError INVALID_ARGUMENT with the line if the text exceeds a limit
 */
export function parseMarkdown(
  text: string,
  features: BlockFeatures = allFeatures,
  definitions: string | null = null,
): ParsedBlocks {
  if (text.length > limits.markdownCharacters) {
    throw contentLimit(
      `data has too much text: Markdown has at most ${limits.markdownCharacters} characters; here it has ${text.length}`,
    )
  }
  const parser = parserFor(features, definitions === null)
  const environment = {}
  if (definitions !== null && definitions !== '')
    parser.block.parse(xmlText(definitions), parser, environment, [])
  const source = xmlText(text)
  const tokens = parser.parse(source, environment)
  const nodesMax = Math.min(limits.nodes, minNodes + text.length * nodesPerCharacter)
  return new TokenReader(tokens, features, nodesMax, source).read()
}

/**
 * Returns the lines, from 0, at which the blocks at the top level of a Markdown text begin. Does not read the text of the
 * blocks: a text of 32,768 characters takes at most some milliseconds.
 */
export function blockStarts(text: string): ReadonlySet<number> {
  const parser = parserFor(allFeatures, false)
  const tokens: Token[] = []
  parser.block.parse(text, parser, {}, tokens)
  return new Set(
    tokens.flatMap(({ level, nesting, map }) => (level === 0 && nesting >= 0 && map ? [map[0]] : [])),
  )
}

type Parser = InstanceType<typeof MarkdownIt>

const parsers = new Map<string, Parser>()

const parserFor = ({ table, strike }: BlockFeatures, hidesDefinitions: boolean): Parser =>
  memoized(parsers, `${table} ${strike} ${hidesDefinitions}`, () =>
    newParser(table, strike, hidesDefinitions),
  )

function newParser(table: boolean, strike: boolean, hidesDefinitions: boolean): Parser {
  const parser = new MarkdownIt({ html: true, linkify: true, maxNesting: limits.markdownDepth })
  useGfmStrikethrough(parser)
  if (!table) parser.disable('table')
  if (!strike) parser.disable('strikethrough')
  if (!hidesDefinitions) parser.disable('strip_references')
  parser.validateLink = (url) => !mayRunScript(url)
  useGfmAutolinks(parser)
  return parser
}

const isBreak = /^<br[ \t]*\/?>$/i
const taskMark = /^\[([ xX])\](?:[ \t]+|$)/

/**
 * Maximum number of nodes of a text: `minNodes`, and `nodesPerCharacter` for each character. Only tables with
 * many missing cells have more.
 */
const [minNodes, nodesPerCharacter] = [10_000, 2]

class TokenReader {
  readonly #nodesMax: number
  readonly #tokens: readonly Token[]
  readonly #features: BlockFeatures
  readonly #source: string
  /** The lines of the text; null until they are needed. */
  #sourceLines: readonly string[] | null = null
  readonly #placeholders = new Map<string, number>()
  readonly #lines: number[] = []
  #at = 0
  #nodes = 0
  #line = 0

  constructor(tokens: readonly Token[], features: BlockFeatures, nodesMax: number, source: string) {
    this.#source = source
    this.#nodesMax = nodesMax
    this.#tokens = tokens
    this.#features = features
  }

  read(): ParsedBlocks {
    const blocks = this.#blocks('', this.#lines)
    return { blocks, starts: this.#lines, placeholders: this.#placeholders }
  }

  /** Reads blocks up to the token that closes their parent, and skips this token. */
  #blocks(end: string, lines?: number[]): NeutralBlock[] {
    const blocks: NeutralBlock[] = []
    for (const token of this.#until(end)) {
      const found = this.#block(token)
      for (const block of found) {
        // A paragraph without text, for example of a link without text, is not shown anywhere.
        if (isInvisible(block)) continue
        blocks.push(block)
        lines?.push(token.map?.[0] ?? this.#line)
      }
    }
    return blocks
  }

  /** Yields the tokens before the next one of a type, and skips this one. The reader may take some of them itself. */
  *#until(end: string): Generator<Token> {
    for (let token = this.#next(); token !== undefined && token.type !== end; token = this.#next())
      yield token
  }

  #next(): Token | undefined {
    const token = this.#tokens[this.#at++]
    if (token?.map) this.#line = token.map[0]
    if (token !== undefined && token.nesting >= 0) this.#countNode()
    return token
  }

  #countNode(): void {
    this.#nodes += 1
    if (this.#nodes <= this.#nodesMax) return
    throw contentLimit(`data has too much at line ${this.#line + 1}: at most ${this.#nodesMax} nodes`, {
      line: this.#line + 1,
    })
  }

  #block(token: Token): readonly NeutralBlock[] {
    switch (token.type) {
      case 'paragraph_open':
        return this.#paragraphs(this.#lineOf(token))
      case 'heading_open':
        return this.#headings(Number(token.tag.slice(1)), this.#lineOf(token))
      case 'blockquote_open':
        this.#checkDepth(token)
        return [{ kind: 'blockquote', children: this.#blocks('blockquote_close') }]
      case 'bullet_list_open':
        return this.#lists('bullet_list_close', null)
      case 'ordered_list_open':
        return this.#lists('ordered_list_close', Number(token.attrGet('start') ?? 1))
      case 'fence':
        return [this.#fence(token)]
      case 'code_block':
        return [{ kind: 'codeBlock', language: null, text: withoutLastBreak(token.content) }]
      case 'hr':
        return [{ kind: 'horizontalRule' }]
      case 'html_block':
        return htmlBlock(token.content)
      case 'table_open':
        return [{ kind: 'table', children: this.#rows() }]
      case 'reference_definition':
        return [this.#definition(token)]
      default:
        return []
    }
  }

  /** Returns a definition of a link as it is written, without the marks of a quote or a list before it. */
  #definition({ map }: Token): NeutralBlock {
    this.#sourceLines ??= this.#source.split(/\r\n?|\n/)
    const [start, end] = map ?? [0, 0]
    const lines = this.#sourceLines.slice(start, end).map((line) => line.trim())
    const text = lines.join(' ')
    return {
      kind: 'paragraph',
      content: [{ kind: 'text', text: text.slice(Math.max(0, text.indexOf('['))), marks: {} }],
    }
  }

  #paragraphs(content: readonly Inline[]): readonly NeutralBlock[] {
    const lines = dividedAtImages(content, this.#features)
    return lines.filter(({ length }) => length > 0 || lines.length === 1).map(paragraphOf)
  }

  #headings(level: number, content: readonly Inline[]): NeutralBlock[] {
    const images = this.#features.blockImages ? content.filter(({ kind }) => kind === 'image') : []
    if (images.length === 0) return [{ kind: 'heading', level, content }]
    const line = trimmedLine(content.filter(({ kind }) => kind !== 'image'))
    const headings: NeutralBlock[] = line.length === 0 ? [] : [{ kind: 'heading', level, content: line }]
    return [...headings, ...(images as Image[])]
  }

  /** Rejects a container whose content the parser has dropped because it is nested too deeply. */
  #checkDepth(token: Token): void {
    if (token.level + 1 < limits.markdownDepth) return
    throw contentLimit(
      `data has too much at line ${this.#line + 1}: blocks are at most ${limits.markdownDepth} deep`,
      { line: this.#line + 1 },
    )
  }

  #fence(token: Token): NeutralBlock {
    const placeholder = placeholderInfo.exec(token.info.trim())
    if (placeholder !== null)
      return this.#custom(placeholder[1] as string, plainInfo(placeholder[2]?.trim() ?? ''))
    const [language = ''] = token.info.trim().split(/\s/, 1)
    return {
      kind: 'codeBlock',
      language: language === '' ? null : plainInfo(language),
      text: withoutLastBreak(token.content),
    }
  }

  #custom(id: string, name: string): NeutralBlock & Inline {
    if (!this.#placeholders.has(id)) this.#placeholders.set(id, this.#line + 1)
    return { kind: 'custom', id, name }
  }

  /** Reads the items of a list. */
  #lists(end: string, start: number | null): readonly BlockList[] {
    const lists = new ListBuilder(start)
    for (let token = this.#next(); token !== undefined && token.type !== end; token = this.#next()) {
      if (token.type !== 'list_item_open') continue
      this.#checkDepth(token)
      const checked = start === null && this.#features.taskList ? this.#taskMark() : null
      lists.add(checked, this.#blocks('list_item_close'))
    }
    return lists.take()
  }

  /** Removes the mark of a task from the next paragraph. Returns null if there is none. */
  #taskMark(): boolean | null {
    const [open, line] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]]
    if (open?.type !== 'paragraph_open' || line === undefined) return null
    const found = taskMark.exec(line.content)
    const first = line.children?.[0]
    if (found === null || first?.type !== 'text' || !first.content.startsWith(found[0].slice(0, 3)))
      return null
    first.content = first.content.slice(3).replace(/^[ \t]+/, '')
    return found[1] !== ' '
  }

  #rows(): TableRow[] {
    const rows: TableRow[] = []
    for (const { type } of this.#until('table_close'))
      if (type === 'tr_open') rows.push({ kind: 'tableRow', children: this.#cells() })
    return rows
  }

  #cells(): TableCell[] {
    const cells: TableCell[] = []
    for (const token of this.#until('tr_close')) {
      if (token.type !== 'th_open' && token.type !== 'td_open') continue
      cells.push({
        kind: token.type === 'th_open' ? 'tableHeader' : 'tableCell',
        align: alignOf(token.attrGet('style')),
        children: this.#paragraphs(this.#lineOf(token)),
      })
    }
    return cells
  }

  /** Reads the line of text after a token, and skips the tokens up to the one that closes the line. */
  #lineOf(open: Token): Inline[] {
    const content: Inline[] = []
    for (const { type, children } of this.#until(open.type.replace('_open', '_close')))
      if (type === 'inline') content.push(...this.#inline(children ?? []))
    return content
  }

  #inline(tokens: readonly Token[]): Inline[] {
    const line: Inline[] = []
    let marks: BlockMarks = {}
    const open: BlockMarks[] = []
    for (const token of tokens) {
      this.#countNode()
      if (token.nesting === 1) {
        open.push(marks)
        marks = withMark(marks, token)
      } else if (token.nesting === -1) marks = open.pop() ?? {}
      else if (token.type === 'text' || token.type === 'html_inline') {
        if (token.type === 'html_inline' && isBreak.test(token.content)) line.push({ kind: 'hardBreak' })
        else addText(line, token.content.replaceAll('\n', ' '), marks)
      } else if (token.type === 'code_inline') addText(line, token.content, { ...marks, code: true })
      else if (token.type === 'softbreak') addText(line, ' ', marks)
      else if (token.type === 'hardbreak') line.push({ kind: 'hardBreak' })
      else if (token.type === 'image') line.push(this.#image(token, marks.link?.href ?? null))
    }
    return line
  }

  #image(token: Token, href: string | null): Inline {
    const src = String(token.attrGet('src') ?? '')
    const alt = altOf(token.children ?? [])
    if (src.startsWith(atomScheme)) return this.#custom(src.slice(atomScheme.length), alt)
    const title = token.attrGet('title')
    return { kind: 'image', src, alt, title: title === null ? null : String(title), href }
  }
}

function withMark(marks: BlockMarks, token: Token): BlockMarks {
  if (token.type === 'strong_open') return { ...marks, bold: true }
  if (token.type === 'em_open') return { ...marks, italic: true }
  if (token.type === 's_open') return { ...marks, strike: true }
  if (token.type !== 'link_open' || isForeignLink(token)) return marks
  const title = token.attrGet('title')
  return {
    ...marks,
    link: { href: String(token.attrGet('href') ?? ''), title: title === null ? null : String(title) },
  }
}

/** An address of a mail that GFM links without markup. */
const mail = /^mailto:[\w.+-]+@(?:[\w-]+\.)+[\w-]*[A-Za-z0-9]$/

/** Returns whether the parser has linked a text without markup that GFM does not link. */
const isForeignLink = (token: Token): boolean => {
  const href = String(token.attrGet('href') ?? '')
  return token.markup === 'linkify' && href.startsWith('mailto:') && !mail.test(href)
}

/** Reads a block of HTML as a line of text. Its line breaks are those of a paragraph. */
function htmlBlock(html: string): NeutralBlock[] {
  const lines = html.split('\n').map((line) => line.trim())
  const line: Inline[] = []
  for (const part of lines
    .filter((each) => each !== '')
    .join(' ')
    .split(/(<br[ \t]*\/?>)/i)) {
    if (isBreak.test(part)) line.push({ kind: 'hardBreak' })
    else addText(line, part, {})
  }
  return line.length === 0 ? [] : [{ kind: 'paragraph', content: line }]
}

function alignOf(style: string | number | null): TableCell['align'] {
  const found = /^text-align:(left|center|right)$/.exec(String(style))?.[1]
  return (found as TableCell['align'] | undefined) ?? null
}

/** Returns the text of tokens without formatting, as CommonMark defines it for the description of images. */
function altOf(tokens: readonly Token[]): string {
  let alt = ''
  for (const token of tokens) {
    if (token.type === 'softbreak' || token.type === 'hardbreak') alt += ' '
    else if (token.type === 'image') alt += altOf(token.children ?? [])
    else alt += token.content
  }
  return alt
}

const withoutLastBreak = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

/** Resolves escapes and references in the info text of a fence. */
const plainInfo = (text: string): string => utils.unescapeAll(text)
const { utils } = new MarkdownIt()
