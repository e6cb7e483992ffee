import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { StoredId } from '../edit/edit-dependencies.ts'
import { type IdRange, RangeIndex } from '../history/range-index.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

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
  const operations: { retain: number; attributes?: Record<string, unknown> }[] = []
  for (const { client, clock, length, attributes } of formattedRanges(type))
    for (let at = clock; at < clock + length; ) {
      const { range: copy, end: copyEnd } = copied.at(client, at)
      const sourceClock = copy === null ? 0 : copy.source.clock + at - copy.clock
      const wanted = copy === null ? null : formats.at(copy.source.client, sourceClock)
      const wantedEnd = wanted === null ? Number.POSITIVE_INFINITY : at + wanted.end - sourceClock
      const end = Math.min(clock + length, copyEnd, wantedEnd)
      const change = differences(attributes, wanted?.range?.attributes ?? attributes)
      operations.push({ retain: end - at, ...(change !== null && { attributes: change }) })
      at = end
    }
  while (operations.length > 0 && operations.at(-1)?.attributes === undefined) operations.pop()
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
