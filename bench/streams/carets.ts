import * as Y from 'yjs'
import type { Random } from '../support/random.ts'
import type { Layout, QuietRange } from './layout.ts'

/** Maximum number of characters on each side of a caret that are compared. */
const neighborsMax = 20
/** Number of carets in each editor next to streams and typists, and in the whole document. */
const caretCount = { near: 10, anywhere: 10 } as const

/** A caret in an editor, and the characters around it in a text that stays. */
export interface QuietCaret {
  readonly position: Y.RelativePosition
  readonly left: string
  readonly right: string
}

/** Places carets between characters that stay. Half of them stick to the character on their left. */
export function placeCarets(text: Y.Text, { text: base, quiet }: Layout, random: Random): QuietCaret[] {
  const caretAt = (at: number, { start, end }: QuietRange, index: number): QuietCaret => ({
    position: Y.createRelativePositionFromTypeIndex(text, at, index % 2 === 0 ? 0 : -1),
    left: base.slice(Math.max(start, at - neighborsMax), at),
    right: base.slice(at, Math.min(end, at + neighborsMax)),
  })
  const chosen = (): QuietRange => quiet[random(quiet.length)] as QuietRange
  const near = Array.from({ length: caretCount.near }, (_, index) => {
    const range = chosen()
    const distance = 1 + random(Math.min(neighborsMax, range.end - range.start - 1))
    return caretAt(random(2) === 0 ? range.start + distance : range.end - distance, range, index)
  })
  const anywhere = Array.from({ length: caretCount.anywhere }, (_, index) => {
    const range = chosen()
    return caretAt(range.start + 1 + random(range.end - range.start - 1), range, index)
  })
  return [...near, ...anywhere]
}

/** A text without the characters of some clients. */
export interface TextOfOthers {
  readonly text: string
  /** Returns the offset in this text of an offset in the whole text. */
  readonly offsetOf: (index: number) => number
}

export function textOfOthers(root: Y.Text, clients: ReadonlySet<number>): TextOfOthers {
  let text = ''
  const offsets: number[] = []
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentString)) continue
    const isOther = !clients.has(item.id.client)
    for (let unit = 0; unit < item.length; unit += 1) offsets.push(text.length + (isOther ? unit : 0))
    if (isOther) text += item.content.str
  }
  return { text, offsetOf: (index) => offsets[index] ?? text.length }
}

/** Returns how many carets have other neighbors than before. */
export function countMoved(
  editor: Y.Doc,
  { text, offsetOf }: TextOfOthers,
  carets: readonly QuietCaret[],
): number {
  return carets.filter(({ position, left, right }) => {
    const place = Y.createAbsolutePositionFromRelativePosition(position, editor)
    if (place === null) return true
    const at = offsetOf(place.index)
    return text.slice(at - left.length, at) !== left || text.slice(at, at + right.length) !== right
  }).length
}
