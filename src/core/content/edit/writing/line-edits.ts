import { betweenCodePoints } from '../../diff/tokenizers.ts'
import type { Json } from '../../json/json.ts'
import { InsertedAttributes } from '../../text/edits-to-delta.ts'
import { TextChange } from '../../text/operations.ts'
import type { KnownKind } from '../../yjs/root-kind.ts'
import type { Edit, EditOutcome, EditTarget, InsertedContent, InsertPlace } from '../edit.ts'
import { targetNotFound } from '../edit-errors.ts'
import { offsetAtIndex, sectionEnd, type TextBlock } from '../targets/flow-view.ts'
import type { LineFlowView } from '../targets/line-view.ts'
import { isHeading, type ResolvedTarget, spendOnWriting, type TargetRoot } from '../targets/resolve.ts'
import { linesOf, RootEdits } from './root-edits.ts'
import { type Marking, markingOperations, writeOperations } from './source-edits.ts'

/** A text root. */
export interface LineEditRoot extends TargetRoot {
  readonly view: LineFlowView
  /** The kind of root that the schema describes; undefined without a schema. */
  readonly schemaKind: KnownKind | undefined
}

/** One edit of a text root. */
export class LineEdits extends RootEdits<LineEditRoot> {
  protected readonly kind = 'a text'

  protected replace(edited: EditTarget, content: InsertedContent): EditOutcome {
    return this.replaceText(edited, this.resolve(edited, content), this.#sourceOf(content))
  }

  protected insert(place: InsertPlace, content: InsertedContent): EditOutcome {
    const text = this.#sourceOf(content)
    if (!('target' in place)) {
      this.writer.insert(0, place.at === 'start' ? 0 : this.text.length, text)
      return this.textOutcome()
    }
    const { at, before, after } = insertionPlace(this.view, place.at, this.resolve(place.target))
    const isInLine = before === '' && after === ''
    if (isInLine) this.writer.insert(0, at, text)
    else if (text !== '') this.writer.insert(0, at, before + linesOf(text).join('\n') + after)
    return this.textOutcome()
  }

  /** Returns the content as text. In a plain text, Markdown is source. */
  #sourceOf(content: InsertedContent): string {
    const source = content.format === 'nodes' ? content.source : null
    return source?.format.name === 'markdown' ? source.text.toWellFormed() : this.textOf(content)
  }

  protected removeWhole({ block }: Exclude<ResolvedTarget, { is: 'text' }>): EditOutcome {
    const { start, end } = this.block(block)
    this.writer.replace({ flow: 0, start, end: Math.min(end + 1, this.text.length) }, '')
    return this.textOutcome()
  }

  protected mark(target: ResolvedTarget, marking: Marking): EditOutcome {
    for (const range of this.rangesOf(target)) this.writer.mark(range, () => [marking], true)
    return this.textOutcome()
  }

  /** Sets attributes of the line breaks of a target. Yjs adds the last line break of a text if it is missing. */
  protected override setAttributes(target: ResolvedTarget, set: ReadonlyMap<string, Json>): EditOutcome {
    const [start, end] = rangeOfTarget(this.view, target)
    const { type, state } = this.view.source
    const found = state.text.indexOf('\n', end)
    const at = found === -1 ? state.text.length : found
    const markings = [...set].map(([name, value]) => ({ name, value }))
    if (start < end && state.text.slice(start, end).includes('\n'))
      throw this.unsupported('attributes need a target in one line; send one edit for each line')
    const isMissing = at === state.text.length && markings.some(({ value }) => value !== null)
    const withBreak = isMissing ? { ...state, text: `${state.text}\n` } : state
    const operations = markingOperations(withBreak, [[at, at + 1]], markings, false)
    if (operations.length === 0) return this.textOutcome()
    writeOperations(type, operations)
    return this.outcome(isMissing ? 1 : 0, 0, true)
  }

  protected override textAt({ index, deletions, insertion }: Extract<Edit, { is: 'text' }>): EditOutcome {
    const { type, state } = this.view.source
    const length = state.text.length + state.embeds.reduce((sum, embed) => sum + embed.length, 0)
    if (index + deletions > length) {
      const problem = `the text has ${length} positions, but the edit ends at position ${index + deletions}`
      throw targetNotFound(`${this.place}: ${problem}`)
    }
    const [start, end] = [offsetAtIndex(state, index), offsetAtIndex(state, index + deletions)]
    if (!betweenCodePoints(state.text, start) || !betweenCodePoints(state.text, end)) {
      throw targetNotFound(`${this.place}: position ${index} or its end is inside a surrogate pair`)
    }
    const inserted = insertion.toWellFormed()
    spendOnWriting(this.root, deletions)
    this.view.work.spend(deletions * inserted.length)
    const range = { flow: 0, start, end }
    this.root.resolved(this.match({ is: 'text', ranges: [range] }))
    if (deletions === end - start && (deletions > 0 || inserted === '')) {
      this.writer.replace(range, inserted)
      return this.textOutcome()
    }
    const hunk = { aStart: start, aEnd: end, bStart: 0, bEnd: inserted.length }
    const pieces = new InsertedAttributes(state).pieces(hunk, inserted)
    const change = new TextChange().retain(index)
    for (const { text, attributes } of pieces) change.insert(text, attributes)
    writeOperations(type, change.delete(deletions).operations)
    return this.outcome(inserted.length, deletions)
  }

  protected get text(): string {
    return this.view.source.state.text
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
