import { memoized } from '../../base/maps.ts'
import type { MarkSet } from '../xml/mark-sets.ts'
import type { XmlElement, XmlNode, XmlText } from '../xml/tree.ts'
import {
  type BlockMarks,
  type BlockNode,
  type CustomNode,
  continued,
  type Inline,
  type ListItem,
  type NeutralBlock,
  type TableCell,
  type TableRow,
} from './block.ts'
import { isInvisible } from './block-keys.ts'
import type { Dialect, MarkIndex, MarkName, NamedKind } from './dialect.ts'

/** Returns the id of a stored node. It stays the same as long as the node exists. */
export type NodeIds = (node: XmlNode) => string

/** Reads stored nodes as blocks. A node that the dialect or the block tree cannot represent becomes custom. */
export class BlockReader {
  /** The stored node of each block and atom that was read. */
  readonly origins: Map<BlockNode | Inline, XmlNode> = new Map()
  readonly #hasAllTables: boolean
  readonly #dialect: Dialect
  readonly #ids: NodeIds
  readonly #marks: MarkIndex
  readonly #kinds: ReadonlyMap<string, NamedKind>
  readonly #markNames: ReadonlyMap<string, MarkName>
  readonly #markSets = new Map<MarkSet, BlockMarks>()

  /**
   * Creates a reader.
   * @param tables tables that are blocks. `simple`: tables with one header row and one line in each cell.
   * `all`: tables without merged cells.
   */
  constructor(dialect: Dialect, marks: MarkIndex, ids: NodeIds, tables: 'simple' | 'all' = 'simple') {
    this.#ids = ids
    this.#hasAllTables = tables === 'all'
    this.#dialect = dialect
    this.#marks = marks
    this.#kinds = new Map(Object.entries(dialect.nodes).map(([kind, name]) => [name, kind as NamedKind]))
    this.#markNames = new Map(Object.entries(dialect.marks).map(([kind, name]) => [name, kind as MarkName]))
  }

  blocks(nodes: readonly XmlNode[]): NeutralBlock[] {
    return nodes.map((node) =>
      this.#noted((node.kind === 'element' && this.#block(node)) || this.#custom(node), node),
    )
  }

  /** Returns the formatting of a text that the block tree represents. */
  marksOf = (set: MarkSet): BlockMarks => memoized(this.#markSets, set, () => this.#readMarks(set))

  #readMarks(set: MarkSet): BlockMarks {
    const marks: { -readonly [Name in MarkName]?: BlockMarks[Name] } = {}
    for (const { name, attributes } of this.#marks.formsOf(set)) {
      const mark = this.#markNames.get(name)
      if (mark === undefined || marks[mark] !== undefined) continue
      if (mark !== 'link') marks[mark] = true
      else {
        const values = new Map(attributes)
        const href = values.get('href')
        if (href !== undefined) marks.link = { href, title: values.get('title') ?? null }
      }
    }
    return marks
  }

  /** Returns whether the block tree represents a mark with this stored name. */
  isKnownMark(name: string): boolean {
    return this.#markNames.has(name)
  }

  /** Returns whether an element is stored, or has text without formatting. */
  isStoredOrCode = (node: XmlElement): boolean => 'type' in node || this.#kinds.get(node.name) === 'codeBlock'

  /** Reads a line of text with its atoms. */
  line(nodes: readonly XmlNode[]): Inline[] {
    return nodes.flatMap((node) =>
      node.kind === 'text' ? this.#text(node) : [this.#noted(this.#atom(node), node)],
    )
  }

  #custom = (node: XmlNode): CustomNode => ({
    kind: 'custom',
    id: this.#ids(node),
    name: node.kind === 'text' ? 'text' : node.name,
  })

  #noted<T extends BlockNode | Inline>(block: T, node: XmlNode): T {
    this.origins.set(block, node)
    return block
  }

  #text({ text, runs }: XmlText): Inline[] {
    return runs.map(({ start, marks }, index) => ({
      kind: 'text',
      text: text.slice(start, runs[index + 1]?.start ?? text.length).toWellFormed(),
      marks: this.marksOf(marks),
    }))
  }

  #atom(node: XmlElement): Inline {
    const kind = this.#kinds.get(node.name)
    if (kind === 'hardBreak') return { kind }
    return (kind === 'image' ? imageOf(node) : null) ?? this.#custom(node)
  }

  #block(node: XmlElement): NeutralBlock | null {
    switch (this.#kinds.get(node.name)) {
      case 'paragraph':
        return this.#paragraph(node)
      case 'heading': {
        const level = Number(attributeOf(node, 'level'))
        return level >= 1 && level <= 6 ? { kind: 'heading', level, content: this.line(node.children) } : null
      }
      case 'blockquote':
        return { kind: 'blockquote', children: this.blocks(node.children) }
      case 'bulletList': {
        const children = this.#items(node)
        return children && { kind: 'bulletList', children }
      }
      case 'orderedList': {
        const start = Number(attributeOf(node, this.#dialect.start) ?? 1)
        const children = this.#items(node)
        const least = this.#dialect.isFlat ? continued : 0
        if (children === null || !Number.isInteger(start) || start < least || start > 999_999_999) return null
        return { kind: 'orderedList', start, children }
      }
      case 'taskList': {
        const children = this.#parts(node, ['taskItem'], (item) => ({
          kind: 'taskItem' as const,
          checked: attributeOf(item, 'checked') === 'true',
          children: this.blocks(item.children),
        }))
        return children && { kind: 'taskList', children }
      }
      case 'codeBlock':
        return this.#code(node)
      case 'horizontalRule':
        return { kind: 'horizontalRule' }
      case 'table':
        return this.#table(node)
      case 'image':
        return imageOf(node)
      default:
        return null
    }
  }

  #items = (list: XmlElement): ListItem[] | null =>
    this.#parts(list, ['listItem'], ({ children }) => ({ kind: 'listItem', children: this.blocks(children) }))

  #paragraph(node: XmlElement): NeutralBlock {
    const content = this.line(node.children)
    const [only] = content
    if (content.length === 1 && only?.kind === 'image' && !this.#dialect.hasBlockImages) return { ...only }
    return { kind: 'paragraph', content }
  }

  /** Reads the parts of a node, for example the items of a list; null if it has other children or none. */
  #parts<T extends BlockNode, Kind extends NamedKind>(
    node: XmlElement,
    kinds: readonly Kind[],
    read: (part: XmlElement, kind: Kind) => T | null,
  ): T[] | null {
    const parts: T[] = []
    for (const child of node.children) {
      if (child.kind === 'text') return null
      const kind = kinds.find((each) => each === this.#kinds.get(child.name))
      const part = kind === undefined ? null : read(child, kind)
      if (part === null) return null
      parts.push(this.#noted(part, child))
    }
    return parts.length === 0 ? null : parts
  }

  #code(node: XmlElement): NeutralBlock | null {
    let text = ''
    for (const child of node.children) {
      if (child.kind === 'element') return null
      text += child.text.toWellFormed()
    }
    const language = attributeOf(node, this.#dialect.language) ?? null
    return { kind: 'codeBlock', language: language === '' ? null : language, text }
  }

  /** Reads a table without merged cells; null if it is not one of those that are blocks. */
  #table(node: XmlElement): NeutralBlock | null {
    const rows = this.#parts(node, ['tableRow'], (row) => this.#row(row, row === node.children[0]))
    const width = rows?.[0]?.children.length
    if (rows === null || rows.some(({ children }) => children.length !== width)) return null
    return { kind: 'table', children: rows }
  }

  #row(node: XmlElement, isFirst: boolean): TableRow | null {
    const kinds = (['tableCell', 'tableHeader'] as const).filter(
      (kind) => this.#hasAllTables || (kind === 'tableHeader') === isFirst,
    )
    const children = this.#parts(node, kinds, (cell, kind) => this.#cell(cell, kind))
    return children && { kind: 'tableRow', children }
  }

  #cell(node: XmlElement, kind: TableCell['kind']): TableCell | null {
    const isMerged = ['colspan', 'rowspan'].some((name) => (attributeOf(node, name) ?? '1') !== '1')
    const children = this.blocks(node.children)
    const visible = children.filter((child) => !isInvisible(child))
    const isLine = visible.every(
      ({ kind }, index) =>
        kind === 'image' || (kind === 'paragraph' && visible[index - 1]?.kind !== 'paragraph'),
    )
    if (isMerged || (!isLine && !this.#hasAllTables)) return null
    const align = attributeOf(node, 'align')
    return {
      kind,
      align: align === 'left' || align === 'center' || align === 'right' ? align : null,
      children,
    }
  }
}

export const attributeOf = (node: XmlElement, name: string): string | undefined =>
  node.attributes.find(([known]) => known === name)?.[1]

function imageOf(node: XmlElement): (NeutralBlock & Inline) | null {
  const src = attributeOf(node, 'src')
  if (src === undefined) return null
  return {
    kind: 'image',
    src,
    alt: attributeOf(node, 'alt') ?? '',
    title: attributeOf(node, 'title') ?? null,
    href: attributeOf(node, 'href') ?? null,
  }
}
