import { randomUUID } from 'node:crypto'
import * as Y from 'yjs'
import { isBlockNote } from '../../blocks/dialect.ts'
import type { CompiledSchema } from '../../schemas/compiled-schema.ts'
import type { TextInsert } from '../../text/operations.ts'
import { structsIn } from '../../values/replace-values.ts'
import { budgetFor, type XmlBudget } from '../../xml/budget.ts'
import { XmlBuilder } from '../../xml/builder.ts'
import { byName } from '../../xml/names.ts'
import { type LiveTree, readTree, XmlScope } from '../../xml/read-tree.ts'
import { insertsOf, type MarkedText, sliceText } from '../../xml/text-plan.ts'
import {
  ChildrenBuilder,
  type LiveElement,
  type NodeInterner,
  nodesWithin,
  type XmlElement,
  type XmlNode,
  type XmlText,
} from '../../xml/tree.ts'
import { XmlUpdater } from '../../xml/updater.ts'
import type { ValueCodec } from '../../xml/value-codec.ts'
import { cleanupFormatting } from '../../yjs/cleanup-formatting.ts'
import { typesIn } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { NodeContent } from '../edit.ts'
import { blockNote, hardBreakNames } from '../targets/xml-names.ts'
import type { XmlFlowView } from '../targets/xml-view.ts'
import { type ChildPlace, nameOf, needsParagraph, neighborsOf, unitOf } from './tree-places.ts'

/** Steps of reading the whole root, for each struct of the document. */
const stepsPerStruct = 60

/** Name of a new paragraph in a document without paragraphs. */
const defaultParagraph = 'paragraph'

/** The root in which new elements are used. */
interface BuiltRoot {
  readonly view: XmlFlowView
  readonly doc: Y.Doc
  readonly type: SharedRoot
  /** Name of the root; it indicates the kind of editor. */
  readonly contentKey: string
  readonly schema: CompiledSchema | null
}

/** Builds the new elements of one edit in the form that the document uses. */
export class XmlNodeBuilder {
  readonly #view: XmlFlowView
  readonly #scope: XmlScope
  readonly #root: BuiltRoot
  readonly #builder: XmlBuilder
  /** The stored nodes; null until they are needed. */
  #live: LiveTree | null = null

  /** @param values the form of the values in the content of the edit */
  constructor(root: BuiltRoot, values?: ValueCodec) {
    const { view, contentKey, schema } = root
    this.#root = root
    this.#view = view
    this.#scope = new XmlScope(contentKey, values, schema)
    this.#builder = new XmlBuilder(this.#scope)
    // Without a schema, new text has the same form in every document.
    if (schema !== null) this.#readLive()
  }

  /** Reads the names, types and marks of the document. Called before the edit writes anything. */
  #readLive(): LiveTree {
    if (this.#live !== null) return this.#live
    const { view, type, doc } = this.#root
    view.work.spend(structsIn(doc) * stepsPerStruct)
    this.#live = readTree(type, this.#scope)
    return this.#live
  }

  /** Returns the nodes of an edit's content. @param replaced an element that the content replaces */
  nodesOf = ({ treeIn }: NodeContent, replaced: SharedRoot | null = null): readonly XmlNode[] =>
    treeIn(this.#scope, this.#readLive().root, (replaced && this.liveOf(replaced)) ?? undefined).children

  /** Returns whether nodes can be inside a text: texts, and elements that are inside texts elsewhere. */
  areInline = (nodes: readonly XmlNode[]): boolean =>
    nodes.some((node) => node.kind === 'text') || nodes.every((node) => this.#isInline(node))

  /** Returns the formatting attributes of a text, range by range. */
  textOperations = (node: MarkedText): TextInsert[] => insertsOf(node, this.#scope.marks)

  /** Inserts blocks. Texts and inline elements become paragraphs. Returns the inserted units and elements. */
  insertBlocks(place: ChildPlace, nodes: readonly XmlNode[]): number {
    const blocks = this.#inParagraphs(nodes)
    if (blocks.length === 0) return 0
    if (needsParagraph(place, blocks[0]?.name ?? '')) blocks.unshift(this.paragraph([]))
    const isNested = nameOf(place.parent) === blockNote.container
    const needsGroup =
      isNested || (this.#isEmptyBlockNote(place.parent) && blocks[0]?.name !== blockNote.group)
    const hasContainers = needsGroup || needsContainers(place.parent)
    const areNested = blocks.some(({ name }) => name === blockNote.container || name === blockNote.group)
    const ids = areNested ? this.#containerIds() : new Set()
    const inserted = blocks.map((block) => {
      const isIn = hasContainers && block.name !== blockNote.container
      const whole = isIn ? this.element(blockNote.container, [], [block]) : block
      return hasContainers || areNested ? this.#withIds(whole, ids) : whole
    })
    this.#insert(place, needsGroup ? [this.element(blockNote.group, [], inserted)] : inserted)
    return blocks.reduce((sum, { size }) => sum + size, 0)
  }

  /** Inserts the block of a container of BlockNote. */
  insertContent(place: ChildPlace, node: XmlNode): number {
    const block = node.kind === 'text' ? this.paragraph([node]) : node
    this.#insert(place, [block])
    return block.size
  }

  /**
   * Returns an element in which containers of BlockNote have a new id if they have none, or that of another container.
   * @param ids the ids of the other containers, to which those of the element are added
   */
  #withIds(node: XmlElement, ids: Set<unknown>): XmlElement {
    const attributes = new Map(node.attributes)
    if (node.name === blockNote.container) {
      const given = attributes.get('id')
      const id = given === undefined ? null : this.#builder.attributeValue(node.name, 'id', given)
      const isOwn = typeof id === 'string' && id !== '' && !ids.has(id)
      const own = isOwn ? id : randomUUID()
      ids.add(own)
      if (!isOwn) attributes.set('id', this.#scope.vocabulary.values.toText(own) ?? own)
    }
    const children = node.children.map((child) => (child.kind === 'text' ? child : this.#withIds(child, ids)))
    return this.element(node.name, [...attributes].sort(byName), children)
  }

  #insert({ parent, after }: ChildPlace, nodes: readonly XmlNode[]): void {
    const types = nodes.map((node) => this.#builder.build(node))
    Y.XmlFragment.prototype.insertAfter.call(parent, after, types)
    const marked = this.#builder.takeMarked()
    if (marked.length === 0) return
    const effort = this.#effort()
    for (const text of marked) cleanupFormatting(text, effort)
  }

  /**
   * Makes an element equal to a new element of the same name, and keeps what both have in common.
   * @param keepsStyles whether blocks of BlockNote keep their ids and the attributes that text formats lack
   */
  update(
    transaction: Y.Transaction,
    type: SharedRoot,
    target: XmlElement,
    keepsStyles: boolean,
  ): XmlUpdater | null {
    const live = this.liveOf(type)
    if (live === null) return null
    const wanted = keepsStyles ? this.#styled(live, target) : target
    if (live.number === wanted.number) return null
    const updater = new XmlUpdater(transaction, this.#scope, this.#effort())
    updater.update(live, wanted)
    return updater
  }

  /** Inserts texts and inline elements at an offset of the text of an element, in which each element counts one. */
  insertInline(
    transaction: Y.Transaction,
    type: SharedRoot,
    offset: number,
    nodes: readonly XmlNode[],
  ): void {
    this.#updateChildren(transaction, type, (live, children) => {
      let at = 0
      for (const child of live.children) {
        const length = child.kind === 'text' ? child.text.length : 1
        const isHere = at <= offset && offset < at + length
        if (isHere && child.kind === 'text') children.runsOf(sliceText(child, 0, offset - at))
        if (isHere) for (const node of nodes) children.add(node)
        if (isHere && child.kind === 'text') children.runsOf(sliceText(child, offset - at, length))
        else children.add(child)
        at += length
      }
      if (offset >= at) for (const node of nodes) children.add(node)
    })
  }

  /** Removes a child of an element. The texts around it become one text. */
  removeChild(transaction: Y.Transaction, parent: SharedRoot, type: SharedRoot): void {
    this.#updateChildren(transaction, parent, (live, children) => {
      for (const child of live.children) if (!('type' in child && child.type === type)) children.add(child)
    })
  }

  #updateChildren(
    transaction: Y.Transaction,
    type: SharedRoot,
    fill: (live: LiveElement, children: ChildrenBuilder) => void,
  ): void {
    const live = this.liveOf(type)
    if (live === null) return
    const children = new ChildrenBuilder(this.#scope.numbers)
    fill(live, children)
    this.update(transaction, type, this.element(live.name, live.attributes, children.take()), false)
  }

  #styled(live: LiveElement, target: XmlElement): XmlElement {
    const [own, ...others] = target.children
    const [stored] = live.children
    const isContainer = target.name === blockNote.container
    if (!isContainer && !isInContainer(live.type)) return target
    const isSame = own?.kind === 'element' && stored?.kind === 'element' && own.name === stored.name
    const children = isContainer && isSame ? [this.#styled(stored, own), ...others] : target.children
    const stated = target.attributes.filter(([name]) => !isContainer && statedByText.has(name))
    const kept = live.attributes.filter(([name]) => isContainer || !statedByText.has(name))
    return this.element(target.name, [...kept, ...stated].sort(byName), children)
  }

  #effort = (): XmlBudget => budgetFor(this.#readLive().items)

  #isInline = (node: XmlNode): boolean =>
    node.kind === 'text' || hardBreakNames.has(node.name) || this.#view.inlineNames.has(node.name)

  #inParagraphs(nodes: readonly XmlNode[]): XmlElement[] {
    const blocks: XmlElement[] = []
    let inline: XmlNode[] = []
    const end = (): void => {
      if (inline.length > 0) blocks.push(this.paragraph(inline))
      inline = []
    }
    for (const node of nodes) {
      if (this.#isInline(node)) inline.push(node)
      else {
        end()
        blocks.push(node as XmlElement)
      }
    }
    end()
    return blocks
  }

  /** Returns a new paragraph with this content. */
  paragraph(children: readonly XmlNode[], name = this.#view.paragraphName ?? defaultParagraph): XmlElement {
    return this.element(name, [], children)
  }

  /** Returns a new element. @param attributes in the XML form, sorted by name */
  element: NodeInterner['element'] = (name, attributes, children) =>
    this.#scope.numbers.element(name, attributes, children)

  /** Returns nodes with white space before the first text and after the last one. */
  padded(nodes: readonly XmlNode[], { start, end }: { start: string; end: string }): readonly XmlNode[] {
    return nodes.map((node, index) => {
      if (node.kind !== 'text') return node
      const before = index === 0 ? start : ''
      const after = index === nodes.length - 1 ? end : ''
      return before + after === '' ? node : this.#withSpace(node, before, after)
    })
  }

  #withSpace(node: XmlText, before: string, after: string): XmlText {
    const text = before + node.text + after
    const runs = node.runs.map(({ start, marks }) => ({ start: start + before.length, marks }))
    if (before !== '') runs.unshift({ start: 0, marks: 0 })
    if (after !== '') runs.push({ start: text.length - after.length, marks: 0 })
    return this.#scope.numbers.text(text, runs)
  }

  /** Returns a text without formatting. */
  text(text: string): XmlNode[] {
    return text === '' ? [] : [this.#scope.numbers.text(text, [{ start: 0, marks: 0 }])]
  }

  /** Returns whether an element is a root of BlockNote without content, which needs a group around its blocks. */
  #isEmptyBlockNote = (parent: SharedRoot): boolean =>
    parent === this.#root.type &&
    isBlockNote(this.#scope.vocabulary, this.#scope.vocabulary.contentKey) &&
    typesIn(parent).length === 0

  /** Returns the ids of all containers of BlockNote. */
  #containerIds(): Set<unknown> {
    const ids = new Set<unknown>()
    for (const node of nodesWithin(this.#readLive().root))
      if (node.kind === 'element' && node.name === blockNote.container && node.type instanceof Y.XmlElement)
        ids.add(node.type.getAttribute('id'))
    return ids
  }

  /** Returns an element as it was before the edit; null if there was no such element. */
  liveOf(type: SharedRoot): LiveElement | null {
    for (const node of nodesWithin(this.#readLive().root))
      if (node.kind === 'element' && node.type === type) return node
    return null
  }
}

/** Names of the attributes of BlockNote's blocks that Markdown and HTML state. All others are styles. */
const statedByText: ReadonlySet<string> = new Set([
  'level',
  'checked',
  'start',
  'language',
  'url',
  'name',
  'caption',
])

const isInContainer = (type: SharedRoot): boolean => unitOf(type) !== type

/** Returns whether the blocks in a parent are containers of BlockNote. */
function needsContainers(parent: SharedRoot): boolean {
  if (nameOf(parent) === blockNote.group) return true
  const [, first] = neighborsOf({ parent, after: null })
  return nameOf(first) === blockNote.container
}
