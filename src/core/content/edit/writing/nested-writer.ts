import * as Y from 'yjs'
import { addTo, memoized } from '../../../base/maps.ts'
import type { Hunk } from '../../diff/diff.ts'
import { InsertedAttributes } from '../../text/edits-to-delta.ts'
import { TextChange } from '../../text/operations.ts'
import { SequenceIndexes } from '../../yjs/items.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  type FlowPiece,
  piecesIn,
  type TextFlow,
  type TextFlowPiece,
  type TextRange,
  type TextSource,
} from '../targets/flow-view.ts'
import { lexicalType } from '../targets/nested-names.ts'
import type { NestedFlowView } from '../targets/nested-view.ts'
import { FlowWriter, firstPieceAt } from './flow-writer.ts'
import { writeOperations } from './source-edits.ts'

/** Text that is inserted into a shared text, with its formatting. */
interface NewPiece {
  readonly text: string | Y.Map<unknown>
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A change at an index of a shared text. */
interface IndexChange {
  readonly index: number
  readonly deletions: number
  readonly inserted: readonly NewPiece[]
}

/** Formats of Lexical by their names, as bits of `__format`. */
const lexicalFormats: Readonly<Record<string, number>> = {
  bold: 1,
  italic: 2,
  strikethrough: 4,
  underline: 8,
  code: 16,
  subscript: 32,
  superscript: 64,
  highlight: 128,
}

/** Returns the bit of a format of Lexical; null if Lexical has no such format. */
export const lexicalFormat = (name: string): number | null =>
  Object.hasOwn(lexicalFormats, name) ? (lexicalFormats[name] ?? null) : null

/** Properties of a new text of Lexical, in addition to its type. */
const textProperties = { __format: 0, __style: '', __mode: 0, __detail: 0 } as const

/** Returns the node of a new text of Lexical without formatting. */
export const newTextNode = (): Y.Map<unknown> =>
  new Y.Map(Object.entries({ [lexicalType]: 'text', ...textProperties }))

/** Returns the node of a line break of Lexical. */
const newLineBreak = (): Y.Map<unknown> => new Y.Map([[lexicalType, 'linebreak']])

/** Matches the line breaks in a text. */
const lineBreaks = /\r\n|\r|\n/

/** Writes changes of the flows of a root of nested texts. */
export class NestedFlowWriter extends FlowWriter<NestedFlowView> {
  readonly #changes = new Map<SharedRoot, IndexChange[]>()
  /** The indexes before the changes are written. */
  #indexes = new SequenceIndexes()

  /** Formats a range as Lexical does: by a bit of the node of its text, which is divided for this. */
  markLexical(range: TextRange, bit: number, isOn: boolean): void {
    const marked = new Set<SharedRoot>()
    for (const [piece, from, to] of piecesIn(this.view, range)) {
      if (piece.source === null) continue
      const node = piece.textNode?.content
      if (!(node instanceof Y.ContentType && node.type instanceof Y.Map)) continue
      const format = Number(node.type.get('__format') ?? 0)
      const wanted = isOn ? format | bit : format & ~bit
      if (wanted === format) continue
      const index = piece.index ?? 0
      const part = (value: number): NewPiece => ({
        text: copyOf(node.type as Y.Map<unknown>, value),
        attributes: {},
      })
      if (to < piece.length)
        this.#change(piece.source.type, { index: index + to, deletions: 0, inserted: [part(format)] })
      if (from === 0) node.type.set('__format', wanted)
      else this.#change(piece.source.type, { index: index + from, deletions: 0, inserted: [part(wanted)] })
      marked.add(piece.source.type)
    }
    this.#flush()
    for (const type of marked) joinTextNodes(type)
    this.changed ||= marked.size > 0
  }

  protected override write(flow: number, inserted: string, hunks: readonly Hunk[]): void {
    const { pieces } = this.view.flows[flow] as TextFlow
    const left = new Map(pieces.map((piece) => [piece, piece.length]))
    const attributes = new Map<TextSource['type'], InsertedAttributes>()
    for (const hunk of hunks) {
      const text = inserted.slice(hunk.bStart, hunk.bEnd)
      const into = text === '' ? null : pieceFor(pieces, hunk)
      for (let next = firstPieceAt(pieces, hunk.aStart); next < pieces.length; next++) {
        const piece = pieces[next] as FlowPiece
        if (piece.start > hunk.aEnd) break
        const from = Math.max(hunk.aStart, piece.start)
        const to = Math.min(hunk.aEnd, piece.start + piece.length)
        if (piece.source === null) {
          const parent = piece.item.parent
          if (from < to && !piece.isKept && parent instanceof Y.AbstractType)
            this.#change(parent, { index: this.#indexes.of(piece.item), deletions: 1, inserted: [] })
        } else if (from < to || piece === into) {
          const at =
            piece === into && from >= to
              ? Math.max(piece.start, Math.min(hunk.aStart, piece.start + piece.length))
              : from
          const own = { aStart: at, aEnd: Math.max(at, to), bStart: hunk.bStart, bEnd: hunk.bEnd }
          left.set(
            piece,
            (left.get(piece) ?? 0) - (own.aEnd - own.aStart) + (piece === into ? this.#textLength(text) : 0),
          )
          this.#changePiece(piece, own, piece === into ? text : '', attributes)
        }
      }
    }
    for (const [piece, length] of left) if (length === 0) this.#deleteTextNode(piece)
    this.#flush()
  }

  #changePiece(
    piece: TextFlowPiece,
    { aStart, aEnd }: Hunk,
    text: string,
    known: Map<TextSource['type'], InsertedAttributes>,
  ): void {
    const { type, state } = piece.source
    const shift = piece.from - piece.start
    const attributes = memoized(known, type, () => new InsertedAttributes(state))
    const own = { aStart: aStart + shift, aEnd: aEnd + shift, bStart: 0, bEnd: text.length }
    const inserted: NewPiece[] = attributes.pieces(own, text)
    const index = (piece.index ?? 0) + aStart - piece.start
    const deletions = aEnd - aStart
    if (!this.view.isLexical) return this.#change(type, { index, deletions, inserted })
    const isStart = aStart === piece.start
    const hasTail = aEnd < piece.start + piece.length
    const { before, after } = lexicalPieces(inserted, piece.textNode ?? null, isStart, hasTail)
    // Line breaks at the start of a text come before its node.
    if (before.length > 0 && piece.textNode)
      this.#change(type, { index: this.#indexes.of(piece.textNode), deletions: 0, inserted: before })
    this.#change(type, { index, deletions, inserted: piece.textNode ? after : [...before, ...after] })
  }

  /** Returns the length of a text without the line breaks that become nodes. */
  #textLength = (text: string): number =>
    this.view.isLexical ? text.split(lineBreaks).join('').length : text.length

  /** Deletes the node of a text of Lexical that has no characters left. */
  #deleteTextNode(piece: FlowPiece): void {
    if (piece.source === null || piece.length === 0) return
    const item = piece.textNode
    if (item === undefined || item === null) return
    this.#change(piece.source.type, { index: this.#indexes.of(item), deletions: 1, inserted: [] })
  }

  #change(type: SharedRoot, change: IndexChange): void {
    addTo(this.#changes, type, change)
  }

  #flush(): void {
    for (const [type, changes] of this.#changes) {
      const change = new TextChange<NewPiece['text']>()
      let at = 0
      for (const { index, deletions, inserted } of changes.sort((a, b) => a.index - b.index)) {
        change.retain(index - at)
        for (const { text, attributes } of inserted) {
          change.insert(text, attributes)
          if (typeof text === 'string') this.insertions += text.length
        }
        change.delete(deletions)
        at = Math.max(at, index) + deletions
      }
      writeOperations(type, change.operations)
      this.deletions += change.deletions
      if (this.view.isLexical) joinTextNodes(type)
      this.changed = true
    }
    this.#changes.clear()
    this.#indexes = new SequenceIndexes()
  }
}

/**
 * Returns new text with a node for each line break and for each text after one.
 * @param textNode the node of the text into which the new text is inserted; null if it has none
 * @param isStart whether no text of this node precedes the new text
 * @param hasTail whether text of this node follows the new text
 */
function lexicalPieces(
  inserted: readonly NewPiece[],
  textNode: Y.Item | null,
  isStart: boolean,
  hasTail: boolean,
): { readonly before: readonly NewPiece[]; readonly after: readonly NewPiece[] } {
  const node = textNode?.content instanceof Y.ContentType ? textNode.content.type : null
  const newNode = (): NewPiece => ({
    text: node instanceof Y.Map ? copyOf(node, Number(node.get('__format') ?? 0)) : newTextNode(),
    attributes: {},
  })
  const [before, after]: [NewPiece[], NewPiece[]] = [[], []]
  let isOpen = textNode !== null
  for (const { text, attributes } of inserted) {
    if (typeof text !== 'string') continue
    text.split(lineBreaks).forEach((line, index) => {
      if (index > 0) {
        const isLeading = isStart && after.length === 0
        ;(isLeading ? before : after).push({ text: newLineBreak(), attributes: {} })
        isOpen &&= isLeading
      }
      if (line === '') return
      if (!isOpen) after.push(newNode())
      isOpen = true
      after.push({ text: line, attributes })
    })
  }
  if (hasTail && !isOpen) after.push(newNode())
  return { before, after }
}

/** Returns the piece that receives the inserted text of a hunk. */
function pieceFor(pieces: readonly FlowPiece[], { aStart, aEnd }: Hunk): TextFlowPiece | null {
  const first = firstPieceAt(pieces, aStart)
  let end = first
  while (end < pieces.length && (pieces[end] as FlowPiece).start <= aEnd) end += 1
  const texts = pieces.slice(first, end).filter((piece): piece is TextFlowPiece => piece.source !== null)
  const replaced = texts.find(({ start, length }) => start < aEnd && start + length > aStart)
  if (replaced !== undefined) return replaced
  const touching = texts.filter(({ start, length }) => start <= aEnd && start + length >= aStart)
  return touching.find(({ textNode }) => textNode !== null) ?? touching[0] ?? null
}

/**
 * Deletes the nodes of texts of Lexical that have the same properties as the text before them. The characters
 * then belong to the text before, as when Lexical opens the document.
 */
function joinTextNodes(type: SharedRoot): void {
  const change = new TextChange()
  let [index, written] = [0, 0]
  let previous: string | null = null
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    if (!(item.content instanceof Y.ContentString)) {
      const properties = item.content instanceof Y.ContentType ? joinableAs(item.content.type) : null
      if (properties !== null && properties === previous) {
        change.retain(index - written).delete(1)
        written = index + 1
      }
      previous = properties
    }
    index += item.length
  }
  if (change.deletions > 0) writeOperations(type, change.operations)
}

/** Flag in `__detail` of a text of Lexical that must not be joined with others. */
const unmergeable = 2

/** Returns the properties in which texts of Lexical must be equal to be joined; null for other nodes. */
function joinableAs(node: SharedRoot): string | null {
  if (!(node instanceof Y.Map) || node.get(lexicalType) !== 'text') return null
  const mode: unknown = node.get('__mode') ?? 0
  if (mode !== 0 || (Number(node.get('__detail') ?? 0) & unmergeable) !== 0) return null
  const hasMore = [...node.keys()].some(
    (name) => name !== lexicalType && !Object.hasOwn(textProperties, name),
  )
  return hasMore ? null : JSON.stringify([node.get('__format') ?? 0, node.get('__style') ?? ''])
}

function copyOf(node: Y.Map<unknown>, format: number): Y.Map<unknown> {
  const entries = [...node.entries()].filter(([, value]) => !(value instanceof Y.AbstractType))
  return new Y.Map([...entries.filter(([name]) => name !== '__format'), ['__format', format]])
}
