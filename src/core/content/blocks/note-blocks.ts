import {
  type BlockList,
  type BlockMarks,
  continued,
  type Image,
  type Inline,
  isList,
  type ListItem,
  type NeutralBlock,
  type Paragraph,
  type TableCell,
  type TaskItem,
} from './block.ts'
import { isInvisible } from './block-keys.ts'
import type { LiveBlock } from './merge-blocks.ts'

/**
 * Returns a block in the form in which BlockNote can represent it. The first paragraphs of a quote become one,
 * and so does the content of a cell; line breaks divide them. Text with the mark `code` has no other marks.
 * Links have no title, and images have no link.
 */
export function noteBlock(block: NeutralBlock): NeutralBlock {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return { ...block, content: lineOf(block.content) }
    case 'blockquote':
      return { kind: 'blockquote', children: joinedStart(block.children.map(noteBlock)) }
    case 'bulletList':
    case 'orderedList':
      return { ...block, children: block.children.map(itemOf) }
    case 'taskList':
      return { ...block, children: block.children.map(itemOf) }
    case 'table':
      return {
        kind: 'table',
        children: block.children.map((row) => ({ ...row, children: row.children.map(cellOf) })),
      }
    case 'image':
      return { ...block, href: null }
    default:
      return block
  }
}

const itemOf = <Item extends ListItem | TaskItem>(item: Item): Item => ({
  ...item,
  children: item.children.map(noteBlock),
})

const lineOf = (content: readonly Inline[]): Inline[] =>
  content.map((inline) => (inline.kind === 'text' ? { ...inline, marks: marksOf(inline.marks) } : inline))

function marksOf(marks: BlockMarks): BlockMarks {
  if (marks.code) return { code: true }
  return marks.link === undefined ? marks : { ...marks, link: { href: marks.link.href, title: null } }
}

/** Joins the paragraphs at the start of a quote. */
function joinedStart(blocks: readonly NeutralBlock[]): readonly NeutralBlock[] {
  const found = blocks.findIndex(({ kind }) => kind !== 'paragraph')
  const paragraphs = (found === -1 ? blocks : blocks.slice(0, found)) as readonly Paragraph[]
  return paragraphs.length < 2
    ? blocks
    : [joined(paragraphs.map(({ content }) => content)), ...blocks.slice(paragraphs.length)]
}

const joined = (lines: readonly (readonly Inline[])[]): Paragraph => ({
  kind: 'paragraph',
  content: lines.flatMap((line, index) => (index === 0 ? line : [{ kind: 'hardBreak' as const }, ...line])),
})

function cellOf(cell: TableCell): TableCell {
  const lines = linesIn(cell.children).filter((line) => line.length > 0)
  return { ...cell, children: lines.length === 0 ? [] : [joined(lines)] }
}

/** Returns the lines of text in blocks. An image becomes a link, and a placeholder no line. */
function linesIn(blocks: readonly NeutralBlock[]): Inline[][] {
  return blocks.flatMap((block): Inline[][] => {
    if ('content' in block) return [lineOf(block.content)]
    switch (block.kind) {
      case 'codeBlock':
        return block.text.split('\n').map((text) => (text === '' ? [] : [{ kind: 'text', text, marks: {} }]))
      case 'image':
        return [[linkTo(block)]]
      case 'blockquote':
        return linesIn(block.children)
      case 'bulletList':
      case 'orderedList':
      case 'taskList':
        return block.children.flatMap((item: ListItem | TaskItem) => linesIn(item.children))
      case 'table':
        return block.children.flatMap((row) => row.children.flatMap((cell) => linesIn(cell.children)))
      default:
        return []
    }
  })
}

const linkTo = ({ src, alt }: Image): Inline => ({
  kind: 'text',
  text: alt === '' ? src : alt,
  marks: { link: { href: src, title: null } },
})

/** Returns blocks in which each item is a list of its own, on all levels. */
export function splitLists(blocks: readonly NeutralBlock[]): NeutralBlock[] {
  const split: NeutralBlock[] = []
  for (const block of blocks) {
    if (block.kind === 'blockquote') split.push({ ...block, children: splitLists(block.children) })
    else if (!isList(block)) split.push(block)
    else {
      for (const item of block.children) {
        const own = { ...item, children: splitLists(item.children) }
        const isFirst = item === block.children[0] && split.at(-1)?.kind !== 'orderedList'
        split.push(listOf(block, [own], isFirst))
      }
    }
  }
  return split
}

/** Blocks with lists, and for each of them its parts: the lists that became one. */
interface JoinedLists {
  readonly blocks: readonly NeutralBlock[]
  readonly parts: ReadonlyMap<NeutralBlock, readonly NeutralBlock[]>
}

/** Joins adjacent lists of the same kind, on all levels. */
export function joinLists(blocks: readonly NeutralBlock[]): JoinedLists {
  const parts = new Map<NeutralBlock, readonly NeutralBlock[]>()
  return { blocks: joinedLists(blocks, (block, of) => parts.set(block, of)), parts }
}

function joinedLists(
  blocks: readonly NeutralBlock[],
  note?: (block: NeutralBlock, parts: readonly NeutralBlock[]) => unknown,
): NeutralBlock[] {
  const all: NeutralBlock[] = []
  for (let start = 0; start < blocks.length; ) {
    const first = blocks[start] as NeutralBlock
    let end = start + 1
    while (end < blocks.length && continues(first, blocks[end] as NeutralBlock)) end += 1
    const parts = blocks.slice(start, end)
    const block = isList(first)
      ? listOf(
          first,
          (parts as BlockList[]).flatMap((part) => part.children.map(joinedItem)),
          true,
        )
      : first.kind === 'blockquote'
        ? { ...first, children: joinedLists(first.children) }
        : first
    note?.(block, parts)
    all.push(block)
    start = end
  }
  return all
}

const joinedItem = <Item extends ListItem | TaskItem>(item: Item): Item => ({
  ...item,
  children: joinedLists(item.children),
})

const continues = (first: NeutralBlock, next: NeutralBlock): boolean =>
  isList(first) && first.kind === next.kind && (next.kind !== 'orderedList' || next.start === continued)

function listOf(list: BlockList, children: readonly (ListItem | TaskItem)[], isFirst: boolean): BlockList {
  if (list.kind !== 'orderedList') return { ...list, children: children as never }
  const first = list.start === continued ? 1 : list.start
  return {
    kind: 'orderedList',
    start: isFirst ? first : continued,
    children: children as readonly ListItem[],
  }
}

/** Divides stored blocks into their parts, together with the blocks that their text is read as. */
export const splitLive = (live: readonly LiveBlock[], parts: JoinedLists['parts']): LiveBlock[] =>
  live.flatMap(({ block, views }) => {
    const own = parts.get(block as NeutralBlock) ?? []
    const split = splitLists(views as readonly NeutralBlock[])
    if (own.length === 1) return own.map((part) => ({ block: part, views: split }))
    return own.map((part, index) => ({
      block: part,
      views: split.length === own.length ? [split[index] as NeutralBlock] : isInvisible(part) ? [] : [part],
    }))
  })
