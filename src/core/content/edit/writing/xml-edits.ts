import * as Y from 'yjs'
import { isObject } from '../../json/json.ts'
import type { CompiledSchema } from '../../schemas/compiled-schema.ts'
import { ObservedSchema } from '../../xml/observed-schema.ts'
import type { XmlElement, XmlNode } from '../../xml/tree.ts'
import type { ValueCodec } from '../../xml/value-codec.ts'
import { parentOf, typesIn } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { Edit, EditOutcome, EditTarget, InsertedContent, InsertPlace, NodeContent } from '../edit.ts'
import { blockAt, type TextBlock, type TextRange } from '../targets/flow-view.ts'
import { isHeading, type ResolvedTarget, type TargetRoot } from '../targets/resolve.ts'
import {
  blockNote,
  hardBreakNames,
  headingLevel,
  isCode,
  isPlainTextblock,
  rowAround,
  textblockNames,
} from '../targets/xml-names.ts'
import { readXmlView, type XmlFlowView } from '../targets/xml-view.ts'
import { FlowWriter } from './flow-writer.ts'
import { placeHardBreaks } from './hard-breaks.ts'
import { linesOf, RootEdits } from './root-edits.ts'
import { isTableNode, NewRows } from './table-places.ts'
import { isRow } from './table-rows.ts'
import {
  type ChildPlace,
  lastOfSection,
  nameOf,
  ownerOfAttribute,
  placeAtEnd,
  placeInContainer,
  placeNextTo,
  placesOfLists,
  removableWith,
  siblingOf,
  sizeOfNode,
  unitOf,
} from './tree-places.ts'
import { formattingAs, xmlMarkings } from './xml-markings.ts'
import { XmlNodeBuilder } from './xml-node-builder.ts'

interface XmlEditRoot extends TargetRoot {
  readonly view: XmlFlowView
  readonly type: SharedRoot
  /** The schema in whose normal form content is written; null without one. */
  readonly schema: CompiledSchema | null
}

type InsertSide = 'before' | 'after' | 'into'

interface BlockPlace {
  readonly is: 'blocks'
  readonly place: ChildPlace
  /** The side of the target on which the blocks are; null if they are at an end of their parent. */
  readonly side: 'before' | 'after' | null
  /** True if the blocks must be tables of Markdown, whose rows become rows of the table around the place. */
  readonly onlyRows: boolean
}

interface TextPlace {
  readonly is: 'text'
  readonly ranges: readonly TextRange[]
}

/** The target of a replacement: text, or an element, with the place after it. */
type XmlReplacement = TextPlace | (BlockPlace & { readonly unit: SharedRoot })

/**
 * Maximum number of ranges with different formatting in text that replaces a part of a block. Each range reads
 * the whole block.
 */
const formattedRunsMax = 100

/** The problem of an edit at a row whose content is not of rows. */
const rowsNeeded =
  'only rows can be before, after or instead of a row; send a table in Markdown or HTML, or rows in XML'

/** One edit of an XML root. */
export class XmlEdits extends RootEdits<XmlEditRoot> {
  protected readonly kind = 'XML'
  /** The clock of the client before the edit. */
  readonly #clock = Y.getState(this.root.doc.store, this.root.doc.clientID)
  #nodes: XmlNodeBuilder | null = null

  /**
   * Returns the place of an insertion whose content is not known yet.
   * @param isProse whether the content will be Markdown, which is always blocks
   */
  placeOfInsertion(place: InsertPlace, isProse: boolean): TextPlace | BlockPlace {
    if (!('target' in place))
      return { is: 'blocks', place: placeAtEnd(this.root.type, place.at), side: null, onlyRows: false }
    const target = this.resolve(place.target)
    const onlyRows = place.target.is === 'row'
    if (onlyRows && (!isProse || place.at === 'into')) throw this.unsupported(rowsNeeded)
    if (!isProse && this.#isInText(target, place.at)) return { is: 'text', ranges: this.rangesOf(target) }
    return { ...this.#blockPlace(target, place.at), onlyRows }
  }

  /**
   * Returns the target of a replacement whose content is not known yet.
   * @param isProse as for `placeOfInsertion`
   * @throws ApiError INVALID_ARGUMENT if Markdown would replace a part of a block, or the header row of a table, or if
   * text would replace a row
   */
  targetOfReplacement(edited: EditTarget, isProse: boolean): XmlReplacement {
    const target = this.resolve(edited)
    const onlyRows = edited.is === 'row'
    if (onlyRows && !isProse) throw this.unsupported(rowsNeeded)
    if (!isProse) return { is: 'text', ranges: this.rangesOf(target) }
    const whole = this.#wholeNode(target)
    if (whole === null)
      throw this.unsupported(
        'Markdown can only replace a whole block; use the format text, or another target',
      )
    const unit = unitOf(whole)
    if (onlyRows) this.#newRows([], false).checkStreamed(unit)
    return { is: 'blocks', unit, place: this.#placeNextTo(unit, 'after'), side: 'after', onlyRows }
  }

  /**
   * Inserts content as blocks.
   * @param noRows true if the place is in a cell, and the content must have no tables
   */
  insertAt(
    { place, side, onlyRows }: Omit<BlockPlace, 'is'>,
    content: InsertedContent,
    noRows: boolean,
  ): void {
    if (onlyRows) this.#checkRows(side ?? 'into', content)
    if (noRows && content.format === 'nodes') this.#checkInCell(this.#made(content.values).nodesOf(content))
    this.#insertBlocks(place, content, side)
  }

  protected replace(edited: EditTarget, given: InsertedContent): EditOutcome {
    const target = this.resolve(edited, given)
    const content = this.#literalInCode(target, given)
    if (edited.is === 'row') this.#checkRows('before', content)
    if (content.format === 'nodes') return this.#replaceByNodes(target, content)
    const text = this.textOf(content)
    const outcome = this.replaceText(edited, target, text)
    this.#placeHardBreaks(text)
    return outcome
  }

  #replaceByNodes(target: ResolvedTarget, content: NodeContent): EditOutcome {
    const made = this.#made(content.values)
    const whole = this.#isLine(target, content) ? null : this.#wholeNode(target)
    const nodes = this.#nodesInsteadOf(whole, made.nodesOf(content, whole), content.around !== null)
    if (whole !== null && nodes.length === 0) return this.#remove(target, whole)
    if (whole !== null) return this.#replaceNode(whole, nodes, content.around !== null)
    const inline = this.#inCode(target, this.#inlineNodes(content) ?? nodes)
    const [range, ...others] = this.rangesOf(target)
    if (range === undefined || others.length > 0 || !inline.every((node) => node.kind === 'text')) {
      throw this.unsupported(
        'content with elements can only replace a whole block; use the whole text of one block as the target',
      )
    }
    if (runsIn(inline) > formattedRunsMax)
      throw this.unsupported(
        `text with more than ${formattedRunsMax} changes of formatting must replace a block`,
      )
    return this.#replaceByTexts(range, inline, content.around === null)
  }

  /** @param isExact as for `formattingAs` */
  #replaceByTexts(range: TextRange, texts: readonly XmlNode[], isExact: boolean): EditOutcome {
    const text = texts.map((node) => (node.kind === 'text' ? node.text : '')).join('')
    this.writer.replace(range, text)
    this.#formatAs(range, texts, isExact)
    return this.textOutcome()
  }

  /** Returns the nodes that replace an element: rows, if this is the row of a table. */
  #nodesInsteadOf(whole: SharedRoot | null, nodes: readonly XmlNode[], isProse: boolean): readonly XmlNode[] {
    const row = whole === null || nodes.length === 0 ? null : rowAround(whole)
    if (row === null) return nodes
    if (row === whole) return this.#newRows(nodes, isProse).insteadOf(row)
    if (isProse) this.#checkInCell(nodes)
    return nodes
  }

  /** Checks that Markdown or HTML for a place in a cell has no table. */
  #checkInCell(nodes: readonly XmlNode[]): void {
    if (nodes.some(isTableNode))
      throw this.unsupported('a cell cannot contain a table; insert its rows before or after the cell')
  }

  /** Checks that content for a place next to a row, or for the place of a row, is of rows. */
  #checkRows(at: InsertSide, content: InsertedContent): void {
    const isProse = content.format === 'nodes' && content.around !== null
    const nodes = content.format === 'nodes' ? this.#made(content.values).nodesOf(content) : null
    if (at === 'into' || nodes?.every(isProse ? isTableNode : isRow) !== true)
      throw this.unsupported(rowsNeeded)
  }

  #newRows = (nodes: readonly XmlNode[], isProse: boolean): NewRows =>
    new NewRows(nodes, isProse, this.#made(), this.place)

  /** Gives the text that has replaced a range the formatting of the new texts. */
  #formatAs({ flow, start }: TextRange, texts: readonly XmlNode[], isExact: boolean): void {
    const made = this.#made()
    const view = readXmlView(this.root.type)
    const writer = new FlowWriter(this.transaction, view)
    let at = start
    for (const node of texts) {
      if (node.kind !== 'text') continue
      for (const { insert, attributes } of made.textOperations(node)) {
        const end = at + insert.length
        writer.mark({ flow, start: at, end }, formattingAs(attributes, isExact))
        at = end
      }
    }
    if (writer.changed) this.writer.changed = true
  }

  /** Returns whether the content is a line of Markdown or HTML that replaces a quote, so that its block stays. */
  #isLine(target: ResolvedTarget, content: NodeContent): boolean {
    if (target.is !== 'text' || content.around === null) return false
    const inline = this.#inlineNodes(content)
    return inline !== null && inline.length > 0 && inline.every(({ kind }) => kind === 'text')
  }

  /** Returns the node that a target covers as a whole; null if it covers a part of a text. */
  #wholeNode(target: ResolvedTarget): SharedRoot | null {
    if (target.is !== 'text') return this.nodeOf(target)
    const [{ flow, start, end }] = target.ranges
    const isWhole = target.ranges.length === 1 && start === 0 && end === this.flow(flow).text.length
    return isWhole ? this.block(this.blockOf(target)).type : null
  }

  /** @param keepsStyles whether the format of the nodes cannot state the styles of BlockNote's blocks */
  #replaceNode(type: SharedRoot, nodes: readonly XmlNode[], keepsStyles: boolean): EditOutcome {
    const made = this.#made()
    if (nodes.length > 0 && nodes.every((node) => node.kind === 'text')) {
      const name = nameOf(type)
      const paragraph = made.paragraph(nodes, textblockNames.includes(name) ? name : undefined)
      return this.#replaceNode(type, [paragraph], keepsStyles)
    }
    const unit = unitOf(type)
    const isInContainer = unit !== type
    if (isInContainer && !keepsStyles && nodes.some(isContainer)) {
      // A container with nested blocks replaces the stored container. Otherwise, nested blocks stay.
      const hasNested = nodes.some((node) => isContainer(node) && node.children.length > 1)
      if (hasNested) return this.#replaceNode(unit, nodes, false)
      const contents = nodes.flatMap((node) => (isContainer(node) ? node.children : [node]))
      return this.#replaceNode(type, contents, false)
    }
    this.#checkContainers(parentOf(unit), nodes)
    const [before, found, after] = partsAround(nodes, nameOf(type), isInContainer)
    const [own, nested] = isInContainer ? contentOf(found) : [found, []]
    let [insertions, deletions] = [0, 0]
    // In BlockNote, a container has one block, and further blocks are next to the container.
    insertions += made.insertBlocks(this.#placeNextTo(unit, 'before'), before)
    insertions += made.insertBlocks(this.#placeNextTo(unit, 'after'), after)
    if (own?.kind === 'element' && own.name === nameOf(type)) {
      const updated = made.update(this.transaction, type, own, keepsStyles)
      insertions += updated?.insertions ?? 0
      deletions += updated?.deletions ?? 0
    } else {
      const place = this.#placeNextTo(type, 'before')
      if (own !== undefined && isInContainer) insertions += made.insertContent(place, own)
      else if (own !== undefined) insertions += made.insertBlocks(place, [own])
      deletions += this.#delete(type)
    }
    if (nested.length > 0) insertions += made.insertBlocks(placeInContainer(unit, 'start'), nested)
    return this.outcome(insertions, deletions)
  }

  protected insert(place: InsertPlace, given: InsertedContent): EditOutcome {
    if (!('target' in place)) return this.#insertBlocks(placeAtEnd(this.root.type, place.at), given, null)
    const target = this.resolve(place.target)
    const content = this.#literalInCode(target, given)
    if (place.target.is === 'row') this.#checkRows(place.at, content)
    const isInline = content.format !== 'nodes' || this.#inlineNodes(content) !== null
    if (isInline && this.#isInText(target, place.at)) return this.#insertInline(target, place.at, content)
    const { place: beside, side } = this.#blockPlace(target, place.at)
    return this.#insertBlocks(beside, content, side, this.blockOf(target))
  }

  /** Returns whether an insertion can be a part of a text: in a quote, next to an inline node, or in a block. */
  #isInText(target: ResolvedTarget, at: InsertSide): boolean {
    return (
      target.is === 'text' ||
      (target.is === 'node' && target.node.inline !== null) ||
      (at === 'into' && !isHeading(target) && this.textblockOf(target) !== null)
    )
  }

  #insertInline(target: ResolvedTarget, at: InsertSide, content: InsertedContent): EditOutcome {
    const ranges = this.rangesOf(target)
    const range = ranges.at(at === 'before' ? 0 : -1) as TextRange
    const [flow, offset] = [range.flow, at === 'before' ? range.start : range.end]
    if (content.format !== 'nodes') {
      const text = this.textOf(content)
      this.writer.insert(flow, offset, text)
      this.#placeHardBreaks(text)
      return this.textOutcome()
    }
    const nodes = this.#inCode(target, this.#inlineNodes(content) ?? [])
    if (nodes.length === 0) return this.textOutcome()
    // Exactly there. The comparison that elements need might find the same words beside it.
    if (nodes.every(({ kind }) => kind === 'text') && runsIn(nodes) <= formattedRunsMax)
      return this.#replaceByTexts({ flow, start: offset, end: offset }, nodes, true)
    const block = this.block(blockAt(this.view, flow, offset))
    this.#made().insertInline(this.transaction, block.type ?? this.root.type, offset, nodes)
    return this.outcome(
      nodes.reduce((sum, { size }) => sum + size, 0),
      0,
    )
  }

  /** @param near the block next to new paragraphs, whose name they have if it is one; null if there is none */
  #insertBlocks(
    place: ChildPlace,
    content: InsertedContent,
    side: BlockPlace['side'],
    near: number | null = null,
  ): EditOutcome {
    const made = this.#made(content.format === 'nodes' ? content.values : undefined)
    const nodes =
      content.format === 'nodes' ? made.nodesOf(content) : this.#paragraphs(this.textOf(content), near)
    if (nodes.length === 0) return this.textOutcome()
    const isProse = content.format === 'nodes' && content.around !== null
    const parts =
      this.#newRows(nodes, isProse).placesAt(place, side) ??
      (isProse ? placesOfLists(place, nodes, side) : [{ place, nodes }])
    for (const part of parts) this.#checkContainers(part.place.parent, part.nodes)
    return this.outcome(
      parts.reduce((sum, part) => sum + made.insertBlocks(part.place, part.nodes), 0),
      0,
    )
  }

  /** Checks that containers of BlockNote become children of a group or of the root. */
  #checkContainers(parent: SharedRoot | null, nodes: readonly XmlNode[]): void {
    const isAround = [blockNote.group, blockNote.container].some((name) => name === nameOf(parent))
    if (parent === this.root.type || isAround || !nodes.some(isContainer)) return
    throw this.unsupported(
      'a container of a block can only be next to other containers; use a block outside of a table as the target',
    )
  }

  /** Returns a paragraph for each line. It has the name of the block next to it, if this is a paragraph. */
  #paragraphs(text: string, near: number | null): XmlNode[] {
    if (text === '') return []
    const made = this.#made()
    const type = near === null ? null : this.block(near).type
    const name = type === null ? '' : nameOf(type)
    const isLikeIt = name !== '' && isPlainTextblock(name) && this.flow(near ?? 0).pieces.length > 0
    return linesOf(text).map((line) => made.paragraph(made.text(line), isLikeIt ? name : undefined))
  }

  /** Returns the place for new blocks next to a target, or at the end of its section or element. */
  #blockPlace(target: ResolvedTarget, at: InsertSide): Omit<BlockPlace, 'onlyRows'> {
    const side = at === 'into' && !isHeading(target) ? null : at === 'before' ? 'before' : 'after'
    return { is: 'blocks', place: this.#childPlace(target, at), side }
  }

  #childPlace(target: ResolvedTarget, at: InsertSide): ChildPlace {
    if (target.is === 'node' && at === 'into') {
      const { type } = target.node
      if (nameOf(type) === blockNote.container) return placeInContainer(type, 'end')
      return { parent: type, after: typesIn(type).at(-1)?._item ?? null }
    }
    if (at === 'into' && !isHeading(target))
      throw this.unsupported('a text block cannot contain blocks; insert them before or after it')
    const type = this.nodeOf(target)
    const unit = unitOf(type)
    if (at === 'before') return this.#placeNextTo(unit, 'before')
    return this.#placeNextTo(isHeading(target) ? lastOfSection(unit, levelOf) : unit, 'after')
  }

  #placeNextTo(type: SharedRoot, side: 'before' | 'after'): ChildPlace {
    const place = placeNextTo(type, side)
    if (place === null)
      throw this.unsupported('the target is text at the top of the root, without a block; use another target')
    return place
  }

  protected removeWhole(target: Exclude<ResolvedTarget, { is: 'text' }>): EditOutcome {
    return this.#remove(target, this.nodeOf(target))
  }

  /** Removes the element of a target. If it must stay, removes its text. */
  #remove(target: ResolvedTarget, type: SharedRoot): EditOutcome {
    const isInline = target.is === 'node' && target.node.inline !== null
    if (rowAround(type) === type) this.#newRows([], false).checkRemoved(type)
    const removed = isInline ? type : removableWith(unitOf(type))
    return removed === null ? this.removeText(target) : this.outcome(0, this.#delete(removed))
  }

  /** Bindings of editors correct adjacent texts, so the texts around the element become one text. */
  #delete(type: SharedRoot): number {
    const size = sizeOfNode(type)
    const parent = parentOf(type)
    if (parent !== null && isBetweenTexts(type)) this.#made().removeChild(this.transaction, parent, type)
    else type._item?.delete(this.transaction)
    return size
  }

  protected mark(target: ResolvedTarget, { name, value }: Extract<Edit, { is: 'mark' }>): EditOutcome {
    const vocabulary = new ObservedSchema(this.root.contentKey, undefined, this.root.schema)
    const isRich = this.view.paragraphName !== null || vocabulary.isRichText
    if (isRich && value !== null && value !== true && !isObject(value)) {
      throw this.unsupported('the value of a mark must be true, null, or an object with its attributes')
    }
    const markingsOf = xmlMarkings(this.view, vocabulary, name, value)
    const ranges = this.rangesOf(target)
    if (value !== null && this.root.schema === null && ranges.some(this.#isPlainCode)) {
      throw this.unsupported(
        'the text of a code block has no formatting; use a target outside of code blocks',
      )
    }
    for (const range of ranges) this.writer.mark(range, markingsOf)
    return this.textOutcome()
  }

  protected override ownerOfAttribute(block: SharedRoot, name: string): SharedRoot {
    return ownerOfAttribute(block, name)
  }

  /** Returns the nodes of content that can be inside a text; null if they are blocks. */
  #inlineNodes(content: NodeContent): readonly XmlNode[] | null {
    const made = this.#made(content.values)
    const nodes = made.nodesOf(content)
    const { around } = content
    const paragraph = around === null ? null : paragraphOf(nodes)
    const inner = paragraph === null || around === null ? nodes : made.padded(paragraph.children, around)
    return made.areInline(inner) ? inner : null
  }

  #placeHardBreaks(text: string): void {
    if (text.includes('\n')) placeHardBreaks(this.transaction, this.#clock, this.view, this.root.schema)
  }

  /** Returns Markdown next to a quote in code, or instead of it, as the text that it is, unless it has code blocks. */
  #literalInCode(target: ResolvedTarget, content: InsertedContent): InsertedContent {
    if (content.format !== 'nodes' || content.source?.format.name !== 'markdown') return content
    const { text, usual } = content.source
    if (target.is !== 'text' || usual.blocks.some(({ kind }) => kind === 'codeBlock')) return content
    return isCode(nameOf(this.block(this.blockOf(target)).type)) ? { format: 'text', text } : content
  }

  /** Returns content of a line in the form that the block of a target accepts: code has only text. */
  #inCode(target: ResolvedTarget, nodes: readonly XmlNode[]): readonly XmlNode[] {
    if (!isCode(nameOf(this.block(this.blockOf(target)).type))) return nodes
    const texts = nodes.map((node) => {
      if (node.kind === 'text') return node.text
      if (hardBreakNames.has(node.name)) return '\n'
      throw this.unsupported('a code block cannot contain elements; use another block as the target')
    })
    return this.#made().text(texts.join(''))
  }

  /** @param values the form of the values in the content of the edit */
  #made(values?: ValueCodec): XmlNodeBuilder {
    this.#nodes ??= new XmlNodeBuilder(this.root, values)
    return this.#nodes
  }

  /** Returns whether a range is in code without formatting. Code with formatting is that of another schema. */
  #isPlainCode = ({ flow, start }: TextRange): boolean =>
    isCode(nameOf(this.block(blockAt(this.view, flow, start)).type)) &&
    this.flow(flow).pieces.every(
      ({ source }) => source === null || source.state.runs.every(({ size }) => size === 0),
    )

  /** Elements such as a horizontal rule cannot have text. */
  protected override isTextblock({ flow, type }: TextBlock): boolean {
    return this.flow(flow).pieces.length > 0 || textblockNames.includes(nameOf(type))
  }
}

/** Returns the only paragraph of content in a text format, without its container; null if there is other content. */
function paragraphOf(nodes: readonly XmlNode[]): XmlElement | null {
  const [own, nested] = contentOf(nodes[0])
  const isOne = nodes.length === 1 && nested.length === 0
  return isOne && own?.kind === 'element' && own.name === 'paragraph' ? own : null
}

/** Returns the block in a container of BlockNote, and the containers that are nested in it. */
function contentOf(node: XmlNode | undefined): [XmlNode | undefined, readonly XmlNode[]] {
  if (node?.kind !== 'element' || node.name !== blockNote.container) return [node, []]
  const [content, group] = node.children
  return [content, group?.kind === 'element' ? group.children : []]
}

/**
 * Returns the node that takes the place of an element: the first one with its name, or else the first one.
 * Also returns the nodes before and after it.
 */
function partsAround(
  nodes: readonly XmlNode[],
  name: string,
  isInContainer: boolean,
): [readonly XmlNode[], XmlNode | undefined, readonly XmlNode[]] {
  const found = nodes.findIndex((node) => {
    const [content] = isInContainer ? contentOf(node) : [node]
    return content?.kind === 'element' && content.name === name
  })
  const at = Math.max(0, found)
  return [nodes.slice(0, at), nodes[at], nodes.slice(at + 1)]
}

/** Returns whether a node is a container of BlockNote. */
const isContainer = (node: XmlNode): node is Extract<XmlNode, { kind: 'element' }> =>
  node.kind === 'element' && node.name === blockNote.container

const runsIn = (nodes: readonly XmlNode[]): number =>
  nodes.reduce((sum, node) => sum + (node.kind === 'text' ? node.runs.length : 0), 0)

const isBetweenTexts = (type: SharedRoot): boolean =>
  [siblingOf(type, 'before'), siblingOf(type, 'after')].every((each) => each instanceof Y.XmlText)

/** Returns the level of a heading, or of the heading that a container of BlockNote starts with. */
function levelOf(type: SharedRoot): number | null {
  const own = unitChild(type)
  return own instanceof Y.XmlElement ? headingLevel(own) : null
}

const unitChild = (type: SharedRoot): SharedRoot => {
  const [first] = typesIn(type)
  return first !== undefined && unitOf(first) === type && first !== type ? first : type
}
