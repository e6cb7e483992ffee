import type { Hunk } from '../../../core/content/diff/diff.ts'
import { diffText } from '../../../core/content/diff/text-diff.ts'
import type { DiffPart } from './diff-part.ts'

/** Work of a comparison, which then takes less than a second. Beyond it, the comparison has less detail. */
const stepsMax = 5_000_000
/** Maximum number of differences. More become one, because each becomes an element of the page. */
const differencesMax = 2_000

/** Returns the parts of `before` to remove and the parts to add, in order to get `after`. Omits empty parts. */
export function diffTexts(before: string, after: string): readonly DiffPart[] {
  const parts: DiffPart[] = []
  let at = 0
  for (const { aStart, aEnd, bStart, bEnd } of differencesOf(before, after)) {
    parts.push({ kind: 'same', text: before.slice(at, aStart) })
    parts.push({ kind: 'removed', text: before.slice(aStart, aEnd) })
    parts.push({ kind: 'added', text: after.slice(bStart, bEnd) })
    at = aEnd
  }
  parts.push({ kind: 'same', text: before.slice(at) })
  return parts.filter(({ text }) => text !== '')
}

function differencesOf(before: string, after: string): readonly Hunk[] {
  const found = diffText(before, after, { steps: stepsMax }, differencesMax)
  const [first, last] = [found[0], found.at(-1)]
  return first === undefined || last === undefined || found.length <= differencesMax
    ? found
    : [{ ...first, aEnd: last.aEnd, bEnd: last.bEnd }]
}
