import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { type IdRange, RangeIndex, type StoredId } from '../../update/range-index.ts'
import { TextChange } from '../text/operations.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type ThreeWay, threeWay } from './merge-values.ts'
import type { MergeSide } from './overlap.ts'

type Attributes = ReadonlyMap<string, unknown>

interface FormattedRange extends IdRange {
  readonly attributes: Attributes
}

/** Ids of copies, and the first id of the content that was copied. */
export interface CopiedText extends IdRange {
  readonly source: StoredId
}

/**
 * Gives copies of deleted text the formatting that the text has in its version. The marks at its place may have changed
 * since then.
 * @param version the type in that version
 */
export function restoreFormats(type: SharedRoot, version: SharedRoot, copies: readonly CopiedText[]): void {
  const formats = RangeIndex.of(formattedRanges(version))
  const copied = RangeIndex.of(copies)
  const operations = new TextChange()
  for (const { client, clock, length, attributes } of formattedRanges(type))
    for (let at = clock; at < clock + length; ) {
      const { range: copy, end: copyEnd } = copied.at(client, at)
      const sourceClock = copy === null ? 0 : copy.source.clock + at - copy.clock
      const wanted = copy === null ? null : formats.at(copy.source.client, sourceClock)
      const wantedEnd = wanted === null ? Number.POSITIVE_INFINITY : at + wanted.end - sourceClock
      const end = Math.min(clock + length, copyEnd, wantedEnd)
      const change = differences(attributes, wanted?.range?.attributes ?? attributes)
      operations.retain(end - at, change)
      at = end
    }
  apply(type, operations)
}

/** Formatting of text that both sides have changed in different ways, by name. */
type FormatOverlap = ThreeWay<Readonly<Record<string, unknown>>>

/**
 * Gives text that all versions have the merged formatting: a format that one side has changed has the value of this
 * side. Returns the formats that both sides have changed.
 * @param versions the type in each version
 */
export function mergeFormats(
  type: SharedRoot,
  versions: ThreeWay<SharedRoot>,
  kept: MergeSide,
): readonly FormatOverlap[] {
  const indexes = threeWay((version) => RangeIndex.of(formattedRanges(versions[version])))
  const operations = new TextChange()
  const overlaps: FormatOverlap[] = []
  for (const { client, clock, length, attributes } of formattedRanges(type))
    for (let at = clock; at < clock + length; ) {
      const { base, theirs, mine } = threeWay((version) => indexes[version].at(client, at))
      const end = Math.min(clock + length, base.end, theirs.end, mine.end)
      let change: Record<string, unknown> | null = null
      if (base.range !== null && theirs.range !== null && mine.range !== null) {
        const [b, t, m] = [base.range.attributes, theirs.range.attributes, mine.range.attributes]
        const sets = { base: b, theirs: t, mine: m }
        const { merged, overlap } = mergeAttributes(sets, kept)
        change = differences(attributes, merged)
        if (overlap !== null && !isDeepStrictEqual(overlap, overlaps.at(-1))) overlaps.push(overlap)
      }
      operations.retain(end - at, change)
      at = end
    }
  apply(type, operations)
  return overlaps
}

function mergeAttributes(
  { base, theirs, mine }: ThreeWay<Attributes>,
  kept: MergeSide,
): { readonly merged: Attributes; readonly overlap: FormatOverlap | null } {
  const merged = new Map<string, unknown>()
  const overlap: Record<keyof FormatOverlap, Record<string, unknown>> = { base: {}, theirs: {}, mine: {} }
  for (const name of new Set([...theirs.keys(), ...mine.keys()])) {
    const [b, t, m] = [base, theirs, mine].map((attributes) => attributes.get(name) ?? null)
    let value = t
    if (isDeepStrictEqual(b, t)) value = m
    else if (!isDeepStrictEqual(b, m) && !isDeepStrictEqual(t, m)) {
      ;[overlap.base[name], overlap.theirs[name], overlap.mine[name]] = [b, t, m]
      value = kept === 'theirs' ? t : m
    }
    if (value !== null) merged.set(name, value)
  }
  return { merged, overlap: Object.keys(overlap.base).length > 0 ? overlap : null }
}

function apply(type: SharedRoot, change: TextChange): void {
  const { operations } = change.trim()
  if (type._searchMarker !== null) type._searchMarker.length = 0
  if (operations.length > 0) Y.Text.prototype.applyDelta.call(type, operations)
}

/** Returns the live content of a text with its formatting, in its order. */
function* formattedRanges(type: SharedRoot): Generator<FormattedRange> {
  let attributes: Attributes = new Map()
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content, id, length } = item
    if (content instanceof Y.ContentFormat) {
      const changed = new Map(attributes)
      if (content.value === null) changed.delete(content.key)
      else changed.set(content.key, content.value)
      attributes = changed
    } else if (item.countable) yield { client: id.client, clock: id.clock, length, attributes }
  }
}

/** Returns the attributes that turn one set into the other; null if the sets are equal. */
function differences(from: Attributes, to: Attributes): Record<string, unknown> | null {
  const changed: Record<string, unknown> = {}
  for (const name of new Set([...from.keys(), ...to.keys()]))
    if (!isDeepStrictEqual(from.get(name), to.get(name))) changed[name] = to.get(name) ?? null
  return Object.keys(changed).length > 0 ? changed : null
}
