import { memoized } from '../../base/maps.ts'
import type { MarkSet } from '../xml/mark-sets.ts'
import { byName, storedName } from '../xml/names.ts'
import type { MarkForm } from '../xml/stored-marks.ts'
import { ChildrenBuilder, type NodeInterner, type XmlElement, type XmlNode } from '../xml/tree.ts'
import { type BlockMarks, type BlockNode, blockChildren, type Inline } from './block.ts'
import { marksKey } from './block-keys.ts'
import type { Dialect, MarkIndex, MarkName, NamedKind } from './dialect.ts'

type Attributes = ReadonlyMap<string, string>

const noAttributes: Attributes = new Map()

/** Converts blocks to nodes with stored names. */
export class BlockWriter {
  readonly #dialect: Dialect
  readonly marks: MarkIndex
  readonly #numbers: NodeInterner
  /** The stored nodes for which custom nodes stand, by their ids. */
  readonly #stored: ReadonlyMap<string, XmlNode>
  readonly #built = new Map<BlockNode, XmlNode>()
  readonly #markSets = new Map<string, MarkSet>()

  constructor(
    dialect: Dialect,
    { marks, numbers }: { readonly marks: MarkIndex; readonly numbers: NodeInterner },
    stored: ReadonlyMap<string, XmlNode>,
  ) {
    this.#dialect = dialect
    this.marks = marks
    this.#numbers = numbers
    this.#stored = stored
  }

  /** Returns whether a text with these marks can have no others. */
  areAlone({ code }: BlockMarks): boolean {
    return code === true && this.#dialect.isCodeAlone === true
  }

  /** Returns the node of a block that is new in the document. */
  build(block: BlockNode): XmlNode {
    return memoized(this.#built, block, () => this.#build(block))
  }

  #build(block: BlockNode): XmlNode {
    if (block.kind === 'custom') return this.#stored.get(block.id) ?? this.element('paragraph', [])
    if (block.kind === 'image' && !this.#dialect.hasBlockImages) {
      return this.element('paragraph', [this.atom(block)])
    }
    return this.element(block.kind, this.#content(block), this.attributes(block))
  }

  #content(block: BlockNode): XmlNode[] {
    if (block.kind === 'codeBlock') return this.code(block.text)
    if ('content' in block) return this.line(block.content)
    return this.completed(
      block.kind,
      blockChildren(block).map((child) => this.build(child)),
    )
  }

  /** Returns the attributes of a new node: the ones in the block, and the defaults of the editor. */
  attributes(block: BlockNode): Attributes {
    const defaults = block.kind === 'custom' ? undefined : this.#dialect.defaults[block.kind]
    return new Map([...Object.entries(defaults ?? {}), ...this.stated(block)])
  }

  /** Returns the attributes that a block states and the editor has. */
  stated(block: BlockNode): Attributes {
    const stated = this.#stated(block)
    const { editor, nodes } = this.#dialect
    const name = block.kind === 'custom' ? undefined : nodes[block.kind]
    if (editor === null || name === undefined) return stated
    return new Map([...stated].filter(([attribute]) => editor.hasAttribute(name, attribute)))
  }

  /** Returns the attributes of a stored node that a new node with a name can have. */
  accepted(name: string, { name: before, attributes }: XmlElement): XmlElement['attributes'] {
    const { editor, isFlat } = this.#dialect
    if (editor === null) return name === before && isFlat !== true ? attributes : []
    return attributes.filter(([attribute]) => editor.hasAttribute(storedName(name), storedName(attribute)))
  }

  /** The value null stands for an absent attribute. */
  #stated(block: BlockNode): Attributes {
    switch (block.kind) {
      case 'heading':
        return new Map([['level', String(block.level)]])
      case 'orderedList':
        return new Map([[this.#dialect.start, String(block.start)]])
      case 'taskItem':
        return new Map([['checked', String(block.checked)]])
      case 'codeBlock':
        return given({ [this.#dialect.language]: block.language })
      case 'tableCell':
      case 'tableHeader':
        return given({ align: block.align })
      case 'image':
        return given({
          src: block.src,
          alt: block.alt === '' ? null : block.alt,
          title: block.title,
          href: block.href,
        })
      default:
        return noAttributes
    }
  }

  /** Names of the attributes that blocks of this kind state if they have them. */
  namesStated(kind: BlockNode['kind']): readonly string[] {
    if (kind === 'heading') return ['level']
    if (kind === 'orderedList') return [this.#dialect.start]
    if (kind === 'taskItem') return ['checked']
    if (kind === 'codeBlock') return [this.#dialect.language]
    if (kind === 'tableCell' || kind === 'tableHeader') return ['align']
    return kind === 'image' ? ['src', 'alt', 'title', 'href'] : []
  }

  /** Returns an element of a kind that the dialect has. */
  element(kind: NamedKind, children: readonly XmlNode[], attributes: Attributes = noAttributes): XmlElement {
    const name = this.#dialect.nodes[kind] ?? kind
    return this.named(name, children, attributes)
  }

  named(name: string, children: readonly XmlNode[], attributes: Attributes): XmlElement {
    return this.#numbers.element(name, [...attributes].sort(byName), children)
  }

  /** Adds the paragraph that editors require at the start of an item, or in an empty block. */
  completed(kind: BlockNode['kind'], children: XmlNode[]): XmlNode[] {
    const isItem = kind === 'listItem' || kind === 'taskItem'
    const needsBlock = isItem || kind === 'blockquote' || kind === 'tableCell' || kind === 'tableHeader'
    const [first] = children
    const paragraph = this.#dialect.nodes.paragraph
    const startsWell = isItem ? first?.kind === 'element' && first.name === paragraph : first !== undefined
    return needsBlock && !startsWell ? [this.element('paragraph', []), ...children] : children
  }

  code(text: string): XmlNode[] {
    const builder = this.newChildren()
    builder.text(text, 0)
    return builder.take()
  }

  line(content: readonly Inline[]): XmlNode[] {
    const builder = this.newChildren()
    for (const inline of content) {
      if (inline.kind === 'text') builder.text(inline.text, this.markSet(inline.marks))
      else builder.node(this.atom(inline))
    }
    return builder.take()
  }

  newChildren = (): ChildrenBuilder => new ChildrenBuilder(this.#numbers)

  atom(inline: Exclude<Inline, { kind: 'text' }>): XmlNode {
    if (inline.kind === 'custom') return this.#stored.get(inline.id) ?? this.element('hardBreak', [])
    return inline.kind === 'image'
      ? this.element('image', [], this.attributes(inline))
      : this.element('hardBreak', [])
  }

  markSet = (marks: BlockMarks): MarkSet =>
    memoized(this.#markSets, marksKey(marks), () =>
      this.markForms(marks).reduce<MarkSet>((set, form) => this.marks.with(set, form), 0),
    )

  /**
   * Returns the marks of a new text. As in the editor, a mark removes the marks that it excludes.
   */
  markForms({ link, ...simple }: BlockMarks): MarkForm[] {
    const forms: MarkForm[] = []
    for (const mark of Object.keys(simple) as MarkName[]) {
      const name = this.#dialect.marks[mark]
      if (name !== undefined) forms.push({ name, attributes: [] })
    }
    const linkName = this.#dialect.marks.link
    if (link !== undefined && linkName !== undefined) {
      const { href, title } = link
      forms.push({ name: linkName, attributes: [...given({ href, title })] })
    }
    return forms.reduce<MarkForm[]>((kept, form) => this.#added(kept, form), [])
  }

  /** Adds a mark, unless one of the others excludes it. */
  #added(forms: readonly MarkForm[], form: MarkForm): MarkForm[] {
    if (forms.some(({ name }) => this.excludes(name, form.name) && !this.excludes(form.name, name)))
      return [...forms]
    return [...forms.filter(({ name }) => !this.excludes(form.name, name)), form]
  }

  /** Returns whether text in a node may have a mark. */
  allows = (node: string, mark: string): boolean =>
    this.#dialect.editor?.allows(storedName(node), storedName(mark)) !== false

  /** Returns whether a mark removes another one. Both are names in the dialect. */
  excludes = (name: string, other: string): boolean =>
    this.#dialect.editor?.excludes(storedName(name), storedName(other)) === true
}

/** Returns the attributes that are not null. */
const given = (attributes: Readonly<Record<string, string | null>>): Attributes =>
  new Map(Object.entries(attributes).flatMap(([name, text]) => (text === null ? [] : [[name, text]])))
