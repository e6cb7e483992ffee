import * as Y from 'yjs'
import type { Segment, SegmentReader } from '../history/segments.ts'
import { encodePosition } from '../yjs/items.ts'

/**
 * The place of a hunk as Yjs relative positions in base64. They name content that the branch and its main editor have in
 * common, so both documents resolve them: the content between them is that of the hunk.
 */
export interface HunkPlace {
  readonly position: string
  readonly positionEnd: string
}

type Side = 'left' | 'right'

/** Finds the places of hunks. The content between two hunks is read once for each of them. */
export class HunkPlaceFinder {
  readonly #reader: SegmentReader
  /** The segments of the last item, because many hunks can be in one item. */
  #last: { readonly item: Y.Item; readonly segments: readonly Segment[] } | null = null

  constructor(reader: SegmentReader) {
    this.#reader = reader
  }

  /** @param first @param last the outer segments of the hunk, in the order of the document */
  of(first: Segment, last: Segment): HunkPlace {
    return { position: this.#edge(first, 'left'), positionEnd: this.#edge(last, 'right') }
  }

  #edge({ item, offset }: Segment, side: Side): string {
    const beside = item.parentSub === null ? this.#neighbor(item, offset, side) : null
    if (beside !== null) {
      const { client, clock } = beside.item.id
      const at = side === 'left' ? beside.offset + beside.length - 1 : beside.offset
      return encoded(null, null, Y.createID(client, clock + at), side)
    }
    const parent = item.parent as Y.AbstractType<unknown>
    const container = parent._item
    if (container === null) return encoded(null, Y.findRootTypeKey(parent), null, side)
    const [segment] = this.#segmentsOf(container)
    if (segment?.state !== 'unchanged') return this.#edge({ ...(segment as Segment), offset: 0 }, side)
    // The place of an attribute is its whole element.
    if (item.parentSub !== null) return encoded(null, null, container.id, side === 'left' ? 'right' : 'left')
    return encoded(container.id, null, null, side)
  }

  /** Returns the nearest content beside a part of an item that both documents show; null if there is none. */
  #neighbor(item: Y.Item, offset: number, side: Side): Segment | null {
    const isCommon = (each: Segment): boolean => each.item.countable && each.state === 'unchanged'
    const nearest = (segments: readonly Segment[]): Segment | undefined =>
      side === 'left' ? segments.findLast(isCommon) : segments.find(isCommon)
    const isBeside = (each: Segment): boolean =>
      side === 'left' ? each.offset < offset : each.offset > offset
    let found = nearest(this.#segmentsOf(item).filter(isBeside))
    for (let next = item[side]; found === undefined && next !== null; next = next[side])
      found = nearest(this.#segmentsOf(next))
    return found ?? null
  }

  #segmentsOf(item: Y.Item): readonly Segment[] {
    if (this.#last?.item !== item) this.#last = { item, segments: this.#reader.of(item) }
    return this.#last.segments
  }
}

/** Returns a position that stays after (`left`) or before (`right`) an item, or at the start or the end of a type. */
function encoded(type: Y.ID | null, name: string | null, item: Y.ID | null, side: Side): string {
  const position = new Y.RelativePosition(type, name, item, side === 'left' ? -1 : 0)
  return encodePosition(position)
}
