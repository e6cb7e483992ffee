import * as Y from 'yjs'
import type { SegmentReader } from '../history/segments.ts'
import { isIn } from '../history/version-values.ts'
import { rootNames } from '../roots.ts'
import { type IdRange, RangeIndex } from '../yjs/range-index.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/**
 * Returns the formatting marks that were deleted, and the equal ones that were inserted at the same place, as a
 * rejection does. They change no formatting. Takes linear time.
 */
export function replacedMarks(reader: SegmentReader): RangeIndex<IdRange> {
  const { doc } = reader.history
  const found: IdRange[] = []
  for (const name of rootNames(doc)) collect(doc.share.get(name) as SharedRoot, reader, found)
  return RangeIndex.of(found)
}

function collect(type: SharedRoot, reader: SegmentReader, found: IdRange[]): void {
  for (const last of type._map.values())
    for (let item: Y.Item | null = last; item !== null; item = item.left) nested(item, reader, found)
  let marks = new Map<string, SideMarks>()
  for (let item = type._start; item !== null; item = item.right) {
    nested(item, reader, found)
    const { content, id } = item
    for (const { state } of reader.of(item)) {
      if (item.countable && (isIn('from', state) || isIn('to', state))) marks = pairs(marks, found)
      if (!(content instanceof Y.ContentFormat) || (state !== 'inserted' && state !== 'deleted')) continue
      const name = JSON.stringify([content.key, content.value])
      const same = marks.get(name) ?? { inserted: [], deleted: [] }
      same[state].push({ client: id.client, clock: id.clock, length: 1 })
      marks.set(name, same)
    }
  }
  pairs(marks, found)
}

interface SideMarks {
  readonly inserted: IdRange[]
  readonly deleted: IdRange[]
}

/** Adds the pairs of equal marks between two visible parts. Returns an empty map. */
function pairs(marks: ReadonlyMap<string, SideMarks>, found: IdRange[]): Map<string, SideMarks> {
  for (const { inserted, deleted } of marks.values()) {
    const count = Math.min(inserted.length, deleted.length)
    found.push(...inserted.slice(0, count), ...deleted.slice(0, count))
  }
  return marks.size === 0 ? (marks as Map<string, SideMarks>) : new Map()
}

function nested({ content }: Y.Item, reader: SegmentReader, found: IdRange[]): void {
  if (content instanceof Y.ContentType) collect(content.type, reader, found)
}
