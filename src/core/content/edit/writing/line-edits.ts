import type * as Y from 'yjs'
import type { Hunk } from '../../diff/diff.ts'
import type { Json } from '../../json/json.ts'
import { InsertedAttributes } from '../../text/edits-to-delta.ts'
import type { Edit, EditOutcome, EditTarget, InsertedContent, InsertPlace, MatchedPlace } from '../edit.ts'
import { editNotSupported, targetNotFound } from '../edit-errors.ts'
import { offsetAtIndex, sectionEnd, type TextBlock } from '../targets/flow-view.ts'
import type { LineFlowView } from '../targets/line-view.ts'
import { placeOf } from '../targets/places.ts'
import {
  isHeading,
  placeOfTarget,
  type ResolvedTarget,
  resolveTarget,
  spendOnWriting,
} from '../targets/resolve.ts'
import { linesOf, requireTextContent } from './content-text.ts'
import { blocksOfContent, type LineEditRoot, QuillEdits } from './quill-edits.ts'
import {
  hunksInRange,
  type Marking,
  markingOperations,
  type WrittenCounts,
  writeHunks,
  writeOperations,
} from './source-edits.ts'
import { withStoredSpaces } from './stored-spaces.ts'

/** The edits of one text root. */
export class LineEdits {
  readonly #transaction: Y.Transaction
  readonly #root: LineEditRoot
  readonly #place: string

  constructor(transaction: Y.Transaction, root: LineEditRoot, place: string) {
    this.#transaction = transaction
    this.#root = root
    this.#place = place
  }

  apply(edit: Edit): EditOutcome {
    switch (edit.is) {
      case 'replace':
        return this.#replace(edit.target, edit.content)
      case 'insert':
        return this.#insert(edit.place, edit.content)
      case 'remove':
        return this.#remove(this.#resolve(edit.target))
      case 'mark':
        return this.#mark(this.#resolve(edit.target), edit)
      case 'attributes':
        return this.#setAttributes(this.#resolve(edit.target), edit.set)
      case 'text':
        return this.#textAt(edit)
      default:
        throw editNotSupported(
          `${this.#place}: a patch needs a map or an array, and the root is a text; send another edit`,
        )
    }
  }

  #resolve = (target: EditTarget, content?: InsertedContent): ResolvedTarget =>
    resolveTarget(this.#root, target, this.#place, content)

  #replace(edited: EditTarget, content: InsertedContent): EditOutcome {
    const target = this.#resolve(edited, content)
    const [start, end] = rangeOfTarget(this.#view, target)
    const blocks = this.#quillEdits(content)
    if (blocks !== null) return blocks.replace(target, [start, end])
    const plain = this.#textOf(content)
    const stored = this.#text.slice(start, end)
    const text = edited.is === 'quote' ? withStoredSpaces(stored, edited.quote, plain) : plain
    return this.#write(placeOfTarget(this.#view, target), text, this.#hunks(start, end, text))
  }

  #insert(place: InsertPlace, content: InsertedContent): EditOutcome {
    const blocks = this.#quillEdits(content)
    const text = blocks === null ? this.#textOf(content) : ''
    if (!('target' in place)) return blocks?.insert(place, null) ?? this.#insertAtEnd(place.at, text)
    const target = this.#resolve(place.target)
    if (blocks !== null) return blocks.insert(place, { target, range: rangeOfTarget(this.#view, target) })
    const matched = placeOfTarget(this.#view, target)
    const { at, before, after } = insertionPlace(this.#view, place.at, target)
    const isInLine = before === '' && after === ''
    if (!isInLine && text === '') return unchanged(matched)
    const inserted = isInLine ? text : before + linesOf(text).join('\n') + after
    return this.#write(matched, inserted, [{ aStart: at, aEnd: at, bStart: 0, bEnd: inserted.length }])
  }

  /** Returns the edits that insert the content as blocks; null if it is text, or if the root is plain text. */
  #quillEdits(content: InsertedContent): QuillEdits | null {
    const blocks = blocksOfContent(this.#root, content)
    if (blocks === null || content.format !== 'nodes') return null
    return new QuillEdits(this.#transaction, this.#root, this.#place, blocks, content.around)
  }

  /** Returns the content as text. In a plain text, Markdown is source. */
  #textOf(content: InsertedContent): string {
    const source = content.format === 'nodes' ? content.source : null
    if (source?.format.name === 'markdown') return source.text.toWellFormed()
    return requireTextContent(content, this.#place)
  }

  #insertAtEnd(end: 'start' | 'end', text: string): EditOutcome {
    const at = end === 'start' ? 0 : this.#text.length
    return this.#write({}, text, [{ aStart: at, aEnd: at, bStart: 0, bEnd: text.length }])
  }

  #remove(target: ResolvedTarget): EditOutcome {
    const matched = placeOfTarget(this.#view, target)
    const [start, end] =
      target.is === 'text' ? rangeOfTarget(this.#view, target) : this.#wholeLine(target.block)
    return this.#write(matched, '', [{ aStart: start, aEnd: end, bStart: 0, bEnd: 0 }])
  }

  /** Returns the range of a line with its line break. */
  #wholeLine(index: number): readonly [number, number] {
    const { start, end } = this.#view.blocks[index] as TextBlock
    return [start, Math.min(end + 1, this.#text.length)]
  }

  #mark(target: ResolvedTarget, marking: Marking): EditOutcome {
    const matched = placeOfTarget(this.#view, target)
    const { type, state } = this.#view.source
    const operations = markingOperations(state, [rangeOfTarget(this.#view, target)], [marking], true)
    if (operations.length === 0) return unchanged(matched)
    writeOperations(type, operations)
    return { place: matched, insertions: 0, deletions: 0, changed: true }
  }

  /** Sets attributes of the line breaks of a target. Yjs adds the last line break of a text if it is missing. */
  #setAttributes(target: ResolvedTarget, set: ReadonlyMap<string, Json>): EditOutcome {
    const matched = placeOfTarget(this.#view, target)
    const [start, end] = rangeOfTarget(this.#view, target)
    const { type, state } = this.#view.source
    const found = state.text.indexOf('\n', end)
    const at = found === -1 ? state.text.length : found
    const markings = [...set].map(([name, value]) => ({ name, value }))
    if (start < end && state.text.slice(start, end).includes('\n')) {
      throw editNotSupported(
        `${this.#place}: attributes need a target in one line; send one edit for each line`,
      )
    }
    const isMissing = at === state.text.length && markings.some(({ value }) => value !== null)
    const withBreak = isMissing ? { ...state, text: `${state.text}\n` } : state
    const operations = markingOperations(withBreak, [[at, at + 1]], markings, false)
    if (operations.length === 0) return unchanged(matched)
    writeOperations(type, operations)
    return { place: matched, insertions: isMissing ? 1 : 0, deletions: 0, changed: true }
  }

  #textAt({ index, deletions, insertion }: Extract<Edit, { is: 'text' }>): EditOutcome {
    const { type, state } = this.#view.source
    const length = state.text.length + state.embeds.reduce((sum, embed) => sum + embed.length, 0)
    if (index + deletions > length) {
      const problem = `the text has ${length} positions, but the edit ends at position ${index + deletions}`
      throw targetNotFound(`${this.#place}: ${problem}`)
    }
    const [start, end] = [offsetAtIndex(state, index), offsetAtIndex(state, index + deletions)]
    if (splitsPair(state.text, start) || splitsPair(state.text, end)) {
      throw targetNotFound(`${this.#place}: position ${index} or its end is inside a surrogate pair`)
    }
    const inserted = insertion.toWellFormed()
    spendOnWriting(this.#root, deletions)
    this.#view.work.spend(deletions * inserted.length)
    const range = { flow: 0, start, end }
    this.#root.resolved({ is: 'text', ranges: [range] })
    const matched = placeOf(this.#view, range)
    if (deletions === end - start && deletions > 0)
      return this.#write(matched, inserted, this.#hunks(start, end, inserted))
    if (deletions === 0 && inserted === '') return unchanged(matched)
    const hunk = { aStart: start, aEnd: end, bStart: 0, bEnd: inserted.length }
    const pieces = new InsertedAttributes(state).pieces(hunk, inserted)
    writeOperations(type, [
      ...(index > 0 ? [{ retain: index, attributes: Object.create(null) }] : []),
      ...pieces.map(({ text, attributes }) => ({
        insert: text,
        attributes: Object.assign(Object.create(null), attributes),
      })),
      ...(deletions > 0 ? [{ delete: deletions }] : []),
    ])
    return { place: matched, insertions: inserted.length, deletions, changed: true }
  }

  get #view(): LineFlowView {
    return this.#root.view
  }

  get #text(): string {
    return this.#view.source.state.text
  }

  #hunks = (start: number, end: number, text: string): Hunk[] =>
    hunksInRange(this.#view.source.state, start, end, text)

  #write(place: MatchedPlace, inserted: string, hunks: readonly Hunk[]): EditOutcome {
    const real = hunks.filter(({ aStart, aEnd, bStart, bEnd }) => aEnd > aStart || bEnd > bStart)
    const counts: WrittenCounts = writeHunks(this.#view.source, inserted, real)
    return { place, ...counts, changed: real.length > 0 }
  }
}

/** Returns the offsets of a target in the text. */
export function rangeOfTarget(view: LineFlowView, target: ResolvedTarget): readonly [number, number] {
  if (target.is !== 'text') {
    const { start, end } = view.blocks[target.block] as TextBlock
    return [start, end]
  }
  const [first] = target.ranges
  return [first.start, target.ranges.at(-1)?.end ?? first.end]
}

/** The place of an insertion next to a target. */
interface LineInsertion {
  readonly at: number
  /** Line breaks that separate new lines from the text around them; '' if the content becomes part of a line. */
  readonly before: '' | '\n'
  readonly after: '' | '\n'
}

/** Returns the place of an insertion next to a target. Next to a block, the content becomes lines. */
export function insertionPlace(
  view: LineFlowView,
  side: 'before' | 'after' | 'into',
  target: ResolvedTarget,
): LineInsertion {
  if (target.is === 'text' || (side === 'into' && !isHeading(target))) {
    const [start, end] = rangeOfTarget(view, target)
    return { at: side === 'before' ? start : end, before: '', after: '' }
  }
  const isSection = isHeading(target) && side !== 'before'
  const block = target.block + (side === 'before' ? 0 : 1)
  const index = isSection ? sectionEnd(view, target.block) : block
  const { text } = view.source.state
  const at = view.blocks[index]?.start ?? text.length
  const startsLine = at === 0 || text[at - 1] === '\n'
  return startsLine ? { at, before: '', after: '\n' } : { at, before: '\n', after: '' }
}

const unchanged = (place: MatchedPlace): EditOutcome => ({
  place,
  insertions: 0,
  deletions: 0,
  changed: false,
})

const splitsPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
