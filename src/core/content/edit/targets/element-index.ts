import * as Y from 'yjs'
import { limits } from '../../../model/limits.ts'
import { parentOf } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { WorkLimit } from '../work-limit.ts'
import { changedChildren } from './changed-children.ts'
import { type IndexedChild, IndexedElement, type IndexedNames } from './indexed-element.ts'
import { blockNote, isPlainTextblock, textblockNames } from './xml-names.ts'

/** The blocks of an XML root, until the elements change. */
export interface BlockLayout {
  readonly blocks: readonly IndexedElement[]
  /** Name of ordinary paragraphs: the usual one, or else the most frequent one; null if there is none. */
  readonly paragraphName: string | null
  /** Names of the elements inside texts. */
  readonly inlineNames: ReadonlySet<string>
}

/** Maximum number of changed types. After more changes, all elements are read again. */
const changedMax = 10_000

/** Maximum number of changed children for which the other children of an element are not read again. */
const childrenMax = 64

/** Number of children from which an element counts as large: only its changed children are read again. */
const largeFrom = 256

/** Steps of reading an element with its texts, and of finding out whether it is a block. */
const steps = { perElement: 100, perBlock: 10 } as const

/**
 * The elements of an XML root and their blocks. A kept index gets the changes of the document, and reads
 * only that again.
 */
export class ElementIndex {
  readonly root: IndexedElement
  readonly #isKept: boolean
  readonly #names: IndexedNames = { names: new Set(), pieces: new Map() }
  /** Elements whose children were not read yet. */
  #waiting: IndexedElement[]
  /** Changed elements and texts. For a large element, its changed children; null if all must be read again. */
  readonly #changed = new Map<SharedRoot, Set<SharedRoot> | null>()
  /** Elements and texts with content that XML cannot express, or might not be able to. */
  readonly #irregular = new Set<SharedRoot>()
  #count = 1
  #layout: BlockLayout | null = null

  /** @param isKept whether the index is kept, and gets the changes of the document */
  constructor(root: SharedRoot, isKept = false) {
    this.#isKept = isKept
    this.root = new IndexedElement(root, this.#names)
    this.#waiting = [this.root]
  }

  /** Records what a transaction has changed. Call it before Yjs removes the deleted content. */
  changed(transaction: Y.Transaction): void {
    if (this.#waiting[0] === this.root) return
    const large = new Map<SharedRoot, Set<SharedRoot>>()
    for (const type of transaction.changed.keys()) {
      const known = this.#changed.get(type)
      const isLarge = known !== null && (this.#known(type)?.children.length ?? 0) >= largeFrom
      if (isLarge) large.set(type, known ?? new Set())
      this.#changed.set(type, isLarge ? (large.get(type) ?? null) : null)
    }
    if (large.size > 0)
      for (const { parent, child } of changedChildren(transaction, large))
        if (child === null || (large.get(parent)?.add(child).size ?? 0) > childrenMax)
          this.#changed.set(parent, null)
    if (this.#changed.size > changedMax) this.#reset()
  }

  #known(type: SharedRoot): IndexedElement | null {
    return type instanceof Y.XmlText ? null : this.find(type)
  }

  #reset(): void {
    this.#changed.clear()
    this.#irregular.clear()
    this.root.become([])
    this.#waiting = [this.root]
    this.#count = 1
    this.#layout = null
  }

  /** Reads elements as `read`, and then the blocks. Returns whether an edit need not read more, unless the root changes. */
  prepare(elementsMax: number): boolean {
    if (!this.#isRead && !this.read(new WorkLimit(), elementsMax)) return false
    this.layout()
    return true
  }

  /** Whether `prepare` has nothing to do. */
  get isPrepared(): boolean {
    return this.#isRead && this.#layout !== null
  }

  get #isRead(): boolean {
    return this.#waiting.length + this.#changed.size === 0
  }

  /**
   * Returns whether a kept index has elements or texts, and XML can express everything in the root. If the result is
   * false, only `checkRepresentable` finds out. Call it when all elements are read.
   */
  isRegular(): boolean {
    for (const type of this.#irregular) {
      if (type._item?.deleted !== true) return false
      this.#irregular.delete(type)
    }
    return this.#isKept && this.root.children.length > 0
  }

  /**
   * Reads elements and their texts that are new or have changed. Returns whether all are read.
   * @param elementsMax maximum number of elements that are read
   * @throws WorkLimitError; the index is still valid
   */
  read(work = new WorkLimit(), elementsMax = Number.POSITIVE_INFINITY): boolean {
    let left = elementsMax
    for (const [type, children] of this.#changed) {
      if (left <= 0) return false
      left -= 1
      work.spend(steps.perElement)
      this.#readChanged(type, children)
      this.#changed.delete(type)
    }
    for (let next = this.#waiting.at(-1); next !== undefined; next = this.#waiting.at(-1)) {
      if (left <= 0) return false
      left -= 1
      work.spend(steps.perElement)
      this.#waiting.pop()
      this.#readElement(next)
    }
    return true
  }

  #readChanged(type: SharedRoot, children: ReadonlySet<SharedRoot> | null): void {
    const parent = type instanceof Y.XmlText ? parentOf(type) : type
    const element = parent === null ? null : this.find(parent)
    if (element === null) return
    if (type instanceof Y.XmlText) {
      this.#check(type)
      if (element.forgetText()) this.#layout = null
    } else if (children === null || children.size > childrenMax || this.#irregular.has(type))
      this.#readElement(element)
    else this.#readChildren(element, children)
  }

  #readElement(element: IndexedElement): void {
    const children: IndexedChild[] = []
    const { shared } = element
    for (let item = this.#check(shared) ? shared._start : null; item !== null; item = item.right) {
      const child = item.deleted ? null : this.#childIn(element, item.content)
      if (child !== null) children.push(child)
    }
    if (element.become(children)) this.#layout = null
    // The first search would otherwise read the texts of all elements at once.
    if (this.#isKept) void element.text
  }

  /** Reads only some children of an element: new ones and deleted ones. */
  #readChildren(element: IndexedElement, types: ReadonlySet<SharedRoot>): void {
    this.#check(element.shared, hasRegularEntries)
    for (const type of types) {
      const item = type._item
      if (item === null) continue
      if (item.deleted) element.remove(type)
      else this.#insert(element, item)
      this.#layout = null
    }
  }

  /** Inserts a child, after the new ones that are before it. */
  #insert(element: IndexedElement, item: Y.Item): void {
    const added: Y.Item[] = []
    let left: Y.Item | null = item
    for (; left !== null; left = left.left) {
      if (left.deleted || !(left.content instanceof Y.ContentType)) continue
      if (element.has(left.content.type)) break
      added.push(left)
    }
    let before = left?.content instanceof Y.ContentType ? left.content.type : null
    for (const { content } of added.reverse()) {
      const child = this.#childIn(element, content)
      if (child === null || !(content instanceof Y.ContentType)) continue
      element.insertAfter(before, child)
      before = content.type
    }
  }

  #childIn(element: IndexedElement, content: Y.Item['content']): IndexedChild | null {
    if (!(content instanceof Y.ContentType)) return null
    const { type } = content
    if (type instanceof Y.XmlElement) return element.childOf(type) ?? this.#add(type)
    if (!(type instanceof Y.XmlText)) return null
    this.#check(type)
    return type
  }

  #add(type: Y.XmlElement): IndexedElement {
    const made = new IndexedElement(type, this.#names)
    this.#waiting.push(made)
    this.#count += 1
    return made
  }

  /** Returns whether the children of an element are of use: with irregular content, nothing in the root is. */
  #check(type: SharedRoot, check = isRegular): boolean {
    const isUsed = !this.#isKept || check(type)
    if (isUsed) this.#irregular.delete(type)
    else this.#irregular.add(type)
    return isUsed
  }

  /** Returns an element of the root; null if it is not in the root, or was not read yet. */
  find(type: SharedRoot): IndexedElement | null {
    if (type === this.root.shared) return this.root
    const parent = parentOf(type)
    return parent === null ? null : (this.find(parent)?.childOf(type) ?? null)
  }

  /** Returns the blocks. Call it when all elements are read. @throws WorkLimitError; the index is still valid */
  layout(work = new WorkLimit()): BlockLayout {
    this.#names.pieces = new Map()
    if (this.#layout !== null) return this.#layout
    work.spend(this.#count * steps.perBlock)
    this.#names.names.clear()
    for (const name of textblockNames) this.#names.names.add(name)
    this.#count = 0
    this.#findTexts(this.root, 0)
    const reader = new LayoutReader()
    reader.read(this.root, 0)
    this.#layout = reader.layout(this.#names.names)
    return this.#layout
  }

  /** Finds out which elements have a text inside. */
  #findTexts(element: IndexedElement, depth: number): boolean {
    this.#count += 1
    element.flow = -1
    element.hasText = element.texts > 0
    if (element.hasText && element.type !== null) this.#names.names.add(element.name)
    if (!element.hasElements) return element.hasText
    for (const child of element.children) {
      if (child instanceof Y.XmlText) continue
      if (depth >= limits.typeDepth) child.hasText = false
      else if (this.#findTexts(child, depth + 1)) element.hasText = true
    }
    return element.hasText
  }
}

class LayoutReader {
  readonly #blocks: IndexedElement[] = []
  readonly #inlineNames = new Set<string>()
  /** Numbers of blocks, by the name of their elements. */
  readonly #counts = new Map<string, number>()

  /** @param names names of elements whose children are texts */
  layout(names: ReadonlySet<string>): BlockLayout {
    const paragraphs = [...this.#counts].filter(([name]) => names.has(name) && isParagraph(name))
    const [first] = paragraphs.sort(([, a], [, b]) => b - a)
    const hasUsual = paragraphs.some(([name]) => name === 'paragraph')
    const paragraphName = hasUsual ? 'paragraph' : (first?.[0] ?? null)
    return { blocks: this.#blocks, inlineNames: this.#inlineNames, paragraphName }
  }

  read(element: IndexedElement, depth: number): void {
    if (depth > limits.typeDepth) return
    element.firstBlock = this.#blocks.length
    element.isTextblock = element.isTextblockNow()
    const isLeaf = element.children.length === 0 && element.type !== null
    if (element.isTextblock || isLeaf) this.#addBlock(element)
    if (element.hasElements)
      for (const child of element.children)
        if (!(child instanceof Y.XmlText || (element.isTextblock && child.isInline)))
          this.read(child, depth + 1)
    element.endBlock = this.#blocks.length
  }

  #addBlock(element: IndexedElement): void {
    const { name } = element
    element.flow = this.#blocks.length
    this.#blocks.push(element)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    if (!element.hasElements) return
    for (const child of element.children)
      if (!(child instanceof Y.XmlText) && child.isInline) this.#inlineNames.add(child.name)
  }
}

/** Returns whether blocks with this name are ordinary paragraphs if they have text. */
const isParagraph = (name: string): boolean =>
  name !== '' && isPlainTextblock(name) && name !== blockNote.cellBlock

/** Returns whether an element, a root or a text directly contains only what XML can express, without values. */
function isRegular(type: SharedRoot): boolean {
  if (!hasRegularEntries(type)) return false
  const isText = type instanceof Y.XmlText
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    const isExpected = isText
      ? content instanceof Y.ContentString || content instanceof Y.ContentFormat
      : content instanceof Y.ContentType &&
        (content.type instanceof Y.XmlText || content.type instanceof Y.XmlElement)
    if (!isExpected) return false
  }
  return true
}

/** Returns whether a type has only plain attributes. Roots and texts in XML do not have attributes at all. */
function hasRegularEntries(type: SharedRoot): boolean {
  const mayHave = type instanceof Y.XmlElement
  for (const { deleted, content } of type._map.values())
    if (!deleted && (!mayHave || content instanceof Y.ContentType)) return false
  return true
}
