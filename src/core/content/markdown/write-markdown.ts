import type { Nodes, PhrasingContent, RootContent } from 'mdast'
import { gfmToMarkdown } from 'mdast-util-gfm'
import { type Options, toMarkdown, type Unsafe } from 'mdast-util-to-markdown'
import type {
  BlockList,
  BlockMarks,
  Inline,
  ListItem,
  NeutralBlock,
  TableBlock,
  TableCell,
  TaskItem,
} from '../blocks/block.ts'
import { isList } from '../blocks/block.ts'
import type { WrittenBlocks } from '../blocks/block-format.ts'
import { isInvisible } from '../blocks/block-keys.ts'
import { mayRunScript } from '../html/safe-address.ts'
import type { Output } from '../output.ts'
import { atomScheme, blockFence } from './placeholders.ts'

/** Readers end an address that starts with an angle bracket at the other bracket. */
const angleBracketInAddress: Unsafe = { character: '<', inConstruct: 'destinationRaw' }

const options: Options = {
  bullet: '-',
  bulletOther: '*',
  rule: '-',
  extensions: [
    gfmToMarkdown({ tablePipeAlign: false }),
    { unsafe: [...spacesAtEndsOfCells(), ...lettersThatAreSpaces(), angleBracketInAddress] },
  ],
}
/** Options for a list directly after a list of the same kind. Another marker separates the two lists. */
const otherOptions: Options = { ...options, bullet: '*', bulletOther: '-', bulletOrdered: ')' }

/** Writes blocks as Markdown, each after an empty line. The position of a block is its line, from 0. */
export function writeMarkdown(blocks: readonly NeutralBlock[], output: Output): WrittenBlocks {
  const parts: string[] = []
  const lines: number[] = []
  let line = 0
  let previous: NeutralBlock | null = null
  let isOther = false
  for (const block of blocks) {
    lines.push(line)
    if (isInvisible(block)) continue
    isOther = previous !== null && continuesList(previous, block) && !isOther
    const text = serialized(flowOf(block), isOther ? otherOptions : options)
    output.count(text.length + 1)
    parts.push(text)
    line += text.split('\n').length
    previous = block
  }
  return { text: parts.join('\n'), starts: lines }
}

/** Punctuation and symbols that take two UTF-16 units. */
const astralPunctuation = /(?=[\p{P}\p{S}])[\u{10000}-\u{10ffff}]/gu
/** Punctuation that the serializer does not escape. */
const standIns = Array.from({ length: 0x30 }, (_, index) => String.fromCharCode(0x2e00 + index))

const taskMark = /^\[[ x]\] $/

/**
 * Writes a node. The serializer reads halves of a surrogate pair as letters, but readers decide by the whole
 * character whether a mark begins or ends next to it. So one punctuation character that the node does not
 * contain stands for each such character in texts while the serializer decides. It never changes punctuation.
 * It also stands for the space after the mark of a task, which must not become a reference.
 */
function serialized(node: RootContent, as: Options): string {
  const plain = toMarkdown(node, as)
  if (plain.search(astralPunctuation) === -1 && !plain.includes(']&#x20;')) return plain
  const standIn = standIns.find((character) => !plain.includes(character))
  if (standIn === undefined) return plain
  const replaced: string[] = []
  const text = toMarkdown(withStandIns(node, standIn, replaced), as)
  let at = 0
  return text.replaceAll(standIn, () => replaced[at++] as string)
}

function withStandIns<Node extends Nodes>(node: Node, standIn: string, replaced: string[]): Node {
  if (node.type === 'html' && taskMark.test(node.value)) {
    replaced.push(' ')
    return { ...node, value: node.value.slice(0, -1) + standIn }
  }
  if (node.type === 'text') {
    const value = node.value.replace(astralPunctuation, (character) => {
      replaced.push(character)
      return standIn
    })
    return { ...node, value }
  }
  if (!('children' in node)) return node
  return { ...node, children: node.children.map((child) => withStandIns(child, standIn, replaced)) }
}

/** Returns whether Markdown would read two lists as one if they had the same marker. */
const continuesList = (previous: NeutralBlock, block: NeutralBlock): boolean =>
  isList(previous) && isList(block) && (previous.kind === 'orderedList') === (block.kind === 'orderedList')

const flows = (blocks: readonly NeutralBlock[]): RootContent[] =>
  blocks.filter((block) => !isInvisible(block)).map(flowOf)

function flowOf(block: NeutralBlock): RootContent {
  switch (block.kind) {
    case 'paragraph':
      return { type: 'paragraph', children: phrasing(block.content) }
    case 'heading':
      return { type: 'heading', depth: block.level as 1, children: phrasing(block.content, true) }
    case 'blockquote':
      return { type: 'blockquote', children: flows(block.children) as never[] }
    case 'codeBlock':
      return { type: 'code', lang: block.language, value: block.text }
    case 'horizontalRule':
      return { type: 'thematicBreak' }
    case 'image':
      return { type: 'paragraph', children: phrasing([block]) }
    case 'custom':
      return { type: 'code', lang: blockFence, meta: `${block.id} ${block.name}`, value: '' }
    case 'table':
      return tableOf(block)
    default:
      return listOf(block)
  }
}

function listOf(list: BlockList): RootContent {
  const children = list.children.map(itemOf)
  return {
    type: 'list',
    ordered: list.kind === 'orderedList',
    start: list.kind === 'orderedList' ? list.start : null,
    spread: children.some(({ spread }) => spread),
    children: children as never[],
  }
}

function itemOf(item: ListItem | TaskItem): { type: 'listItem'; spread: boolean; children: RootContent[] } {
  const children = flows(item.children)
  if (item.kind === 'taskItem') {
    // The mark of a task is written as it is. The serializer would leave it out in an empty item.
    const [first] = children
    const mark = { type: 'html' as const, value: item.checked ? '[x]' : '[ ]' }
    if (first?.type === 'paragraph') first.children.unshift({ ...mark, value: `${mark.value} ` })
    else children.unshift({ type: 'paragraph', children: [mark] })
  }
  const [first, ...others] = children
  // A line break alone begins a block of HTML, which ends at an empty line.
  const isLine = first?.type === 'paragraph' && first.children[0] !== lineBreak
  const isCompact = (first === undefined || isLine) && others.every(({ type }) => type === 'list')
  return { type: 'listItem', spread: !isCompact, children }
}

function tableOf(table: TableBlock): RootContent {
  const [header] = table.children
  return {
    type: 'table',
    align: header?.children.map(({ align }) => align) ?? [],
    children: table.children.map((row) => ({
      type: 'tableRow',
      children: row.children.map((cell) => ({
        type: 'tableCell',
        children: phrasing(lineOf(cell), true),
      })),
    })),
  }
}

/** Joins the paragraphs and images of a cell to one line. */
const lineOf = ({ children }: TableCell): Inline[] =>
  children
    .filter((block) => !isInvisible(block))
    .flatMap((block, index) => {
      const space: Inline[] = index === 0 ? [] : [{ kind: 'text', text: ' ', marks: {} }]
      if (block.kind === 'paragraph') return [...space, ...block.content]
      return block.kind === 'image' ? [...space, block] : []
    })

/** @param inOneLine whether the text must not contain line breaks */
function phrasing(content: readonly Inline[], inOneLine = false): PhrasingContent[] {
  const runs = withoutOuterSpace(content.map(withSafeAddresses))
  const nodes = nested(runs, inOneLine)
  // A backslash at the end of a paragraph is not a line break.
  if (nodes.at(-1)?.type === 'break') nodes.splice(-1, 1, lineBreak)
  return nodes
}

function withSafeAddresses(inline: Inline): Inline {
  if (inline.kind === 'image') {
    const { src, href } = inline
    return { ...inline, src: mayRunScript(src) ? '' : src, href: href && mayRunScript(href) ? null : href }
  }
  const isSafe = inline.kind !== 'text' || !mayRunScript(inline.marks.link?.href ?? '')
  return isSafe ? inline : withoutMark(inline, 'link')
}

const lineBreak: PhrasingContent = { type: 'html', value: '<br>' }

const flanking = ['bold', 'italic', 'strike'] as const
type Flanking = (typeof flanking)[number]

/** Moves space at the start and the end of bold, italic and struck text out of these marks. */
function withoutOuterSpace(content: readonly Inline[]): Inline[] {
  const runs: Inline[] = []
  const marksAt = (index: number): BlockMarks => {
    const inline = content[index]
    return inline?.kind === 'text' ? inline.marks : {}
  }
  content.forEach((inline, index) => {
    if (inline.kind !== 'text' || inline.marks.code || !/^ | $/.test(inline.text)) runs.push(inline)
    else {
      const { text, marks } = inline
      const [before, after] = [marksAt(index - 1), marksAt(index + 1)]
      const core = text.trim() === '' ? '' : withoutSpaces(text)
      const lead = core === '' ? text : text.slice(0, text.length - text.replace(/^ +/, '').length)
      const trail = core === '' ? '' : text.slice(lead.length + core.length)
      const outer = core === '' ? shared(shared(marks, before), after) : shared(marks, before)
      if (lead !== '') runs.push({ kind: 'text', text: lead, marks: outer })
      if (core !== '') runs.push({ kind: 'text', text: core, marks })
      if (trail !== '') runs.push({ kind: 'text', text: trail, marks: shared(marks, after) })
    }
  })
  return runs
}

/** Returns the marks without those flanking marks that the other text does not have. */
function shared(marks: BlockMarks, others: BlockMarks): BlockMarks {
  const kept: { -readonly [Name in keyof BlockMarks]: BlockMarks[Name] } = { ...marks }
  for (const mark of flanking) if (!others[mark]) delete kept[mark]
  return kept
}

/** Converts runs of text with marks to nested nodes. The mark with the longest range is the outer one. */
function nested(runs: readonly Inline[], inOneLine: boolean): PhrasingContent[] {
  const nodes: PhrasingContent[] = []
  for (let index = 0; index < runs.length; ) {
    const { mark, end } = longestMark(runs, index)
    if (mark === null) {
      nodes.push(leafOf(runs[index] as Inline, inOneLine))
      index += 1
    } else {
      const inner = nested(
        runs.slice(index, end).map((run) => withoutMark(run, mark)),
        inOneLine,
      )
      nodes.push(wrapped(mark, inner, runs[index] as Inline))
      index = end
    }
  }
  return nodes
}

type Outer = Flanking | 'link'

function longestMark(runs: readonly Inline[], start: number): { mark: Outer | null; end: number } {
  let best: { mark: Outer | null; end: number } = { mark: null, end: start }
  for (const mark of ['link', ...flanking] as const) {
    let [end, at] = [start, start]
    // A line break inside a range of a mark also has the mark.
    for (; at < runs.length; at++) {
      if (hasMark(runs[at] as Inline, mark, runs[start] as Inline)) end = at + 1
      else if (at === start || runs[at]?.kind !== 'hardBreak') break
    }
    if (end > best.end) best = { mark, end }
  }
  return best
}

function hasMark(run: Inline, mark: Outer, first: Inline): boolean {
  if (run.kind !== 'text' || first.kind !== 'text') return false
  if (mark !== 'link') return run.marks[mark] === true
  const { link } = run.marks
  return link !== undefined && link.href === first.marks.link?.href && link.title === first.marks.link?.title
}

function withoutMark(run: Inline, mark: Outer): Inline {
  if (run.kind !== 'text') return run
  const { [mark]: _, ...marks } = run.marks
  return { ...run, marks }
}

function wrapped(mark: Outer, children: PhrasingContent[], run: Inline): PhrasingContent {
  if (mark === 'bold') return { type: 'strong', children }
  if (mark === 'italic') return { type: 'emphasis', children }
  if (mark === 'strike') return { type: 'delete', children }
  const link = run.kind === 'text' ? run.marks.link : undefined
  return { type: 'link', url: link?.href ?? '', title: link?.title ?? null, children }
}

function leafOf(run: Inline, inOneLine: boolean): PhrasingContent {
  switch (run.kind) {
    case 'text': {
      const value = run.text.replace(/[\r\n]+/g, ' ')
      return run.marks.code ? { type: 'inlineCode', value } : { type: 'text', value }
    }
    case 'hardBreak':
      return inOneLine ? lineBreak : { type: 'break' }
    case 'image': {
      const image: PhrasingContent = { type: 'image', url: run.src, alt: run.alt, title: run.title }
      return run.href === null ? image : { type: 'link', url: run.href, title: null, children: [image] }
    }
    case 'custom':
      return { type: 'image', url: `${atomScheme}${run.id}`, alt: run.name, title: null }
    default:
      return run satisfies never
  }
}

/** Returns a text without the spaces at its ends. */
function withoutSpaces(text: string): string {
  let [start, end] = [0, text.length]
  while (text[start] === ' ') start += 1
  while (end > start && text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}

/** Returns the rules that write spaces at the ends of cells as references, because parsers remove them. */
function spacesAtEndsOfCells(): Unsafe[] {
  const unicode =
    '\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\ufeff'
  const rules = (characters: string, before: string, after: string): Unsafe[] =>
    characters.split('').flatMap((character): Unsafe[] => [
      { character, before, inConstruct: 'tableCell' },
      { character, after, inConstruct: 'tableCell' },
    ])
  return [...rules(unicode, '[ |]', '[ |]'), ...rules(' \t', '^[ |]', '[ |]$')]
}

/** Returns the rules that write characters as references that the serializer regards as spaces, and readers as letters. */
function lettersThatAreSpaces(): Unsafe[] {
  return '\u2028\u2029\ufeff'.split('').map((character) => ({ character, inConstruct: 'phrasing' }))
}
