import { type Hunk, shifted } from '../diff/diff.ts'
import { alignToBoundaries, mergeTouching, mergeWhere } from '../diff/merge-hunks.ts'
import { diffText } from '../diff/text-diff.ts'
import type { JsonObject } from '../json/json.ts'
import { FormattedTextWriter } from '../text/edits-to-delta.ts'
import { snapToGraphemes } from '../text/graphemes.ts'
import { atMost, editsMaxFor, isSeparator, stepsMax, wholeHunk } from '../text/plan.ts'
import { RunCursor } from '../text/text-state.ts'
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
): DeltaWriter {
  const { content, items, complete } = stored
  const anew = (): DeltaWriter => written(stored, target, formats, [wholeHunk(content.text, target.text)])
  if (!complete) return anew()
  const editsMax = editsMaxFor(items)
  const change = written(stored, target, formats, atMost(editsMax, hunksIn(content, target, editsMax)))
  const attributesMax = mostAttributes(content, formats)
  const affordable = change.edits <= editsMax * 2 && change.edits * attributesMax <= marksMax
  return affordable ? change : anew()
}

const mostAttributes = ({ runs }: FormattedText, formats: FormatTable): number =>
  runs.reduce((most, { format }) => Math.max(most, formats.get(format).stored.size), 0)

function written(
  stored: FormattedTextState,
  target: FormattedTarget,
  formats: FormatTable,
  hunks: readonly Hunk[],
): DeltaWriter {
  return new DeltaWriter(stored, target, formats).apply(hunks, stored.content.text.length, true, false).trim()
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

/** Writes the operations of a change. Content that a delta does not show stays. */
class DeltaWriter extends FormattedTextWriter<string | JsonObject> {
  readonly #content: FormattedText
  readonly #target: FormattedTarget
  readonly #formats: FormatTable
  readonly #storedRuns: RunCursor<FormattedRun>
  readonly #targetRuns: RunCursor<FormattedRun>

  constructor({ content, hidden }: FormattedTextState, target: FormattedTarget, formats: FormatTable) {
    super({ embeds: hidden.map((each) => ({ ...each, fixed: true })) })
    this.#content = content
    this.#target = target
    this.#formats = formats
    this.#storedRuns = new RunCursor(content.runs)
    this.#targetRuns = new RunCursor(target.runs)
  }

  /** Number of insertions and of ranges that get other attributes. */
  get edits(): number {
    return this.operations.filter((operation) => 'insert' in operation).length + this.markings
  }

  protected insertTo(targetOffset: number): void {
    for (const { insert, format } of piecesOf(this.#target, this.targetAt, targetOffset))
      this.insert(insert, this.#formats.attributesOf(format))
    this.targetAt = targetOffset
  }

  /** Different embeds may have the same placeholder, so each embed that stays is compared. */
  protected override keepCharacters(offset: number): void {
    while (this.at < offset) {
      const embed = this.#content.embeds.get(this.at)
      const wanted = this.#target.embeds.get(this.targetAt) ?? null
      if (embed === undefined || this.#formats.same(embed, wanted))
        this.#keepNext(offset, embed !== undefined)
      else {
        this.insertTo(this.targetAt + 1)
        this.delete(1)
        this.at += 1
      }
    }
  }

  #keepNext(offset: number, isEmbed: boolean): void {
    const [stored, wanted] = [this.#storedRuns.at(this.at), this.#targetRuns.at(this.targetAt)]
    const end = isEmbed ? this.at + 1 : Math.min(offset, stored.end, this.#nextEmbed(offset))
    const [from, to] = [stored.run?.format ?? 0, wanted.run?.format ?? 0]
    const kept = this.#target.keptFormat?.(from, to, this.targetAt) ?? to
    this.keepRange(Math.min(end - this.at, wanted.end - this.targetAt), this.#formats.change(from, kept))
  }

  /** Returns the offset of the next embed; `end` if there is none before it. */
  #nextEmbed(end: number): number {
    if (this.#content.embeds.size === 0) return end
    let next = this.at + 1
    while (next < end && !this.#content.embeds.has(next)) next += 1
    return next
  }
}
