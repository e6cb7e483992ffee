import * as Y from 'yjs'
import type { Json } from '../../json/json.ts'
import { TextChange } from '../../text/operations.ts'
import { parentOf, SequenceIndexes } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { Edit, EditOutcome, EditTarget, InsertedContent, InsertPlace } from '../edit.ts'
import type { TextBlock, TextRange } from '../targets/flow-view.ts'
import { isCell, isPlainNode, lexicalType, nestedLevel } from '../targets/nested-names.ts'
import { type NestedFlowView, nestedAttributes } from '../targets/nested-view.ts'
import { shownText } from '../targets/places.ts'
import { isHeading, type ResolvedTarget, type TargetRoot } from '../targets/resolve.ts'
import { lexicalFormat, NestedFlowWriter, newTextNode } from './nested-writer.ts'
import { linesOf, RootEdits } from './root-edits.ts'
import { writeOperations } from './source-edits.ts'
import { lastOfSection, sizeOfNode } from './tree-places.ts'

interface NestedEditRoot extends TargetRoot {
  readonly view: NestedFlowView
  readonly type: SharedRoot
}

/** A place in a shared text that contains blocks. */
interface IndexPlace {
  readonly parent: SharedRoot
  readonly index: number
}

/** Attributes of a new paragraph of Lexical, in addition to its type. */
const paragraphProperties = {
  __format: 0,
  __style: '',
  __indent: 0,
  __dir: null,
  __textFormat: 0,
  __textStyle: '',
} as const

/** Attributes that identify one block, so that a new block must not have the same value. */
const idAttributes: ReadonlySet<string> = new Set(['id', '_id', 'key', 'uid', 'uuid'])

/** Why content must be text. */
const noMarkdown = '; Markdown and HTML are not supported for Lexical and Slate'

/** One edit of a root of nested texts, as Lexical and Slate use it. */
export class NestedEdits extends RootEdits<NestedEditRoot> {
  protected readonly kind = 'of type "xmltext"'
  protected override readonly writer = new NestedFlowWriter(this.transaction, this.root.view)

  protected replace(edited: EditTarget, content: InsertedContent): EditOutcome {
    return this.replaceText(edited, this.resolve(edited, content), this.textOf(content, noMarkdown))
  }

  protected insert(place: InsertPlace, content: InsertedContent): EditOutcome {
    const text = this.textOf(content)
    if (!('target' in place)) {
      const { type } = this.root
      return this.#insertBlocks({ parent: type, index: place.at === 'start' ? 0 : type._length }, text, null)
    }
    const target = this.resolve(place.target)
    const isInto = place.at === 'into' && !isHeading(target)
    if (target.is === 'text' || isInto || (target.is === 'node' && target.node.inline !== null)) {
      const ranges = this.rangesOf(target)
      const [first, last] = [ranges[0] as TextRange, ranges.at(-1) as TextRange]
      const isBefore = place.at === 'before'
      this.writer.insert(isBefore ? first.flow : last.flow, isBefore ? first.start : last.end, text)
      return this.textOutcome()
    }
    const type = this.nodeOf(target)
    const inSection = place.at !== 'before' && isHeading(target)
    const beside = this.#nextTo(inSection ? lastOfSection(type, levelOf) : type, place.at)
    return this.#insertBlocks(beside, text, type)
  }

  #insertBlocks({ parent, index }: IndexPlace, text: string, near: SharedRoot | null): EditOutcome {
    if (text === '') return this.textOutcome()
    const lines = linesOf(text)
    const attributes = this.#newAttributes(near)
    const blocks = lines.map((line) => newBlock(line, attributes, this.#isLexical))
    const change = new TextChange<SharedRoot>().retain(index)
    for (const block of blocks) change.insert(block)
    writeOperations(parent, change.operations)
    return this.outcome(
      lines.reduce((sum, line) => sum + line.length + 1, 0),
      0,
    )
  }

  /** Returns the attributes of a new paragraph. If the block next to it is a paragraph, they are the same. */
  #newAttributes(near: SharedRoot | null): ReadonlyMap<string, Json> {
    const attributes = near instanceof Y.XmlText ? nestedAttributes(near) : null
    if (attributes !== null && isPlainNode(attributes))
      return new Map(Object.entries(attributes).filter(([name]) => !idAttributes.has(name)))
    if (this.#isLexical)
      return new Map(Object.entries({ [lexicalType]: 'paragraph', ...paragraphProperties }))
    const { paragraphType = 'paragraph' } = this.view
    return new Map(paragraphType === null ? [] : [['type', paragraphType]])
  }

  #nextTo(type: SharedRoot, at: 'before' | 'after' | 'into'): IndexPlace {
    const parent = parentOf(type)
    const item = type._item
    if (parent === null || item === null || parent instanceof Y.XmlElement)
      throw this.unsupported(
        'no block can be inserted next to this target; use a block that is not inside an element',
      )
    return { parent, index: new SequenceIndexes().of(item) + (at === 'before' ? 0 : 1) }
  }

  protected removeWhole(target: Exclude<ResolvedTarget, { is: 'text' }>): EditOutcome {
    const type = this.nodeOf(target)
    const isInline = target.is === 'node' && target.node.inline !== null
    const removed = isInline ? type : outermostAlone(type, this.#isLexical)
    if (removed === null) return this.removeText(target)
    const { parent, index } = this.#nextTo(removed, 'before')
    const deletions = sizeOfNode(removed) + (removed instanceof Y.XmlText ? 1 : 0)
    writeOperations(parent, new TextChange().retain(index).delete(1).operations)
    return this.outcome(0, deletions)
  }

  protected mark(target: ResolvedTarget, { name, value }: Extract<Edit, { is: 'mark' }>): EditOutcome {
    const ranges = this.rangesOf(target)
    const bit = this.#isLexical ? lexicalFormat(name) : null
    if (this.#isLexical && (bit === null || !(value === true || value === null))) {
      throw this.unsupported(
        `Lexical does not support the mark ${shownText(name)} with this value; expected bold, italic, strikethrough, underline, code, subscript, superscript or highlight, with true or null`,
      )
    }
    for (const range of ranges) {
      if (bit === null) this.writer.mark(range, () => [{ name, value }])
      else this.writer.markLexical(range, bit, value === true)
    }
    return this.textOutcome()
  }

  get #isLexical(): boolean {
    return this.view.isLexical
  }

  protected override isTextblock({ flow, type }: TextBlock): boolean {
    return this.flow(flow).pieces.length > 0 && (type === null || type instanceof Y.XmlText)
  }
}

function newBlock(line: string, attributes: ReadonlyMap<string, Json>, isLexical: boolean): Y.XmlText {
  const block = new Y.XmlText()
  for (const [name, value] of attributes) block.setAttribute(name, value)
  if (line === '') return block
  const node = isLexical ? [{ insert: newTextNode() }] : []
  block.applyDelta([...node, { insert: line }])
  return block
}

const levelOf = (type: SharedRoot): number | null => nestedLevel(nestedAttributes(type))

/**
 * Returns the outermost text that contains nothing but a block, such as a list with one item. Returns null if
 * this must stay: the cell of a table, or the only block of Lexical.
 */
function outermostAlone(block: SharedRoot, isLexical: boolean): SharedRoot | null {
  let outer = block
  for (let parent = parentOf(outer); parent !== null; parent = parentOf(outer)) {
    if (parent._length > 1) return outer
    if (parent._item === null) return isLexical ? null : outer
    if (isCell(nestedAttributes(parent))) return null
    outer = parent
  }
  return outer
}
