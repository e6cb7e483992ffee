import type { Hunk } from '../diff/diff.ts'
import { TextStateWriter } from '../text/edits-to-delta.ts'
import type { TextChange, TextInsert } from '../text/operations.ts'
import { planWithin, wholeHunk } from '../text/plan.ts'
import { type PlainTextState, runIndexAtOffset } from '../text/text-state.ts'
import type { XmlBudget } from './budget.ts'
import { MarkCursor, type MarkTable } from './mark-sets.ts'
import type { TextPart, XmlRun, XmlText } from './tree.ts'

/** A target text with marks. */
export type MarkedText = Pick<XmlText, 'text' | 'runs'>

export const emptyText: MarkedText = { text: '', runs: [] }

/** Returns the part of a text between two offsets. */
export function sliceText({ text, runs }: MarkedText, start: number, end: number): MarkedText {
  if (start === 0 && end === text.length) return { text, runs }
  const inside: XmlRun[] = []
  for (let index = runIndexAtOffset(runs, start); index < runs.length; index++) {
    const run = runs[index] as XmlRun
    if (run.start >= end) break
    inside.push({ start: Math.max(0, run.start - start), marks: run.marks })
  }
  return { text: text.slice(start, end), runs: inside }
}

export const insertsOf = ({ text, runs }: MarkedText, marks: MarkTable): TextInsert[] =>
  runs.map((run, index) => ({
    insert: text.slice(run.start, runs[index + 1]?.start ?? text.length),
    attributes: marks.attributesOf(run.marks),
  }))

/**
 * Returns the change from a shared text to the target: edits of its characters, and changed marks of
 * characters that stay. Embeds stay unless they are inside a deleted range.
 */
export function textChange(
  part: TextPart,
  target: MarkedText,
  marks: MarkTable,
  effort: XmlBudget,
): TextChange {
  const change = written(part, target, planWithin(part.state, target.text, effort), marks)
  if (change.markings > Math.max(0, effort.editsLeft)) {
    return written(part, target, [wholeHunk(part.state.text, target.text)], marks)
  }
  effort.editsLeft -= change.markings
  return change
}

function written(part: TextPart, target: MarkedText, hunks: readonly Hunk[], marks: MarkTable): TextChange {
  const writer = new ChangeWriter(part, target, marks)
  for (const hunk of hunks) {
    writer.keepTo(hunk.aStart, target.text === '')
    writer.insertTo(hunk.bEnd)
    writer.deleteTo(hunk.aEnd, target.text === '')
  }
  writer.keepTo(part.state.text.length, false)
  return writer
}

/** Writes the operations of a change. Also tracks the position in the target. */
class ChangeWriter extends TextStateWriter {
  readonly #state: PlainTextState
  readonly #sets: TextPart['sets']
  readonly #target: MarkedText
  readonly #marks: MarkTable
  readonly #cursor: MarkCursor
  /** Index of the current run of the shared text. */
  #run = -1
  #targetAt = 0

  constructor({ state, sets }: TextPart, target: MarkedText, marks: MarkTable) {
    super(state)
    this.#state = state
    this.#sets = sets
    this.#cursor = new MarkCursor(marks)
    this.#target = target
    this.#marks = marks
  }

  insertTo(targetOffset: number): void {
    const inserted = sliceText(this.#target, this.#targetAt, targetOffset)
    for (const { insert, attributes } of insertsOf(inserted, this.#marks)) this.insert(insert, attributes)
    this.#targetAt = targetOffset
  }

  /** Gives the characters up to `offset` the marks of the target, range by range. */
  protected override keepCharacters(offset: number): void {
    while (this.at < offset) {
      const marked = runIndexAtOffset(this.#target.runs, this.#targetAt)
      const runEnd = this.#enterRun()
      const markedEnd = this.#target.runs[marked + 1]?.start ?? this.#target.text.length
      const length = Math.min(offset - this.at, runEnd - this.at, markedEnd - this.#targetAt)
      const wanted = this.#target.runs[marked]?.marks ?? 0
      this.retain(length, this.#marks.change(this.#cursor.stored, this.#sets[this.#run] ?? 0, wanted))
      this.at += length
      this.#targetAt += length
    }
  }

  /** Advances to the run of the next character. Returns the offset at which the run ends. */
  #enterRun(): number {
    const { runs, text } = this.#state
    for (let next = runs[this.#run + 1]; next !== undefined && next.start <= this.at; ) {
      this.#cursor.enter(next)
      this.#run += 1
      next = runs[this.#run + 1]
    }
    return runs[this.#run + 1]?.start ?? text.length
  }
}
