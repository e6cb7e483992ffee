import type { Hunk } from '../diff/diff.ts'
import { FormattedTextWriter } from '../text/edits-to-delta.ts'
import type { TextChange, TextInsert } from '../text/operations.ts'
import { planWithin, wholeHunk } from '../text/plan.ts'
import { type PlainTextState, RunCursor, runIndexAtOffset } from '../text/text-state.ts'
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
  const isEmptied = target.text === ''
  return new ChangeWriter(part, target, marks).apply(hunks, part.state.text.length, isEmptied, isEmptied)
}

/** Writes the operations of a change. */
class ChangeWriter extends FormattedTextWriter {
  readonly #state: PlainTextState
  readonly #sets: TextPart['sets']
  readonly #target: MarkedText
  readonly #marks: MarkTable
  readonly #cursor: MarkCursor
  readonly #targetRuns: RunCursor<XmlRun>
  /** Index of the current run of the shared text. */
  #run = -1

  constructor({ state, sets }: TextPart, target: MarkedText, marks: MarkTable) {
    super(state)
    this.#state = state
    this.#sets = sets
    this.#cursor = new MarkCursor(marks)
    this.#target = target
    this.#targetRuns = new RunCursor(target.runs)
    this.#marks = marks
  }

  protected insertTo(targetOffset: number): void {
    const inserted = sliceText(this.#target, this.targetAt, targetOffset)
    for (const { insert, attributes } of insertsOf(inserted, this.#marks)) this.insert(insert, attributes)
    this.targetAt = targetOffset
  }

  protected override keepCharacters(offset: number): void {
    while (this.at < offset) {
      const runEnd = this.#enterRun()
      const { run, end } = this.#targetRuns.at(this.targetAt)
      const shown = this.#sets[this.#run] ?? 0
      this.keepRange(
        Math.min(offset - this.at, runEnd - this.at, end - this.targetAt),
        this.#marks.change(this.#cursor.stored, shown, run?.marks ?? 0),
      )
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
