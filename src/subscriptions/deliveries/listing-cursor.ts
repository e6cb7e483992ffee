/** Position of a page in a listing. The item with this id may have been deleted meanwhile. */
export type ListingCursor =
  /** The page starts after this id. */
  | { readonly after: string }
  /** The page ends with this id, or before it. */
  | { readonly upTo: string }

export interface CursorPage<Item> {
  readonly items: readonly Item[]
  /** Cursor of the next page; null at the end. */
  readonly next: ListingCursor | null
  /** Cursor of the previous page; null at the beginning. */
  readonly previous: ListingCursor | null
}

/** Returns the page at a cursor; null: the first page. @param items sorted by id */
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
