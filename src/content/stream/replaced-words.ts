import * as Y from 'yjs'
import type { StoredId, StoredRange } from '../edit/edit-dependencies.ts'
import { type IdRange, RangeIndex } from '../history/range-index.ts'
import { ContentPaths } from '../merge/content-paths.ts'
import { type LabeledPart, TextUnits } from '../merge/labeled-units.ts'
import { itemIn } from '../merge/merge-versions.ts'
import type { MergeSide, Overlap } from '../merge/overlap.ts'
import {
  clustersIn,
  elementUnit,
  inBase,
  inMine,
  inTheirs,
  type UnitCluster,
} from '../merge/sequence-clusters.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** Content of a sequence. */
export interface ReplacedPart extends StoredRange {
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

/** UTF-16 units around replaced text that can be parts of the same words. */
const unitsAround = 128

/** Returns the texts that contain replaced ranges. */
export function replacedTexts(doc: Y.Doc, ranges: readonly StoredRange[]): readonly ReplacedText[] {
  const replaced = RangeIndex.of(ranges)
  const types = new Set(ranges.map((range) => itemIn(doc, range)?.parent))
  return [...types].flatMap((type) => (type instanceof Y.AbstractType ? textAround(type, replaced) : []))
}

function textAround(type: SharedRoot, replaced: RangeIndex<StoredRange>): ReplacedText {
  const all: ReplacedPart[] = []
  let [first, last, count] = [Number.POSITIVE_INFINITY, 0, 0]
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    const { client, clock } = item.id
    all.push({ client, clock, length: item.length, text: unitsOf(item) })
    for (let at = 0; at < item.length; ) {
      const { range, end } = replaced.at(client, clock + at)
      const next = Math.min(item.length, end - clock)
      if (range !== null) [first, last] = [Math.min(first, count + at), count + next]
      at = next
    }
    count += item.length
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
export interface WordDecision {
  readonly overlaps: readonly Overlap[]
  /** Replaced content that stays. */
  readonly kept: readonly IdRange[]
  /** Other content that is deleted: that of the stream, or that of others. */
  readonly deleted: readonly IdRange[]
  /** Text that others have deleted, and that is inserted again before an id. */
  readonly restored: readonly { readonly before: StoredId; readonly text: string }[]
}

/**
 * Decides on the words of replaced content that others have changed. No word of the result then consists of parts of
 * both sides. Changes nothing.
 * @param replaced the ids that the stream replaces; @param client the client id of the stream
 */
export function decideWords(
  doc: Y.Doc,
  texts: readonly ReplacedText[],
  replaced: readonly StoredRange[],
  client: number,
  kept: MergeSide,
): WordDecision {
  const index = RangeIndex.of(replaced)
  const paths = new ContentPaths()
  const decisions = texts.flatMap((text) => {
    const type = typeOf(doc, text)
    if (type === null) return []
    const units = new TextUnits(partsOf(type, text, index, client))
    const clusters = [...clustersIn(units, { kept, repeatsInsertions: true, areWordsSeparate: true })]
    return clusters.map((cluster) => decideCluster(units, cluster, kept, paths.of(type)))
  })
  return {
    overlaps: decisions.flatMap(({ overlaps }) => overlaps),
    kept: decisions.flatMap((each) => each.kept),
    deleted: decisions.flatMap(({ deleted }) => deleted),
    restored: decisions.flatMap(({ restored }) => restored),
  }
}

/** Returns the sequence of a text; null if it was deleted. */
function typeOf(doc: Y.Doc, { parts: [first] }: ReplacedText): SharedRoot | null {
  const parent = first === undefined ? null : itemIn(doc, first)?.parent
  return parent instanceof Y.AbstractType && parent._item?.deleted !== true ? parent : null
}

/** Yields the content of a sequence, from the first to the last unit of its text at the opening. */
function* partsOf(
  type: SharedRoot,
  { parts, isCutBefore, isCutAfter }: ReplacedText,
  replaced: RangeIndex<StoredRange>,
  client: number,
): Generator<LabeledPart> {
  const base = RangeIndex.of(parts)
  const last = parts.at(-1)
  let isInside = !isCutBefore
  for (let item = type._start; item !== null; item = item.right)
    for (let at = 0; at < item.length; ) {
      const id = { client: item.id.client, clock: item.id.clock + at }
      const [known, removed] = [base.at(id.client, id.clock), replaced.at(id.client, id.clock)]
      const length = Math.min(item.length - at, known.end - id.clock, removed.end - id.clock)
      const live = item.deleted ? 0 : inTheirs
      isInside ||= known.range !== null
      if (known.range !== null) {
        const from = id.clock - known.range.clock
        const bits = inBase | live | (removed.range === null ? inMine : 0)
        yield { ...id, text: known.range.text.slice(from, from + length), bits }
        if (isCutAfter && known.range === last && known.end === id.clock + length) return
      } else if (isInside && live !== 0 && item.countable)
        yield {
          ...id,
          text: unitsOf(item).slice(at, at + length),
          bits: id.client === client ? inMine : live,
        }
      at += length
    }
}

/** Decides on one cluster. */
function decideCluster(
  units: TextUnits,
  { indexes, isSame }: UnitCluster,
  kept: MergeSide,
  path: string,
): WordDecision {
  const overlaps = isSame ? [] : [{ path, ...units.shown(indexes), kept }]
  if (isSame || kept === 'theirs')
    return {
      overlaps,
      kept: units.having(indexes, inTheirs),
      deleted: units.having(indexes, inMine, inBase),
      restored: [],
    }
  return {
    overlaps,
    kept: [],
    deleted: units.having(indexes, inTheirs, inMine),
    restored: indexes
      .filter((at) => units.bits[at] === (inBase | inMine))
      .map((at) => ({ before: units.idAt(at), text: units.text[at] as string })),
  }
}
