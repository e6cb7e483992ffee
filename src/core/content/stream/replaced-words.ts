import * as Y from 'yjs'
import { type IdRange, RangeIndex, type StoredId } from '../../update/range-index.ts'
import { type LabeledPart, TextUnits } from '../merge/labeled-units.ts'
import type { MergeSide, Overlap } from '../merge/overlap.ts'
import { elementUnit, inBase, inMine, inTheirs, separates } from '../merge/sequence-clusters.ts'
import { type TextSpan, wordsIn } from '../merge/words.ts'
import { ContentPaths, itemIn, rangeOfItem } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** Content of a sequence. */
interface ReplacedPart extends IdRange {
  /** One UTF-16 unit for each id: the character, or `elementUnit`. */
  readonly text: string
}

/** The text of a sequence when a stream was opened: the part that the stream replaces, and the text around it. */
export interface ReplacedText {
  readonly parts: readonly ReplacedPart[]
  /** True if the sequence has more text before the parts, and after them. */
  readonly isCutBefore: boolean
  readonly isCutAfter: boolean
}

/** The unit is content of the stream, or others have written it into this content. No decision removes it. */
const ofStream = 8
/** The unit was written directly before content of the stream. */
const besideStream = 16

/** UTF-16 units around replaced text that can be parts of the same words. */
const unitsAround = 128

/** Returns the texts that contain replaced ranges. */
export function replacedTexts(doc: Y.Doc, ranges: readonly IdRange[]): readonly ReplacedText[] {
  const replaced = RangeIndex.of(ranges)
  const types = new Set(ranges.map((range) => itemIn(doc, range)?.parent))
  return [...types].flatMap((type) => (type instanceof Y.AbstractType ? textAround(type, replaced) : []))
}

function textAround(type: SharedRoot, replaced: RangeIndex<IdRange>): ReplacedText {
  const all: ReplacedPart[] = []
  let [first, last, count] = [Number.POSITIVE_INFINITY, 0, 0]
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    all.push({ ...rangeOfItem(item), text: unitsOf(item) })
    for (const { range, length } of replaced.parts(rangeOfItem(item))) {
      if (range !== null) [first, last] = [Math.min(first, count), count + length]
      count += length
    }
  }
  const [from, to] = [Math.max(0, first - unitsAround), Math.min(count, last + unitsAround)]
  const parts: ReplacedPart[] = []
  let start = 0
  for (const { client, clock, length, text } of all) {
    const [a, b] = [Math.max(from - start, 0), Math.min(to - start, length)]
    if (a < b) parts.push({ client, clock: clock + a, length: b - a, text: text.slice(a, b) })
    start += length
  }
  return { parts, isCutBefore: from > 0, isCutAfter: to < count }
}

const unitsOf = ({ content, length }: Y.Item): string =>
  content instanceof Y.ContentString ? content.str : elementUnit.repeat(length)

/** The effect of the end of a stream on words that others have changed since its opening. */
interface WordDecision {
  readonly overlaps: readonly Overlap[]
  /** Replaced content that stays. */
  readonly kept: readonly IdRange[]
  /** Content of others that is deleted. */
  readonly deleted: readonly IdRange[]
  /** Text that is inserted before an id, in this order. */
  readonly inserted: readonly { readonly before: StoredId; readonly text: string }[]
}

/**
 * Decides on the words of replaced content that others have changed. No word of the result then consists of parts of
 * both sides, apart from words that others have written into the content of the stream. Changes nothing.
 * @param replaced the ids that the stream replaces; @param client the client id of the stream
 */
export function decideWords(
  doc: Y.Doc,
  texts: readonly ReplacedText[],
  replaced: readonly IdRange[],
  client: number,
  kept: MergeSide,
): WordDecision {
  const index = RangeIndex.of(replaced)
  const paths = new ContentPaths()
  const decisions = texts.flatMap((text) => {
    const type = typeOf(doc, text)
    if (type === null) return []
    const units = new TextUnits(partsOf(doc, type, text, index, client))
    return new ReplacedWords(units, kept).decide(paths.of(type))
  })
  return {
    overlaps: decisions.flatMap(({ overlaps }) => overlaps),
    kept: decisions.flatMap((each) => each.kept),
    deleted: decisions.flatMap(({ deleted }) => deleted),
    inserted: decisions.flatMap(({ inserted }) => inserted),
  }
}

/** Returns the sequence of a text; null if it was deleted. */
function typeOf(doc: Y.Doc, { parts: [first] }: ReplacedText): SharedRoot | null {
  const parent = first === undefined ? null : itemIn(doc, first)?.parent
  return parent instanceof Y.AbstractType && parent._item?.deleted !== true ? parent : null
}

/** Yields the content of a sequence, from the first to the last unit of its text at the opening. */
function* partsOf(
  { store }: Y.Doc,
  type: SharedRoot,
  { parts, isCutBefore, isCutAfter }: ReplacedText,
  replaced: RangeIndex<IdRange>,
  client: number,
): Generator<LabeledPart> {
  const base = RangeIndex.of(parts)
  const last = parts.at(-1)
  /** Items that others have written into the content of the stream. */
  const inside = new Set<Y.Item | Y.GC>()
  let isInside = !isCutBefore
  for (let item = type._start; item !== null; item = item.right) {
    const { origin, rightOrigin } = item
    const isStreamed = item.id.client === client
    if (!isStreamed && origin !== null && (origin.client === client || inside.has(Y.getItem(store, origin))))
      inside.add(item)
    const added =
      isStreamed || inside.has(item)
        ? inMine | ofStream
        : inTheirs | (rightOrigin?.client === client ? besideStream : 0)
    const isLong = (added & ofStream) !== 0 && item.length > 2 * streamedEnd
    const partMax = isLong ? streamedEnd : item.length
    for (let at = 0; at < item.length; ) {
      const id = { client: item.id.client, clock: item.id.clock + at }
      const [known, removed] = [base.at(id.client, id.clock), replaced.at(id.client, id.clock)]
      const length = Math.min(item.length - at, known.end - id.clock, removed.end - id.clock, partMax)
      isInside ||= known.range !== null
      if (known.range !== null) {
        const from = id.clock - known.range.clock
        const bits = inBase | (item.deleted ? 0 : inTheirs) | (removed.range === null ? inMine : 0)
        yield { ...id, text: known.range.text.slice(from, from + length), bits }
        if (isCutAfter && known.range === last && known.end === id.clock + length) return
      } else if (isInside && !item.deleted && item.countable)
        yield { ...id, text: unitsOf(item).slice(at, at + length), bits: added }
      at += length
      if (isLong && at === streamedEnd) at = item.length - streamedEnd
    }
  }
}

/** UTF-16 units at each end of a long item of the stream that are read. A list of overlaps shows no more. */
const streamedEnd = 1_024

/** UTF-16 units on each side of a place in which the word at the place is searched. */
const wordSearchUnits = 64

/** The units of the words that others have changed. */
interface ChangedWords {
  readonly overlaps: readonly Overlap[]
  /** Units of words that stay as others have written them. */
  readonly stays: ReadonlySet<number>
  /** Units that only others have, and that are deleted. */
  readonly lost: ReadonlySet<number>
  /** Units next to the target that others have deleted, and that are inserted again. */
  readonly restored: ReadonlySet<number>
  /** Units of words that stay, which are moved from behind the content of the stream to the place before it. */
  readonly moved: readonly number[]
}

/** Returns the words of two joined texts that neither of them has alone. */
function joinedWords(left: string, right: string): readonly TextSpan[] {
  const alone = new Set([...wordsIn(left)].map(nameOf))
  for (const span of wordsIn(right)) alone.add(nameOf(moved(span, left.length)))
  return [...wordsIn(left + right)].filter((span) => !alone.has(nameOf(span)))
}

/** Returns whether a version has two units directly one after the other. */
const follow = (ranks: Int32Array, before: number, after: number): boolean =>
  (ranks[before] as number) >= 0 && ranks[after] === (ranks[before] as number) + 1

const nameOf = ({ start, end }: TextSpan): string => `${start}-${end}`

const moved = ({ start, end }: TextSpan, by: number): TextSpan => ({ start: start + by, end: end + by })

/** Decides on the words of one text. */
class ReplacedWords {
  readonly #units: TextUnits
  readonly #kept: MergeSide
  /** The units without the content of the stream. */
  readonly #targets: readonly number[]
  /** Index of the first unit of the stream; -1 without one. */
  readonly #firstStreamed: number

  constructor(units: TextUnits, kept: MergeSide) {
    this.#units = units
    this.#kept = kept
    this.#targets = this.#indexes((at) => !this.#has(at, ofStream))
    this.#firstStreamed = units.bits.findIndex((bits) => (bits & ofStream) !== 0)
  }

  decide(path: string): WordDecision {
    const units = this.#units
    const { overlaps, stays, lost, restored, moved } = this.#decideWords(path)
    const inserted = [...this.#gluedAt(this.#result(stays, lost, restored, moved), stays)].map((at) => ({
      before: units.idAt(at),
      text: ' ',
    }))
    for (const at of restored) inserted.push({ before: units.idAt(at), text: units.text[at] as string })
    if (moved.length > 0)
      inserted.unshift({ before: units.idAt(this.#firstStreamed), text: this.#textOf(moved) })
    return {
      overlaps,
      kept: units.ranges([...stays].filter((at) => this.#has(at, inTheirs))),
      deleted: units.ranges([...lost, ...moved]),
      inserted,
    }
  }

  #decideWords(path: string): ChangedWords {
    const overlaps: Overlap[] = []
    const [stays, lost, restored] = [new Set<number>(), new Set<number>(), new Set<number>()]
    const moved: number[] = []
    for (const word of this.#changedWords()) {
      const shown = { ...this.#units.shown(word), mine: this.#mineOf(word) }
      const isSame = shown.theirs === shown.base || shown.theirs === shown.mine
      if (!isSame) overlaps.push({ path, ...shown, kept: this.#kept })
      const isKept = !isSame && this.#kept === 'theirs'
      if (isKept) for (const at of this.#behindStream(word)) moved.push(at)
      for (const at of word)
        if (isKept) stays.add(at)
        else if (!this.#has(at, inMine)) lost.add(at)
        else if (!this.#has(at, inTheirs)) restored.add(at)
    }
    return { overlaps, stays, lost, restored, moved }
  }

  /** Yields the words with replaced content that others have changed, and not only deleted. */
  *#changedWords(): Generator<readonly number[]> {
    const joined = this.#joined()
    let word: number[] = []
    for (let n = 0; n <= this.#targets.length; n++) {
      if (joined[n] !== 1) {
        const has = (test: (at: number) => boolean): boolean => word.some(test)
        const isDeleted = !has((at) => this.#has(at, inTheirs) && !/\s/.test(this.#units.text[at] as string))
        const isSame = !has((at) => this.#has(at, inTheirs) !== this.#has(at, inMine))
        if (has(this.#isReplaced) && has(this.#isChanged) && !isDeleted && !isSame) yield word
        word = []
      }
      word.push(this.#targets[n] as number)
    }
  }

  /** Returns for each unit of the target whether it is in the same word as the one before it. */
  #joined(): Uint8Array {
    const joined = new Uint8Array(this.#targets.length)
    for (const window of this.#changedWindows())
      for (const version of [inBase, inTheirs]) {
        const places = window.filter((n) => this.#has(this.#targets[n] as number, version))
        const text = this.#textOf(places.map((n) => this.#targets[n] as number))
        for (const { start, end } of wordsIn(text))
          joined.fill(1, (places[start] as number) + 1, (places[end - 1] as number) + 1)
      }
    // A deletion and an insertion at the same place are one change.
    for (let start = 0; start < joined.length; ) {
      let end = start
      while (end < joined.length && this.#isChanged(this.#targets[end] as number)) end += 1
      const run = this.#targets.slice(start, end)
      if (run.some((at) => this.#has(at, inBase)) && run.some((at) => this.#has(at, inTheirs)))
        joined.fill(1, start + 1, end)
      start = end + 1
    }
    return joined
  }

  /** Yields the places of changed units, with the units around them up to spaces that nobody has changed. */
  *#changedWindows(): Generator<readonly number[]> {
    let [window, isChanged]: [number[], boolean] = [[], false]
    for (const [n, at] of this.#targets.entries()) {
      if (!this.#isChanged(at) && separates(this.#units.text.charCodeAt(at))) {
        if (isChanged) yield window
        ;[window, isChanged] = [[], false]
      }
      window.push(n)
      isChanged ||= this.#isChanged(at)
    }
    if (isChanged) yield window
  }

  /** Returns what the stream has instead of a word, if it replaces nothing else; undefined for nothing. */
  #mineOf(word: readonly number[]): string | undefined {
    const own = new Set(word)
    if (this.#targets.some((at) => this.#isReplaced(at) && !own.has(at))) return undefined
    const mine = this.#indexes((at) => this.#has(at, ofStream) || (own.has(at) && this.#has(at, inMine)))
    return mine.length === 0 ? undefined : this.#textOf(mine)
  }

  /** Returns the units of a word behind the content of the stream, if it also has units before this content. */
  #behindStream(word: readonly number[]): readonly number[] {
    const units = word.filter((at) => this.#has(at, inTheirs))
    const behind = units.filter((at) => at > this.#firstStreamed)
    return this.#firstStreamed < 0 || behind.length === units.length ? [] : behind
  }

  /** Returns the units of the result in their order. */
  #result(
    stays: ReadonlySet<number>,
    lost: ReadonlySet<number>,
    restored: ReadonlySet<number>,
    moved: readonly number[],
  ): readonly number[] {
    const isMoved = new Set(moved)
    const isLeft = (at: number): boolean =>
      this.#has(at, ofStream) ||
      restored.has(at) ||
      (this.#has(at, inTheirs) && !lost.has(at) && (stays.has(at) || !this.#isReplaced(at)))
    const left = this.#indexes((at) => isLeft(at) && !isMoved.has(at))
    const place = left.findIndex((at) => at >= this.#firstStreamed)
    return moved.length === 0 ? left : [...left.slice(0, place), ...moved, ...left.slice(place)]
  }

  /** Yields the units before which a word of the result would be glued from words of two sides. */
  *#gluedAt(result: readonly number[], stays: ReadonlySet<number>): Generator<number> {
    const mine = this.#indexes((at) => this.#has(at, inMine))
    const ranks = this.#ranks(inMine)
    const seams = this.#seams(result, stays)
    let lastGap = 0
    for (const [index, seam] of seams.entries()) {
      const from = this.#wordEdge(result, seam, -1, lastGap)
      const isMine = (span: TextSpan): boolean => {
        const word = result.slice(from + span.start, from + span.end)
        const rank = ranks[word[0] as number] as number
        return rank >= 0 && this.#isWordIn(mine, word, rank)
      }
      const glued = (end: number): readonly TextSpan[] =>
        joinedWords(
          this.#textOf(result.slice(from, seam)),
          this.#textOf(result.slice(seam, this.#wordEdge(result, seam, 1, end))),
        )
      if (glued(seams[index + 1] ?? result.length).every(isMine)) continue
      // A word of `mine` can contain several seams.
      const whole = glued(result.length)
      if (whole.length > 0 && whole.every(isMine)) continue
      lastGap = seam
      yield result[seam] as number
    }
  }

  /** Returns a place behind the next space in a direction, or the farthest place in which words are searched. */
  #wordEdge(result: readonly number[], seam: number, step: 1 | -1, limit: number): number {
    const farthest = seam + step * wordSearchUnits
    const edge = step > 0 ? Math.min(limit, farthest) : Math.max(limit, farthest)
    for (let n = seam; n !== edge; n += step) {
      const unit = result[step > 0 ? n : n - 1] as number
      if (separates(this.#units.text.charCodeAt(unit))) return n + step
    }
    return edge
  }

  /** Returns the indexes in the result at which units of two sides meet. */
  #seams(result: readonly number[], stays: ReadonlySet<number>): readonly number[] {
    const [theirs, mine] = [this.#ranks(inTheirs), this.#ranks(inMine)]
    const seams: number[] = []
    for (let n = 1; n < result.length; n++) {
      const [before, after] = [result[n - 1] as number, result[n] as number]
      const isEdge = this.#has(before, ofStream) !== this.#has(after, ofStream)
      if (follow(theirs, before, after) || (!isEdge && follow(mine, before, after))) continue
      if (!isEdge || !this.#has(before, besideStream) || stays.has(before)) seams.push(n)
    }
    return seams
  }

  /** Returns whether units are a whole word of a version, which has its first unit at an index. */
  #isWordIn(version: readonly number[], word: readonly number[], index: number): boolean {
    if (word.some((at, n) => version[index + n] !== at)) return false
    const from = Math.max(0, index - wordSearchUnits)
    const text = this.#textOf(version.slice(from, index + word.length + wordSearchUnits))
    return [...wordsIn(text)].some(({ start, end }) => from + start === index && end - start === word.length)
  }

  /** Returns the number of units before each unit of a version; -1 for other units. */
  #ranks(version: number): Int32Array {
    let count = 0
    return Int32Array.from(this.#units.bits, (bits) => ((bits & version) === 0 ? -1 : count++))
  }

  #has = (at: number, bits: number): boolean => this.#units.has(at, bits)

  #isReplaced = (at: number): boolean => this.#has(at, inBase) && !this.#has(at, inMine)

  #isChanged = (at: number): boolean => this.#has(at, inBase) !== this.#has(at, inTheirs)

  #indexes(has: (at: number) => boolean): readonly number[] {
    const indexes: number[] = []
    for (let at = 0; at < this.#units.bits.length; at++) if (has(at)) indexes.push(at)
    return indexes
  }

  #textOf = (indexes: readonly number[]): string => indexes.map((at) => this.#units.text[at]).join('')
}
