import * as Y from 'yjs'
import { memoized } from '../../../base/maps.ts'
import { readTextState, storedText } from '../../text/text-state.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  type FlowPiece,
  inlinePlaceholder,
  type TextBlock,
  type TextFlow,
  type TextSource,
} from './flow-view.ts'
import { hardBreakNames, headingLevel } from './xml-names.ts'

export type IndexedChild = IndexedElement | Y.XmlText

/** Facts about all elements of a root. */
export interface IndexedNames {
  /** Names of elements whose children are texts. */
  readonly names: Set<string>
  /** The pieces that the present view has read. */
  pieces: Map<IndexedElement, readonly FlowPiece[]>
}

/** Number of children from which a table finds one of them. */
const tableFrom = 16

/** An element of an XML root, or the root. If it is a block, it is also its flow. */
export class IndexedElement implements TextFlow, TextBlock {
  readonly shared: SharedRoot
  /** The element; null for a root. */
  readonly type: Y.XmlElement | null
  readonly name: string
  /** Number of texts among the children. */
  texts = 0
  /** Whether there is a text inside. Most elements have one. */
  hasText = false
  isTextblock = false
  /** Indexes of the first block in the element, and of the first block after it. */
  firstBlock = 0
  endBlock = 0
  flow = -1
  readonly start = 0
  readonly #of: IndexedNames
  #children: IndexedChild[] = []
  /** Whether one of the texts has characters. */
  #hasLength = false
  #text: string | null = null
  #table: Map<SharedRoot, IndexedElement> | null = null

  constructor(shared: SharedRoot, of: IndexedNames) {
    this.shared = shared
    this.type = shared instanceof Y.XmlElement ? shared : null
    this.name = this.type?.nodeName ?? ''
    this.#of = of
  }

  /** The live elements and texts in it. */
  get children(): readonly IndexedChild[] {
    return this.#children
  }

  get hasElements(): boolean {
    return this.#children.length > this.texts
  }

  /** The text of the block. It is read when it is needed, because most edits need the text of few blocks. */
  get text(): string {
    this.#text ??= this.#children.reduce((text, child) => text + textOf(child), '')
    return this.#text
  }

  get end(): number {
    return this.text.length
  }

  get level(): number | null {
    return this.type === null ? null : headingLevel(this.type)
  }

  get pieces(): readonly FlowPiece[] {
    return memoized(this.#of.pieces, this, () => this.#readPieces())
  }

  /** Whether the element belongs to the text around it. */
  get isInline(): boolean {
    return !this.hasText && !this.#of.names.has(this.name)
  }

  /** Returns whether an element has text of its own, or could have: its name has it elsewhere. */
  isTextblockNow(): boolean {
    if (this.#hasLength) return true
    for (const child of this.hasElements ? this.#children : [])
      if (child instanceof IndexedElement && !child.isInline) return false
    return this.texts > 0 || (this.type !== null && this.#of.names.has(this.name))
  }

  /** Sets the children. Returns whether blocks may have changed. */
  become(children: IndexedChild[]): boolean {
    const { length } = this.#children
    const isSame = children.length === length && children.every((child, at) => child === this.#children[at])
    if (!isSame) {
      this.#children = children
      this.#table = null
      this.texts = 0
      for (const child of children) if (child instanceof Y.XmlText) this.texts += 1
    }
    return this.forgetText() || !isSame
  }

  /** Call when the texts have changed. Returns whether blocks may have changed. */
  forgetText(): boolean {
    const had = this.#hasLength
    this.#text = null
    this.#hasLength =
      this.texts > 0 && this.#children.some((child) => child instanceof Y.XmlText && child._length > 0)
    return this.#hasLength !== had
  }

  /** Returns the child that is an element; undefined if there is none with this shared type. */
  childOf(shared: SharedRoot): IndexedElement | undefined {
    if (this.#children.length >= tableFrom) {
      this.#table ??= tableOf(this.#children)
      return this.#table.get(shared)
    }
    for (const child of this.#children)
      if (child instanceof IndexedElement && child.shared === shared) return child
    return undefined
  }

  has(shared: SharedRoot): boolean {
    return shared instanceof Y.XmlText ? this.#children.includes(shared) : this.childOf(shared) !== undefined
  }

  remove(shared: SharedRoot): void {
    const at = this.#indexOf(shared)
    if (at < 0) return
    this.#children.splice(at, 1)
    if (shared instanceof Y.XmlText) this.texts -= 1
    else this.#table?.delete(shared)
    this.forgetText()
  }

  /** Inserts a child after another one. @param shared null: at the start */
  insertAfter(shared: SharedRoot | null, child: IndexedChild): void {
    this.#children.splice(shared === null ? 0 : this.#indexOf(shared) + 1, 0, child)
    if (child instanceof Y.XmlText) this.texts += 1
    else this.#table?.set(child.shared, child)
    this.forgetText()
  }

  #indexOf(shared: SharedRoot): number {
    const child = shared instanceof Y.XmlText ? shared : this.childOf(shared)
    return child === undefined ? -1 : this.#children.indexOf(child)
  }

  #readPieces(): FlowPiece[] {
    const pieces: FlowPiece[] = []
    let start = 0
    for (const child of this.#children) {
      const piece = pieceOf(child, start)
      pieces.push(piece)
      start += piece.length
    }
    return pieces
  }
}

function tableOf(children: readonly IndexedChild[]): Map<SharedRoot, IndexedElement> {
  const table = new Map<SharedRoot, IndexedElement>()
  for (const child of children) if (child instanceof IndexedElement) table.set(child.shared, child)
  return table
}

function pieceOf(child: IndexedChild, start: number): FlowPiece {
  if (child instanceof Y.XmlText) {
    const source: TextSource = { type: child, state: readTextState(child) }
    return { start, length: source.state.text.length, source, from: 0 }
  }
  return { start, length: 1, source: null, item: child.shared._item as Y.Item, isKept: !child.isInline }
}

const textOf = (child: IndexedChild): string => {
  if (child instanceof Y.XmlText) return storedText(child)
  return hardBreakNames.has(child.name) ? '\n' : inlinePlaceholder
}
