import * as Y from 'yjs'
import type { ChangeOrigin } from '../../model/change-origin.ts'
import type { Segment } from './segments.ts'
import { isIn } from './version-values.ts'

/** A formatting that differs between two versions at one place. */
interface FormatDifference {
  readonly name: string
  /** The stored values; null without this formatting. */
  readonly before: unknown
  readonly after: unknown
  /** Origin of the change; null if it is unknown; undefined if no change between the versions is the cause. */
  readonly origin: ChangeOrigin | null | undefined
}

/** Maximum number of formats that are reported at one place, so that many formats take linear time. */
const differencesMax = 16

interface Format {
  readonly value: unknown
  readonly segment: Segment
}

/** Follows the formatting of a text in both versions of a history. Pass all marks of the text, in their order. */
export class FormatTracker {
  readonly #before = new Map<string, Format>()
  readonly #after = new Map<string, Format>()
  readonly #different = new Set<string>()

  /** Notes a mark. */
  add(segment: Segment): void {
    const { content } = segment.item
    if (!(content instanceof Y.ContentFormat)) return
    const { key: name, value } = content
    const format = { value, segment }
    if (isIn('from', segment.state)) this.#before.set(name, format)
    if (isIn('to', segment.state)) this.#after.set(name, format)
    if (isSameValue(this.#before.get(name)?.value, this.#after.get(name)?.value)) this.#different.delete(name)
    else this.#different.add(name)
  }

  /** Returns the formats that differ at the current place. */
  differences(): readonly FormatDifference[] {
    if (this.#different.size === 0) return []
    const differences: FormatDifference[] = []
    for (const name of this.#different) {
      if (differences.length === differencesMax) break
      const [before, after] = [this.#before.get(name), this.#after.get(name)]
      differences.push({
        name,
        before: before?.value ?? null,
        after: after?.value ?? null,
        origin: causeOf(before?.segment, after?.segment),
      })
    }
    return differences
  }
}

/** Returns the origin of a difference: the new mark, or the deletion of the old one. */
function causeOf(before: Segment | undefined, after: Segment | undefined): ChangeOrigin | null | undefined {
  if (after?.state === 'inserted') return after.inserter
  return before?.state === 'deleted' ? before.deleter : undefined
}

const isSameValue = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
