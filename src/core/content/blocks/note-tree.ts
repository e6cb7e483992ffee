import { randomUUID } from 'node:crypto'
import { limits } from '../../model/limits.ts'
import { contentLimit } from '../content-error.ts'
import { blocknoteSpec } from '../schemas/presets/blocknote.ts'
import { byName, storedName } from '../xml/names.ts'
import type { NormalForm } from '../xml/normal-form.ts'
import type { XmlScope } from '../xml/read-tree.ts'
import type { LiveElement, LiveNode, NodeInterner, XmlElement, XmlNode, XmlParent } from '../xml/tree.ts'
import { continued } from './block.ts'
import { attributeOf } from './block-reader.ts'

type Attributes = XmlElement['attributes']

/** A stored container with a block, as the first child, and nested blocks. */
interface StoredBlock {
  readonly container: LiveElement
  readonly content: LiveElement
  /** The block around it that is on the same level of the view; null if there is none. */
  readonly parent: number | null
}

/** A block of the new content, and the blocks below it on the same level of the view. */
interface NewBlock {
  readonly node: XmlElement
  readonly stored: StoredBlock | null
  readonly below: (NewBlock | XmlNode)[]
}

/** Attribute of a block in the view: the index of its stored block. */
const storedAttribute = 'stored'

/** Attribute of a row in the view: the row is stored. */
const rowAttribute = 'row'

/** Attribute of a cell in the view: its stored name, if the view shows another one. */
const cellAttribute = 'cell'

const noChildren: readonly LiveNode[] = []

/**
 * Shows the tree of a BlockNote root in the nesting of the neutral blocks, and converts it back. BlockNote
 * stores each block in a container, together with the blocks that are nested in it. In the view, the blocks in
 * an item and in a quote are its children. Blocks that are nested in others follow them on the same level,
 * because text formats have no such nesting.
 */
export class NoteTree {
  /** The root of the view, in the names of the dialect. */
  readonly view: LiveElement
  readonly #root: LiveElement
  readonly #editor: NormalForm | null
  readonly #numbers: NodeInterner
  readonly #hasHeaderRows: boolean
  readonly #group: LiveElement | null
  readonly #blocks: StoredBlock[] = []
  /** Stored nodes that are not blocks in containers. The view shows them as they are. */
  readonly #others = new Set<XmlNode>()
  readonly #used = new Set<StoredBlock | XmlNode>()

  /** @param hasHeaderRows whether the format needs a header row in each table */
  constructor(root: LiveElement, { vocabulary, numbers }: XmlScope, hasHeaderRows: boolean) {
    this.#root = root
    this.#editor = vocabulary.editor
    this.#numbers = numbers
    this.#hasHeaderRows = hasHeaderRows
    const [only, ...others] = root.children
    const isGroup = only?.kind === 'element' && only.name === 'blockGroup' && others.length === 0
    this.#group = isGroup ? only : null
    const level: LiveNode[] = []
    this.#read(isGroup ? only.children : root.children, null, level)
    this.view = this.#shown('', [], level, root.type)
  }

  /** Adds the blocks in a group to a level of the view. */
  #read(nodes: readonly LiveNode[], parent: number | null, level: LiveNode[]): void {
    let isAfterNumber = false
    for (const node of nodes) {
      const parts = partsOf(node)
      if (parts === null) {
        this.#others.add(node)
        level.push(node)
        continue
      }
      const { content, nested } = parts
      const isInside = nestingNames.has(content.name)
      const index = this.#blocks.push({ ...parts, parent }) - 1
      const inner: LiveNode[] = []
      if (isInside) this.#read(nested, null, inner)
      level.push(this.#block(parts, index, inner, isAfterNumber))
      if (!isInside) this.#read(nested, index, level)
      isAfterNumber = content.name === 'numberedListItem'
    }
  }

  /** Returns the view of a block. */
  #block(
    { container, content }: Pick<StoredBlock, 'container' | 'content'>,
    index: number,
    inner: readonly LiveNode[],
    isAfterNumber: boolean,
  ): LiveElement {
    const show = (name: string, attributes: Attributes, children: readonly LiveNode[]): LiveElement =>
      this.#shown(name, [...attributes, [storedAttribute, String(index)]], children, container.type)
    const line = (): LiveNode[] => [this.#shown('paragraph', [], content.children, content.type), ...inner]
    const item = (name: string, attributes: Attributes = []): LiveElement[] => [
      this.#shown(name, attributes, line(), content.type),
    ]
    switch (content.name) {
      case 'heading':
        return show('heading', [['level', attributeOf(content, 'level') ?? '1']], content.children)
      case 'bulletListItem':
      case 'toggleListItem':
        return show('bulletListItem', [], item('#item'))
      case 'numberedListItem': {
        const start = isAfterNumber ? String(continued) : (attributeOf(content, 'start') ?? '1')
        return show('numberedListItem', [['start', start]], item('#item'))
      }
      case 'checkListItem':
        return show(
          'checkListItem',
          [],
          item('#task', [['checked', attributeOf(content, 'checked') ?? 'false']]),
        )
      case 'quote':
        return show('quote', [], line())
      case 'codeBlock': {
        const language = attributeOf(content, 'language') ?? plainLanguage
        return show('codeBlock', language === plainLanguage ? [] : [['language', language]], content.children)
      }
      case 'image':
        return show('image', imageView(content), noChildren)
      case 'table':
        return show('table', [], this.#rows(content))
      default:
        return show(content.name, [], content.children)
    }
  }

  /** Returns the view of the rows of a table; no rows if blocks cannot represent the table. */
  #rows(table: LiveElement): readonly LiveNode[] {
    const rows: LiveElement[] = []
    for (const row of table.children) {
      const cells = row.kind === 'element' && row.name === 'tableRow' ? this.#cells(row) : null
      if (cells === null || row.kind !== 'element') return noChildren
      rows.push(this.#shown('tableRow', [[rowAttribute, '']], cells, row.type))
    }
    const [first] = rows
    if (!this.#hasHeaderRows || first === undefined) return rows
    const isHeader = first.children.every((cell) => cell.kind === 'element' && cell.name === 'tableHeader')
    const body = (isHeader ? rows.slice(1) : rows).map((row) => this.#bodyRow(row))
    return [isHeader ? first : this.#emptyHeader(first), ...body]
  }

  #cells(row: LiveElement): LiveElement[] | null {
    const cells: LiveElement[] = []
    for (const cell of row.children) {
      if (cell.kind === 'text' || !(cell.name === 'tableCell' || cell.name === 'tableHeader')) return null
      const paragraphs: LiveElement[] = []
      for (const child of cell.children) {
        if (child.kind === 'text' || child.name !== 'tableParagraph') return null
        paragraphs.push(this.#shown('paragraph', child.attributes, child.children, child.type))
      }
      const align = attributeOf(cell, 'textAlignment')
      const shown: Attributes = align === 'center' || align === 'right' ? [['align', align]] : []
      cells.push(this.#shown(cell.name, [...cell.attributes, ...shown], paragraphs, cell.type))
    }
    return cells
  }

  /** Returns a row below the header row. Markdown cannot represent header cells in it. */
  #bodyRow(row: LiveElement): LiveElement {
    const cells = row.children.map((cell) =>
      cell.kind === 'element' && cell.name === 'tableHeader'
        ? this.#shown('tableCell', [...cell.attributes, [cellAttribute, cell.name]], cell.children, cell.type)
        : cell,
    )
    return this.#shown(row.name, row.attributes, cells, row.type)
  }

  /** Returns an empty header row for a table that has none. */
  #emptyHeader(first: LiveElement): LiveElement {
    const cells = first.children.map(() =>
      this.#shown('tableHeader', [], [this.#shown('paragraph', [], noChildren, first.type)], first.type),
    )
    return this.#shown('tableRow', [], cells, first.type)
  }

  #shown(name: string, attributes: Attributes, children: readonly LiveNode[], type: XmlParent): LiveElement {
    return { ...this.#element(name, attributes, children), children, type, blanks: new Map() }
  }

  #element(
    name: string,
    attributes: Iterable<readonly [string, string]>,
    children: readonly XmlNode[],
  ): XmlElement {
    return this.#numbers.element(name, [...attributes].sort(byName), children)
  }

  /** Returns the root for changed blocks of the view. BlockNote needs at least one block. */
  restored(blocks: readonly XmlNode[]): XmlElement {
    const nodes = this.restoredBlocks(blocks)
    if (this.#group === null && this.#root.children.length > 0)
      return this.#element('', [], this.#inGroups(nodes))
    const isEmpty = this.#group === null && nodes.length === 0
    const children = nodes.length > 0 ? nodes : [this.#container(null, this.#new('paragraph', []), [])]
    return this.#element(
      '',
      [],
      isEmpty ? [] : [this.#element('blockGroup', this.#group?.attributes ?? [], children)],
    )
  }

  /** Puts adjacent containers in groups, in a root that does not have the form of BlockNote. */
  #inGroups(nodes: readonly XmlNode[]): XmlNode[] {
    const all: XmlNode[] = []
    let containers: XmlNode[] = []
    const end = (): void => {
      if (containers.length > 0) all.push(this.#element('blockGroup', [], containers))
      containers = []
    }
    for (const node of nodes) {
      if (node.kind === 'element' && node.name === 'blockContainer' && !this.#others.has(node))
        containers.push(node)
      else {
        end()
        all.push(node)
      }
    }
    end()
    return all
  }

  /** Returns the containers for blocks of the view. */
  restoredBlocks(blocks: readonly XmlNode[], depth = 1): XmlNode[] {
    if (depth > limits.typeDepth - 3)
      throw contentLimit(
        `data has too much: blocks of BlockNote are at most ${(limits.typeDepth - 3) >> 1} deep`,
      )
    return this.#nested(blocks).map((block) => this.#restored(block, depth))
  }

  #restored(block: NewBlock | XmlNode, depth: number): XmlNode {
    if (!('node' in block)) return block
    const { node, stored, below } = block
    const { content, inner } = this.#content(node, stored)
    const nested = [
      ...(inner.length === 0 ? [] : this.restoredBlocks(inner, depth + 2)),
      ...below.map((each) => this.#restored(each, depth + 2)),
    ]
    const isFirst = stored !== null && !this.#used.has(stored)
    if (stored !== null) this.#used.add(stored)
    return this.#container(isFirst ? stored : null, content, nested)
  }

  #container(stored: StoredBlock | null, content: XmlNode, nested: readonly XmlNode[]): XmlElement {
    const group = nested.length === 0 ? [] : [this.#element('blockGroup', [], nested)]
    const attributes = stored?.container.attributes ?? [['id', randomUUID()] as const]
    return this.#element('blockContainer', attributes, [content, ...group])
  }

  /**
   * Nests the blocks of a level. A stored block stays in the block around it, if this one stays. A new block is
   * nested like the stored block after it.
   */
  #nested(nodes: readonly XmlNode[]): (NewBlock | XmlNode)[] {
    const stored = nodes.map((node) => this.#storedOf(node))
    const followed = [...stored]
    for (let index = followed.length - 2; index >= 0; index--) followed[index] ??= followed[index + 1] ?? null
    const top: (NewBlock | XmlNode)[] = []
    /** The blocks around the next one, from the outermost, and their positions. */
    const around: { readonly block: NewBlock; readonly stored: StoredBlock }[] = []
    const positions = new Map<StoredBlock, number>()
    nodes.forEach((node, index) => {
      let parent = this.#parentOf(followed[index] ?? null)
      while (parent !== null && !positions.has(parent)) parent = this.#parentOf(parent)
      const depth = parent === null ? 0 : (positions.get(parent) as number) + 1
      for (const { stored: closed } of around.splice(depth)) positions.delete(closed)
      const siblings = around.at(-1)?.block.below ?? top
      const own = stored[index] ?? null
      if (node.kind === 'text' || (own === null && this.#others.has(node))) siblings.push(this.#other(node))
      else {
        const block: NewBlock = { node, stored: own, below: [] }
        siblings.push(block)
        if (own !== null && !positions.has(own)) {
          positions.set(own, around.length)
          around.push({ block, stored: own })
        }
      }
    })
    return top
  }

  #storedOf(node: XmlNode): StoredBlock | null {
    if (node.kind === 'text' || this.#others.has(node)) return null
    const index = attributeOf(node, storedAttribute)
    return index === undefined ? null : (this.#blocks[Number(index)] ?? null)
  }

  #parentOf = (block: StoredBlock | null): StoredBlock | null =>
    block === null || block.parent === null ? null : (this.#blocks[block.parent] ?? null)

  /** Returns a node that is not a block. A copy of it gets new ids. */
  #other(node: XmlNode): XmlNode {
    if (!this.#used.has(node)) {
      this.#used.add(node)
      return node
    }
    return this.#copy(node)
  }

  #copy(node: XmlNode): XmlNode {
    if (node.kind === 'text') return node
    const attributes = node.attributes.map(([name, text]): readonly [string, string] =>
      node.name === 'blockContainer' && name === 'id' ? [name, randomUUID()] : [name, text],
    )
    return this.#element(
      node.name,
      attributes,
      node.children.map((child) => this.#copy(child)),
    )
  }

  /** Returns the content of a container, and the blocks in it. */
  #content(
    node: XmlElement,
    stored: StoredBlock | null,
  ): { readonly content: XmlElement; readonly inner: readonly XmlNode[] } {
    const name = stored?.content.name ?? node.name
    const content = (children: readonly XmlNode[], stated: readonly StatedValue[] = []): XmlElement =>
      this.#new(name, children, stored?.content.attributes, stated)
    const inLine = (parent: XmlElement, stated: readonly StatedValue[] = []) => {
      const [first, ...others] = parent.children
      const hasLine = first?.kind === 'element' && first.name === 'paragraph'
      const line = hasLine ? first.children : []
      return { content: content(line, stated), inner: hasLine ? others : parent.children }
    }
    const only = (children: readonly XmlNode[], stated: readonly StatedValue[] = []) => ({
      content: content(children, stated),
      inner: [],
    })
    switch (node.name) {
      case 'paragraph':
        return only(node.children)
      case 'heading':
        return only(node.children, [['level', attributeOf(node, 'level') ?? '1', '1']])
      case 'quote':
        return inLine(node)
      case 'bulletListItem':
      case 'numberedListItem':
      case 'checkListItem': {
        const [item] = node.children as readonly XmlElement[]
        const start = attributeOf(node, 'start') ?? String(continued)
        const stated: StatedValue[] =
          node.name === 'checkListItem'
            ? [['checked', attributeOf(item as XmlElement, 'checked') ?? 'false', 'false']]
            : start === String(continued)
              ? []
              : [['start', start === '1' ? null : start, '1']]
        return inLine(item as XmlElement, stated)
      }
      case 'codeBlock':
        return only(node.children, [
          ['language', attributeOf(node, 'language') ?? plainLanguage, plainLanguage],
        ])
      case 'image': {
        const stated = [...imageNames].map(
          ([shown, own]): StatedValue => [own, attributeOf(node, shown) ?? '', ''],
        )
        return only([], stated)
      }
      case 'table':
        return only(
          node.children.length === 0 && stored !== null ? stored.content.children : this.#table(node),
        )
      default:
        return only(stored?.content.children ?? node.children)
    }
  }

  /** Returns the stored rows of a table. An empty header row means that the table has none. */
  #table({ children }: XmlElement): XmlNode[] {
    const rows = children as readonly XmlElement[]
    const [first, ...others] = rows
    const isLeftOut =
      first !== undefined &&
      others.length > 0 &&
      attributeOf(first, rowAttribute) === undefined &&
      first.children.every(
        (cell) => cell.kind === 'element' && cell.name === 'tableHeader' && isEmptyCell(cell),
      )
    return (isLeftOut ? others : rows).map((row) =>
      this.#element(
        'tableRow',
        row.attributes.filter(([name]) => name !== rowAttribute),
        row.children.map((cell) => this.#cell(cell as XmlElement)),
      ),
    )
  }

  #cell(cell: XmlElement): XmlElement {
    const paragraphs = cell.children.map((child) =>
      child.kind === 'text' ? child : this.#element('tableParagraph', child.attributes, child.children),
    )
    const align = attributeOf(cell, 'align')
    const before = attributeOf(cell, 'textAlignment')
    const isShown = before === 'center' || before === 'right'
    const own = cell.attributes.filter(([name]) => name !== 'align' && name !== cellAttribute)
    const isStored = own.length > 0
    const stated: StatedValue[] =
      align !== undefined || isShown ? [['textAlignment', align ?? 'left', 'left']] : []
    return this.#new(
      attributeOf(cell, cellAttribute) ?? cell.name,
      paragraphs,
      isStored ? own : undefined,
      stated,
    )
  }

  /**
   * Returns an element. Its attributes are the stored ones or the defaults of BlockNote, changed to the stated
   * ones.
   */
  #new(
    name: string,
    children: readonly XmlNode[],
    stored: Attributes = this.#defaultsOf(name),
    stated: readonly StatedValue[] = [],
  ): XmlElement {
    const attributes = new Map(stored)
    for (const [attribute, value, initial] of stated) {
      if ((attributes.get(attribute) ?? initial) === (value ?? initial) || !this.#has(name, attribute))
        continue
      if (value === null) attributes.delete(attribute)
      else attributes.set(attribute, value)
    }
    return this.#element(name, attributes, children)
  }

  /** Returns the attributes that BlockNote stores in a new element, if the schema has them. */
  #defaultsOf(name: string): Attributes {
    return Object.entries(blocknoteSpec.nodes[name]?.attributes ?? {}).flatMap(([attribute, spec]) => {
      const initial = spec.default
      if (initial === undefined || initial === null || !this.#has(name, attribute)) return []
      return [[attribute, String(initial)] as const]
    })
  }

  #has = (name: string, attribute: string): boolean =>
    this.#editor === null || this.#editor.hasAttribute(storedName(name), attribute)
}

/** An attribute that a block states: its value, where null stands for an absent one, and its default. */
type StatedValue = readonly [name: string, value: string | null, initial: string]

/** Names of blocks whose nested blocks are their children in the view. */
const nestingNames: ReadonlySet<string> = new Set([
  'bulletListItem',
  'numberedListItem',
  'checkListItem',
  'toggleListItem',
  'quote',
])

/** Language of a code block without a language. */
const plainLanguage = 'text'

/** Attributes of an image in the view, and their stored names. */
const imageNames = [
  ['src', 'url'],
  ['alt', 'name'],
  ['title', 'caption'],
] as const

/** An image without an address is a place for an upload, which text formats cannot represent. */
const imageView = (image: LiveElement): Attributes =>
  imageNames.flatMap(([shown, own]) => {
    const value = attributeOf(image, own) ?? ''
    return value === '' ? [] : [[shown, value] as const]
  })

const isEmptyCell = (cell: XmlElement): boolean =>
  cell.children.every((child) => child.kind === 'element' && child.children.length === 0)

/** Returns the block and the nested blocks of a container; null if a node is another one. */
function partsOf(node: LiveNode): {
  readonly container: LiveElement
  readonly content: LiveElement
  readonly nested: readonly LiveNode[]
} | null {
  if (node.kind === 'text' || node.name !== 'blockContainer') return null
  const [content, group, ...others] = node.children
  if (content?.kind !== 'element' || others.length > 0) return null
  if (group === undefined) return { container: node, content, nested: noChildren }
  if (group.kind === 'text' || group.name !== 'blockGroup' || group.attributes.length > 0) return null
  return { container: node, content, nested: group.children }
}
