import { Graphemes } from '../../text/graphemes.ts'
import type { WorkLimit } from '../work-limit.ts'
import type { TextFlow } from './flow-view.ts'
import {
  type FlowPosition,
  NormalizedFlows,
  type Pattern,
  type QuoteRanges,
  rangesBetween,
  separator,
} from './normalized-search.ts'

/**
 * Searches for patterns in flows, with the same result as `NormalizedFlows`. It searches the stored texts for a
 * part of the pattern, the anchor, and compares the stored text around the anchor with the pattern. It normalizes
 * a text only if this comparison cannot decide.
 */
export class QuoteSearch {
  readonly #flows: readonly TextFlow[]
  readonly #acrossBlocks: boolean
  readonly #work: WorkLimit
  readonly #graphemes = new Graphemes()
  /** Steps that comparisons may still take. Each text that is searched adds some. */
  #stepsLeft = 0

  constructor(flows: readonly TextFlow[], acrossBlocks: boolean, work: WorkLimit) {
    this.#flows = flows
    this.#acrossBlocks = acrossBlocks
    this.#work = work
  }

  /** Returns the ranges of a pattern, in order, overlapping ones included. */
  *matches(pattern: Pattern): Generator<QuoteRanges, void> {
    const anchor = anchorOf(pattern.text)
    if (anchor === null) {
      yield* this.#normalized(this.#flows).matches(pattern)
      return
    }
    let count = 0
    this.#stepsLeft = stepsPerUnit * pattern.text.length
    const matcher = new AnchorMatcher(this.#flows, this.#acrossBlocks, pattern)
    for (let flow = 0; flow < this.#flows.length; flow++) {
      if (!this.#mayMatchIn(flow, anchor)) continue
      for (const match of this.#matchesIn(flow, matcher, anchor)) {
        if (match === null) {
          yield* this.#normalizedMatches(flow, pattern, count)
          if (this.#acrossBlocks) return
          break
        }
        count += 1
        yield match
      }
      if (!this.#acrossBlocks) count = 0
    }
  }

  /** Returns whether a flow can contain an anchor. */
  #mayMatchIn(flow: number, anchor: Anchor): boolean {
    const { text } = this.#flows[flow] as TextFlow
    this.#work.spend(searchSteps.start + text.length * searchSteps.perUnit)
    if (anchor.isStable) return text.includes(anchor.text)
    this.#work.spend(text.length * searchSteps.perCheckedUnit)
    return true
  }

  /** Returns the matches whose anchor is in a flow. Returns null at a place that must be normalized. */
  *#matchesIn(flow: number, matcher: AnchorMatcher, anchor: Anchor): Generator<QuoteRanges | null, void> {
    const { text } = this.#flows[flow] as TextFlow
    if (!anchor.isStable && !isNormal(text)) {
      yield null
      return
    }
    this.#stepsLeft += stepsPerUnit * text.length
    for (let at = text.indexOf(anchor.text); at !== -1; at = text.indexOf(anchor.text, at + 1)) {
      const found = matcher.at({ flow, offset: at }, anchor, this.#stepsLeft)
      this.#stepsLeft -= matcher.steps
      this.#work.spend(searchSteps.perAnchor + matcher.steps)
      if (found === 'unclear') yield null
      if (found === 'unclear') return
      const match = found === null ? null : rangesBetween(this.#flows, found.from, found.to, this.#graphemes)
      if (match !== null) yield match
    }
  }

  /** Returns the matches in one flow, or in all flows if a match can span several; without the first ones. */
  *#normalizedMatches(flow: number, pattern: Pattern, skipped: number): Generator<QuoteRanges, void> {
    const first = this.#acrossBlocks ? 0 : flow
    const flows = this.#acrossBlocks ? this.#flows : this.#flows.slice(flow, flow + 1)
    let count = 0
    for (const [start, ...others] of this.#normalized(flows).matches(pattern)) {
      count += 1
      if (count <= skipped) continue
      yield [{ ...start, flow: start.flow + first }, ...others]
    }
  }

  #normalized(flows: readonly TextFlow[]): NormalizedFlows {
    this.#work.spend(flows.reduce((sum, { text }) => sum + text.length, 0) * searchSteps.perNormalizedUnit)
    return new NormalizedFlows(flows, this.#acrossBlocks ? '\n' : separator, this.#graphemes)
  }
}

/** Steps of a search, as `WorkLimit` counts them. */
const searchSteps = {
  /** For each text, and in addition for each of its UTF-16 units. */
  start: 5,
  perUnit: 0.03,
  /** For each unit of a text whose normalization form is checked. */
  perCheckedUnit: 0.5,
  perNormalizedUnit: 8,
  perAnchor: 5,
} as const

/** Steps of comparisons for each unit of the texts and of the pattern. Only repetitive text needs more. */
const stepsPerUnit = 4

/** A part of a pattern that is searched literally. */
interface Anchor {
  readonly text: string
  /** Offset in the pattern. */
  readonly at: number
  /** True if no other text becomes the anchor by normalization. */
  readonly isStable: boolean
}

/** Maximum length of an anchor. The search of the engine takes this many steps for a character at worst. */
const anchorMax = 16

/** ASCII characters that no other character becomes by normalization (as U+212A becomes K). */
const stableRuns = /[!-:<-JL-_a-~]+/g
const runs = /\S+/g

/** Returns the anchor of a pattern; null if the pattern must be searched in normalized text. */
function anchorOf(pattern: string): Anchor | null {
  if (isMarkAt(pattern, 0) || !isNormal(pattern)) return null
  return rarest(pattern, stableRuns, true) ?? rarest(pattern, runs, false)
}

/** Returns the part of a pattern that is probably the rarest: long, or with digits and capital letters. */
function rarest(pattern: string, parts: RegExp, isStable: boolean): Anchor | null {
  let best: Anchor | null = null
  let most = 0
  for (const { 0: part, index } of pattern.matchAll(parts)) {
    const text = part.slice(0, anchorMax)
    const weight = text.length + text.replace(/[a-z]+/g, '').length
    if (weight <= most) continue
    most = weight
    best = { text, at: index, isStable }
  }
  return best
}

interface Found {
  readonly from: FlowPosition
  readonly to: FlowPosition
}

/** Compares the stored text around an anchor with a pattern. */
class AnchorMatcher {
  /** Number of compared units in the last comparison. */
  steps = 0
  readonly #flows: readonly TextFlow[]
  readonly #acrossBlocks: boolean
  readonly #pattern: Pattern

  constructor(flows: readonly TextFlow[], acrossBlocks: boolean, pattern: Pattern) {
    this.#flows = flows
    this.#acrossBlocks = acrossBlocks
    this.#pattern = pattern
  }

  /**
   * Returns the range of the quote in the pattern at the anchor; null if the text differs from the pattern.
   * `unclear`: the text must be normalized to decide this, or the comparison takes more than `stepsMax` steps.
   */
  at(position: FlowPosition, anchor: Anchor, stepsMax: number): Found | null | 'unclear' {
    this.steps = 0
    const { start, end } = this.#pattern
    const within = (offset: number): FlowPosition | null => {
      const after = offset - anchor.at
      return after < 0 || after > anchor.text.length
        ? null
        : { flow: position.flow, offset: position.offset + after }
    }
    const places = { start: within(start), end: within(end) }
    const after = { flow: position.flow, offset: position.offset + anchor.text.length }
    const isAfter = this.#forward(after, anchor.at + anchor.text.length, places, stepsMax)
    if (isAfter !== true) return isAfter === false ? null : 'unclear'
    const isBefore = this.#backward(position, anchor.at, places, stepsMax)
    if (isBefore !== true) return isBefore === false ? null : 'unclear'
    const { start: from, end: to } = places
    return from === null || to === null ? null : { from, to }
  }

  #forward(from: FlowPosition, at: number, places: QuoteEnds, stepsMax: number): boolean | null {
    const { text: pattern, start, end } = this.#pattern
    let { flow, offset } = from
    let text = this.#textOf(flow)
    for (let next = at; next < pattern.length; next++) {
      if (++this.steps > stepsMax) return null
      const unit = pattern.charCodeAt(next)
      if (unit !== space) {
        if (text.charCodeAt(offset) !== unit) return isStableAt(text, offset) ? false : null
        offset += 1
      } else {
        const before = { flow, offset }
        for (;;) {
          if (++this.steps > stepsMax) return null
          if (offset < text.length) {
            if (!isSpace(text.charCodeAt(offset))) break
            offset += 1
          } else if (this.#acrossBlocks && flow + 1 < this.#flows.length) {
            flow += 1
            offset = 0
            text = this.#textOf(flow)
          } else break
        }
        if (flow === before.flow && offset === before.offset) return isStableAt(text, offset) ? false : null
      }
      if (next + 1 === start) places.start = { flow, offset }
      if (next + 1 === end) places.end = { flow, offset }
    }
    const endsInText = pattern.charCodeAt(pattern.length - 1) !== space
    return endsInText && isMarkAt(text, offset) && !isStableAt(text, offset) ? null : true
  }

  #backward(from: FlowPosition, at: number, places: QuoteEnds, stepsMax: number): boolean | null {
    const { text: pattern, start, end } = this.#pattern
    let { flow, offset } = from
    let text = this.#textOf(flow)
    for (let next = at - 1; next >= 0; next--) {
      if (++this.steps > stepsMax) return null
      const unit = pattern.charCodeAt(next)
      if (unit !== space) {
        if (offset === 0) return false
        if (text.charCodeAt(offset - 1) !== unit) return isStableAt(text, offset - 1) ? false : null
        offset -= 1
      } else {
        const before = { flow, offset }
        for (;;) {
          if (++this.steps > stepsMax) return null
          if (offset > 0) {
            if (!isSpace(text.charCodeAt(offset - 1))) break
            offset -= 1
          } else if (this.#acrossBlocks && flow > 0) {
            flow -= 1
            text = this.#textOf(flow)
            offset = text.length
          } else break
        }
        if (flow === before.flow && offset === before.offset)
          return offset === 0 || isStableAt(text, offset - 1) ? false : null
      }
      if (next === start) places.start = { flow, offset }
      if (next === end) places.end = { flow, offset }
    }
    return true
  }

  #textOf = (flow: number): string => (this.#flows[flow] as TextFlow).text
}

interface QuoteEnds {
  start: FlowPosition | null
  end: FlowPosition | null
}

const space = 32

/** Units below this one are not changed by normalization, unless a mark follows. */
const firstMark = 0x300

const isSpace = (unit: number): boolean =>
  unit < firstMark
    ? unit === space || (unit >= 9 && unit <= 13) || unit === 0xa0
    : /^\s/.test(String.fromCharCode(unit))

/** Matches a character that may compose with the character before it. */
const marks = /^[\p{M}\u1160-\u11ff\ud7b0-\ud7fb]/u

const isMarkAt = (text: string, offset: number): boolean =>
  text.charCodeAt(offset) >= firstMark && marks.test(text.slice(offset, offset + 2))

/** Returns whether a text is in Unicode NFC. */
const isNormal = (text: string): boolean => !/[\u0300-\uffff]/.test(text) || text.normalize('NFC') === text

/** Maximum number of marks after one character that are compared. */
const marksMax = 100

/** Returns whether the character at an offset, with the marks around it, is in Unicode NFC. */
function isStableAt(text: string, offset: number): boolean {
  if (offset >= text.length) return true
  if (text.charCodeAt(offset) < firstMark && !(text.charCodeAt(offset + 1) >= firstMark)) return true
  let start = offset
  while (start > 0 && offset - start < marksMax && (isMarkAt(text, start) || isLow(text, start))) start -= 1
  let end = offset + 1
  while (end < text.length && end - offset < marksMax && (isMarkAt(text, end) || isLow(text, end))) end += 1
  const isWhole = offset - start < marksMax && end - offset < marksMax
  const around = text.slice(start, end)
  return isWhole && around.normalize('NFC') === around
}

/** Returns whether an offset is inside a surrogate pair. */
const isLow = (text: string, offset: number): boolean => (text.charCodeAt(offset) & 0xfc00) === 0xdc00
