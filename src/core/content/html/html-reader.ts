import { limits } from '../../model/limits.ts'
import type { BlockList, BlockMarks, Inline, NeutralBlock, TableCell, TableRow } from '../blocks/block.ts'
import { dividedAtImages, ListBuilder, paragraphOf } from '../blocks/block-builders.ts'
import type { BlockFeatures, ParsedBlocks } from '../blocks/block-format.ts'
import { isInvisible } from '../blocks/block-keys.ts'
import { contentLimit } from '../content-error.ts'
import { LineReader } from './line-reader.ts'
import {
  atomAttribute,
  blockAttribute,
  breakAttribute,
  type HtmlElement,
  type HtmlNode,
  htmlAttribute,
  isBlank,
  isElement,
  textOf,
} from './parse-html.ts'
import { isSafeImage, isSafeLink } from './safe-address.ts'
import { keepsSpaces, styledMarks } from './style-marks.ts'

/** Maximum number of nested blocks. Each of them is an element of the document. */
const depthMax = limits.typeDepth - 1

const names = (list: string): ReadonlySet<string> => new Set(list.split(' '))

/** Elements whose content is not text of the document. */
const dropped = names(
  'script style template noscript noembed noframes iframe object embed applet audio video canvas svg math head ' +
    'title textarea select datalist map',
)

/** Elements around lines: their start and their end also end a line. */
const containers = names(
  'p div section article main header footer nav aside address figure figcaption center fieldset legend form ' +
    'details summary dialog dl dt dd hgroup search menu li tr td th thead tbody tfoot caption',
)

/** Elements that are blocks themselves. */
const blockNames = names('blockquote ul ol pre hr table h1 h2 h3 h4 h5 h6')

const simpleMarks: ReadonlyMap<string, BlockMarks> = new Map<string, BlockMarks>([
  ...['b', 'strong'].map((name): [string, BlockMarks] => [name, { bold: true }]),
  ...['i', 'em'].map((name): [string, BlockMarks] => [name, { italic: true }]),
  ...['s', 'del', 'strike'].map((name): [string, BlockMarks] => [name, { strike: true }]),
  ...['code', 'tt', 'kbd', 'samp'].map((name): [string, BlockMarks] => [name, { code: true }]),
  ...['u', 'ins'].map((name): [string, BlockMarks] => [name, { underline: true }]),
  ['sub', { subscript: true }],
  ['sup', { superscript: true }],
])

/** Receives the ends of lines, and the elements that are blocks. */
interface BlockVisitor {
  endLine(): void
  block(element: HtmlElement, marks: BlockMarks): void
}

interface BlockCollector {
  visit(nodes: readonly HtmlNode[], marks: BlockMarks): void
  /** Ends the last line. */
  endLine(): void
}

/**
 * Converts HTML to blocks. An element that blocks do not have becomes its children. Scripts, styles, embedded
 * documents and controls are dropped, and so are all attributes except the addresses of links and images, those
 * of lists, code and tables, and inline styles that are formatting. Empty paragraphs are dropped.
 */
export class HtmlReader {
  readonly #features: BlockFeatures
  readonly #placeholders = new Map<string, null>()
  /** Number of cells that may be added for cells that span columns, and to rows that are too short. */
  #emptyCellsLeft: number = limits.nodes

  constructor(features: BlockFeatures) {
    this.#features = features
  }

  /**
   * Reads blocks. A line outside of blocks is a paragraph. The position of a block is the index of the node at
   * the top in which it ends.
   * @throws ApiError INVALID_ARGUMENT if blocks are nested too deeply
   */
  read(nodes: readonly HtmlNode[]): ParsedBlocks {
    const starts: number[] = []
    const blocks: NeutralBlock[] = []
    const visitor = this.#collect(blocks, 1)
    nodes.forEach((node, index) => {
      visitor.visit([node], {})
      while (starts.length < blocks.length) starts.push(index)
    })
    visitor.endLine()
    while (starts.length < blocks.length) starts.push(nodes.length - 1)
    return { blocks, starts, placeholders: this.#placeholders }
  }

  #blocks(nodes: readonly HtmlNode[], marks: BlockMarks, depth: number): NeutralBlock[] {
    const blocks: NeutralBlock[] = []
    const visitor = this.#collect(blocks, depth)
    visitor.visit(nodes, marks)
    visitor.endLine()
    return blocks
  }

  /** Adds the blocks of visited nodes to a list. */
  #collect(blocks: NeutralBlock[], depth: number): BlockCollector {
    if (depth > depthMax) throw contentLimit(`data has too much: blocks of HTML are at most ${depthMax} deep`)
    const line = new LineReader()
    const endLine = (): void => {
      for (const content of dividedAtImages(line.take(), this.#features)) {
        const block = paragraphOf(content)
        if (!isInvisible(block)) blocks.push(block)
      }
    }
    const on: BlockVisitor = {
      endLine,
      block: (element, around) => {
        endLine()
        for (const block of this.#block(element, around, depth)) blocks.push(block)
      },
    }
    return { endLine, visit: (nodes, marks) => this.#visit(nodes, marks, line, on) }
  }

  #visit(nodes: readonly HtmlNode[], marks: BlockMarks, line: LineReader, on: BlockVisitor): void {
    for (const node of nodes) {
      if ('value' in node) line.text(node.value, marks)
      if (!isElement(node) || dropped.has(node.tagName)) continue
      const { tagName, childNodes } = node
      const atom = htmlAttribute(node, atomAttribute)
      if (atom !== null) line.atom(this.#custom(atom, childNodes))
      else if (htmlAttribute(node, blockAttribute) !== null || blockNames.has(tagName)) on.block(node, marks)
      else if (tagName === 'br') line.lineBreak(htmlAttribute(node, breakAttribute) !== null)
      else if (tagName === 'img') {
        const image = imageOf(node, marks)
        if (image !== null) line.atom(image)
      } else if (containers.has(tagName)) {
        on.endLine()
        this.#visit(childNodes, styled(marks, node), line, on)
        on.endLine()
      } else {
        const outer = line.keepsSpaces
        line.keepsSpaces = keepsSpaces(htmlAttribute(node, 'style')) ?? outer
        this.#visit(childNodes, styled(withMark(marks, node), node), line, on)
        line.keepsSpaces = outer
      }
    }
  }

  #custom(id: string, content: readonly HtmlNode[]): NeutralBlock & Inline {
    this.#placeholders.set(id, null)
    return { kind: 'custom', id, name: textOf(content) }
  }

  #block(element: HtmlElement, marks: BlockMarks, depth: number): readonly NeutralBlock[] {
    const { tagName, childNodes } = element
    const id = htmlAttribute(element, blockAttribute)
    if (id !== null) return [this.#custom(id, childNodes)]
    switch (tagName) {
      case 'blockquote':
        return [{ kind: 'blockquote', children: this.#blocks(childNodes, marks, depth + 1) }]
      case 'ul':
      case 'ol':
        return this.#lists(element, marks, depth)
      case 'pre':
        return [codeOf(element)]
      case 'hr':
        return [{ kind: 'horizontalRule' }]
      case 'table':
        return this.#table(element, marks, depth)
      default: {
        const level = Number(tagName.slice(1))
        const [content = [], ...others] = dividedAtImages(this.#line(childNodes, marks), this.#features)
        return [{ kind: 'heading', level, content }, ...others.map(paragraphOf)]
      }
    }
  }

  /** Reads one line. Blocks in it become parts of the line. */
  #line(nodes: readonly HtmlNode[], marks: BlockMarks): readonly Inline[] {
    const line = new LineReader()
    const on: BlockVisitor = {
      endLine: () => line.text(' ', {}),
      block: ({ childNodes }, around) => {
        on.endLine()
        this.#visit(childNodes, around, line, on)
        on.endLine()
      },
    }
    this.#visit(nodes, marks, line, on)
    return line.take()
  }

  /** Reads a list. */
  #lists(list: HtmlElement, marks: BlockMarks, depth: number): readonly BlockList[] {
    const isOrdered = list.tagName === 'ol'
    const lists = new ListBuilder(isOrdered ? startOf(list) : null)
    for (const node of list.childNodes) {
      if (!isElement(node) ? !('value' in node) || isBlank(node.value) : dropped.has(node.tagName)) continue
      const isItem = isElement(node) && node.tagName === 'li'
      const checked = isItem && !isOrdered && this.#features.taskList ? taskState(node) : null
      const content = isItem ? node.childNodes : [node]
      const children = this.#blocks(content, isItem ? styled(marks, node) : marks, depth + 2)
      const last = lists.lastChildren
      // A list directly inside a list belongs to the item before it.
      if (!isItem && last !== undefined) for (const child of children) last.push(child)
      else lists.add(checked, children)
    }
    return lists.take()
  }

  /** Reads a table. Rows that are too short get empty cells. */
  #table(table: HtmlElement, marks: BlockMarks, depth: number): readonly NeutralBlock[] {
    const captions: NeutralBlock[] = []
    const rows: TableRow[] = []
    const visit = (nodes: readonly HtmlNode[]): void => {
      for (const node of nodes) {
        if (!isElement(node)) continue
        if (node.tagName === 'tr')
          rows.push({ kind: 'tableRow', children: this.#cells(node, marks, depth + 3) })
        else if (node.tagName === 'caption') captions.push(...this.#blocks(node.childNodes, marks, depth))
        else if (/^t(?:head|body|foot)$/.test(node.tagName)) visit(node.childNodes)
      }
    }
    visit(table.childNodes)
    const shown = rows.filter(({ children }) => children.length > 0)
    if (!this.#features.table)
      return [...captions, ...shown.flatMap(({ children }) => children.flatMap((cell) => cell.children))]
    if (shown.length === 0) return captions
    const width = shown.reduce((most, { children }) => Math.max(most, children.length), 0)
    const children = shown.map((row): TableRow => {
      const [first] = row.children
      const missing = this.#emptyCells(first as TableCell, width - row.children.length)
      return { kind: 'tableRow', children: [...row.children, ...missing] }
    })
    return [...captions, { kind: 'table', children }]
  }

  #cells(row: HtmlElement, marks: BlockMarks, depth: number): TableCell[] {
    const cells: TableCell[] = []
    for (const node of row.childNodes) {
      if (!isElement(node) || (node.tagName !== 'td' && node.tagName !== 'th')) continue
      const cell: TableCell = {
        kind: node.tagName === 'th' ? 'tableHeader' : 'tableCell',
        align: alignOf(node),
        children: this.#blocks(node.childNodes, styled(marks, node), depth),
      }
      cells.push(cell)
      const span = Math.min(Number(htmlAttribute(node, 'colspan') ?? 1) || 1, spanMax)
      cells.push(...this.#emptyCells(cell, span - 1))
    }
    return cells
  }

  #emptyCells({ kind }: TableCell, length: number): TableCell[] {
    this.#emptyCellsLeft -= Math.max(0, length)
    if (this.#emptyCellsLeft < 0)
      throw contentLimit(`data has too much: tables of HTML have at most ${limits.nodes} missing cells`)
    return Array.from({ length }, () => ({ kind, align: null, children: [] }))
  }
}

/** Maximum number of columns that one cell may span. */
const spanMax = 100

const styled = (marks: BlockMarks, element: HtmlElement): BlockMarks =>
  styledMarks(marks, htmlAttribute(element, 'style'))

function withMark(marks: BlockMarks, element: HtmlElement): BlockMarks {
  if (element.tagName !== 'a') {
    const mark = simpleMarks.get(element.tagName)
    return mark === undefined ? marks : { ...marks, ...mark }
  }
  const href = htmlAttribute(element, 'href')
  if (href === null || !isSafeLink(href)) return marks
  return { ...marks, link: { href, title: htmlAttribute(element, 'title') } }
}

/** Returns an image; null if it has no address that is safe. */
function imageOf(element: HtmlElement, { link }: BlockMarks): (NeutralBlock & Inline) | null {
  const src = htmlAttribute(element, 'src')
  if (src === null || !isSafeImage(src)) return null
  const [alt, title] = [htmlAttribute(element, 'alt') ?? '', htmlAttribute(element, 'title')]
  return { kind: 'image', src, alt, title, href: link?.href ?? null }
}

/** Matches the class of code in a language, as in CommonMark and HTML 5. */
const languageClass = /(?:^|\s)lang(?:uage)?-(\S+)/

/** Reads code. A line break at its end only ends the last line. */
function codeOf(element: HtmlElement): NeutralBlock {
  const [code] = element.childNodes.filter(isElement)
  const own = [element, ...(code?.tagName === 'code' ? [code] : [])]
  const languages = own.flatMap((each) => {
    const stated =
      htmlAttribute(each, 'data-language') ?? languageClass.exec(htmlAttribute(each, 'class') ?? '')?.[1]
    return stated === undefined || stated === '' ? [] : [stated]
  })
  return {
    kind: 'codeBlock',
    language: languages[0] ?? null,
    text: textOf(element.childNodes).replace(/\n$/, ''),
  }
}

/** Returns the number of the first item. */
function startOf(list: HtmlElement): number {
  const start = Number(htmlAttribute(list, 'start') ?? 1)
  return Number.isInteger(start) && start >= 0 && start <= 999_999_999 ? start : 1
}

function alignOf(cell: HtmlElement): TableCell['align'] {
  const style = /(?:^|;)\s*text-align\s*:\s*(left|center|right)\b/i.exec(
    htmlAttribute(cell, 'style') ?? '',
  )?.[1]
  const align = (style ?? htmlAttribute(cell, 'align') ?? '').toLowerCase()
  return align === 'left' || align === 'center' || align === 'right' ? align : null
}

/** Returns whether the task of an item is done; null if the item is not a task. */
function taskState(item: HtmlElement): boolean | null {
  const stated = htmlAttribute(item, 'data-checked')
  if (stated !== null) return stated !== 'false'
  let node: HtmlNode | undefined = item
  while (node !== undefined && isElement(node)) {
    if (node.tagName === 'input')
      return htmlAttribute(node, 'type')?.toLowerCase() === 'checkbox'
        ? htmlAttribute(node, 'checked') !== null
        : null
    if (node !== item && !/^(?:p|label|div|span)$/.test(node.tagName)) return null
    node = node.childNodes.find((child) => isElement(child) || ('value' in child && !isBlank(child.value)))
  }
  return null
}
