import { type Hunk, shifted } from '../diff/diff.ts'
import { alignToBoundaries, mergeTouching, mergeWhere } from '../diff/merge-hunks.ts'
import { diffText } from '../diff/text-diff.ts'
import type { JsonObject } from '../json/json.ts'
import { snapToGraphemes } from '../text/graphemes.ts'
import { type DeltaAttributes, TextChange } from '../text/operations.ts'
import { atMost, editsMaxFor, isSeparator, stepsMax } from '../text/plan.ts'
import {
  type FormatTable,
  type FormattedRun,
  type FormattedTarget,
  type FormattedText,
  type FormattedTextState,
  piecesOf,
} from './formatted-text.ts'

/** Maximum number of formatting marks for the ranges that are inserted into formatted text. */
const marksMax = 200_000

/**
 * Returns the operations that turn the stored text into the target. If there would be too many operations,
 * the whole target is inserted before the old text, at a position without active attributes.
 */
export function planDelta(
  stored: FormattedTextState,
  target: FormattedTarget,
  formats: FormatTable,
): DeltaOperationBuilder {
  const { content, items, complete } = stored
  if (!complete) return allAnew(stored, target, formats)
  const editsMax = editsMaxFor(items)
  const change = new DeltaOperationBuilder(stored, target, formats)
  change.apply(atMost(editsMax, hunksIn(content, target, editsMax)))
  const attributesMax = mostAttributes(content, formats)
  const affordable = change.edits <= editsMax * 2 && change.edits * attributesMax <= marksMax
  return affordable ? change : allAnew(stored, target, formats)
}

const mostAttributes = ({ runs }: FormattedText, formats: FormatTable): number =>
  runs.reduce((most, { format }) => Math.max(most, formats.get(format).stored.size), 0)

function allAnew(
  stored: FormattedTextState,
  target: FormattedTarget,
  formats: FormatTable,
): DeltaOperationBuilder {
  const change = new DeltaOperationBuilder(stored, target, formats)
  change.apply([{ aStart: 0, aEnd: stored.content.text.length, bStart: 0, bEnd: target.text.length }])
  return change
}

/** Returns the edits in the range that differs. */
function hunksIn(source: FormattedText, target: FormattedTarget, editsMax: number): Hunk[] {
  const { changed } = target
  if (changed === undefined) return hunksBetween(source.text, target.text, editsMax)
  const { start, end, targetEnd } = changed
  const found = hunksBetween(source.text.slice(start, end), target.text.slice(start, targetEnd), editsMax)
  return found.map((hunk) => shifted(hunk, start))
}

function hunksBetween(source: string, target: string, editsMax: number): Hunk[] {
  const found = diffText(source, target, { steps: stepsMax }, editsMax)
  // An embed is an unpaired surrogate, which is no separator, so it keeps its identity.
  const swallowed = mergeWhere(found, (before, after) => isSeparator(source.slice(before.aEnd, after.aStart)))
  return snapToGraphemes(source, target, mergeTouching(alignToBoundaries(source, target, swallowed)))
}

/** Collects the operations of one replacement. Tracks the position in the stored text and in the target. */
class DeltaOperationBuilder extends TextChange<string | JsonObject> {
  readonly #stored: FormattedTextState
  readonly #target: FormattedTarget
  readonly #formats: FormatTable
  readonly #sourceRuns: RunCursor
  readonly #targetRuns: RunCursor
  #at = 0
  #targetAt = 0
  #hidden = 0
  #inserts = 0

  constructor(stored: FormattedTextState, target: FormattedTarget, formats: FormatTable) {
    super()
    this.#stored = stored
    this.#target = target
    this.#formats = formats
    this.#sourceRuns = new RunCursor(stored.content.runs, stored.content.text.length)
    this.#targetRuns = new RunCursor(target.runs, target.text.length)
  }

  apply(hunks: readonly Hunk[]): void {
    for (const { aStart, aEnd, bEnd } of hunks) {
      this.#keepTo(aStart)
      this.#insertTo(bEnd)
      this.#deleteTo(aEnd)
    }
    this.#keepTo(this.#stored.content.text.length)
    this.trim()
  }

  /** Number of insertions, and of kept ranges whose attributes change. */
  get edits(): number {
    return this.#inserts + this.markings
  }

  /**
   * Keeps the text up to `offset`. The characters are the same in the stored text and in the target. The
   * attributes may differ, and two embeds with the same character may differ as well.
   */
  #keepTo(offset: number): void {
    while (this.#at < offset) {
      this.#passHidden()
      const embed = this.#stored.content.embeds.get(this.#at)
      const length = embed === undefined ? this.#lengthTo(offset) : 1
      if (
        embed !== undefined &&
        !this.#formats.same(embed, this.#target.embeds.get(this.#targetAt) ?? null)
      ) {
        this.#insertTo(this.#targetAt + 1)
        this.#deleteTo(this.#at + 1)
      } else {
        this.retain(length, this.#changeHere())
        this.#at += length
        this.#targetAt += length
      }
    }
  }

  /**
   * Returns the length of the text that follows without any change: no run starts on either side, and there
   * is no embed and no hidden item.
   */
  #lengthTo(offset: number): number {
    const hidden = this.#stored.hidden[this.#hidden]?.at ?? offset
    const end = Math.min(offset, this.#sourceRuns.endAt(this.#at), Math.max(hidden, this.#at + 1))
    let length = Math.min(end - this.#at, this.#targetRuns.endAt(this.#targetAt) - this.#targetAt)
    const { embeds } = this.#stored.content
    if (embeds.size > 0) {
      let plain = 1
      while (plain < length && !embeds.has(this.#at + plain)) plain += 1
      length = plain
    }
    return length
  }

  #changeHere(): DeltaAttributes {
    const from = this.#sourceRuns.formatAt(this.#at)
    const to = this.#targetRuns.formatAt(this.#targetAt)
    const kept = this.#target.keptFormat?.(from, to, this.#targetAt) ?? to
    return this.#formats.change(from, kept)
  }

  #insertTo(targetOffset: number): void {
    if (targetOffset <= this.#targetAt) return
    for (const { insert, format } of piecesOf(this.#target, this.#targetAt, targetOffset)) {
      this.insert(insert, this.#formats.attributesOf(format))
      this.#inserts += 1
    }
    this.#targetAt = targetOffset
  }

  /** Deletes everything up to `offset`. Hidden items before or at `offset` stay. */
  #deleteTo(offset: number): void {
    while (this.#at < offset) {
      this.#passHidden()
      const hidden = this.#stored.hidden[this.#hidden]?.at ?? offset
      const end = Math.min(offset, hidden)
      this.delete(end - this.#at)
      this.#at = end
    }
  }

  #passHidden(): void {
    for (let next = this.#stored.hidden[this.#hidden]; next?.at === this.#at; ) {
      this.retain(next.length)
      this.#hidden += 1
      next = this.#stored.hidden[this.#hidden]
    }
  }
}

/** Finds the run at an offset. Offsets must be requested in ascending order. */
class RunCursor {
  readonly #runs: readonly FormattedRun[]
  readonly #length: number
  #index = 0

  constructor(runs: readonly FormattedRun[], length: number) {
    this.#runs = runs
    this.#length = length
  }

  formatAt(at: number): number {
    this.#moveTo(at)
    return (this.#runs[this.#index] as FormattedRun).format
  }

  endAt(at: number): number {
    this.#moveTo(at)
    return this.#runs[this.#index + 1]?.start ?? this.#length
  }

  #moveTo(at: number): void {
    while ((this.#runs[this.#index + 1]?.start ?? Number.POSITIVE_INFINITY) <= at) this.#index += 1
  }
}
