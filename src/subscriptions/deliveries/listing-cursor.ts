/** Position of a page. Its item may have been deleted. */
export type ListingCursor =
  /** The page starts after this id. */
  | { readonly after: string }
  /** The page ends with this id or before it. */
  | { readonly upTo: string }

export interface CursorPage<Item> {
  readonly items: readonly Item[]
  /** Null at the end. */
  readonly next: ListingCursor | null
  /** Null at the beginning. */
  readonly previous: ListingCursor | null
}

/** Returns the page at a cursor (null for the first page). @param items in the order of their ids */
export function pageAt<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  cursor: ListingCursor | null,
  limit: number,
): CursorPage<Item> {
  const ids = items.map(idOf)
  const [start, end] = rangeAt(ids, cursor, limit)
  const [before, last] = [ids[start - 1], ids[end - 1] ?? '']
  return {
    items: items.slice(start, end),
    next: end < items.length ? { after: last } : null,
    previous: before === undefined ? null : { upTo: before },
  }
}

function rangeAt(
  ids: readonly string[],
  cursor: ListingCursor | null,
  limit: number,
): readonly [number, number] {
  if (cursor !== null && 'upTo' in cursor) {
    const end = countUpTo(ids, cursor.upTo)
    return [Math.max(0, end - limit), end]
  }
  const start = cursor === null ? 0 : countUpTo(ids, cursor.after)
  return [start, Math.min(ids.length, start + limit)]
}

const countUpTo = (ids: readonly string[], id: string): number => ids.filter((each) => each <= id).length
