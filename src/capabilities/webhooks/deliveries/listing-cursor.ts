/** Position of a page in a listing. The item whose id the cursor contains may have been deleted meanwhile. */
export type ListingCursor =
  /** The page starts after this id. */
  | { readonly after: string }
  /** The page ends with this id, or with the last id before it. */
  | { readonly upTo: string }

export interface CursorPage<Item> {
  readonly items: readonly Item[]
  /** Cursor of the next page; null if this page is the last one. */
  readonly next: ListingCursor | null
  /** Cursor of the previous page; null if this page is the first one. */
  readonly previous: ListingCursor | null
}

/**
 * Returns the page at a cursor. If the cursor is null, returns the first page.
 * @param items all items of the listing, sorted by id
 */
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
