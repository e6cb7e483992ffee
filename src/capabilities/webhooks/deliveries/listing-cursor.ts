import type { DirectoryReader } from '../../../core/directory/store/directory-reader.ts'
import type { Key } from '../../../core/store/engine.ts'
import { lastSegment } from '../../../core/store/key-encoding.ts'

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

/** Entries of the store whose last key segment is the id of an item. */
interface Listing {
  readonly reader: Pick<DirectoryReader, 'get' | 'scan'>
  readonly prefix: Key
  /** True: the largest id comes first. */
  readonly reverse: boolean
}

/** Returns the ids of the page at a cursor; null: of the first page. */
export async function pageOfIds(
  listing: Listing,
  cursor: ListingCursor | null,
  limit: number,
): Promise<CursorPage<string>> {
  const ids = await idsAt(listing, cursor, limit)
  const [first, last] = [ids[0], ids.at(-1)]
  const [before, after] = await Promise.all([
    first === undefined ? [] : idsAfter(backwards(listing), first, 1),
    last === undefined ? [] : idsAfter(listing, last, 1),
  ])
  return {
    items: ids,
    next: after.length === 0 || last === undefined ? null : { after: last },
    previous: before[0] === undefined ? null : { upTo: before[0] },
  }
}

async function idsAt(
  listing: Listing,
  cursor: ListingCursor | null,
  limit: number,
): Promise<readonly string[]> {
  if (cursor === null || 'after' in cursor) return idsAfter(listing, cursor?.after, limit)
  const { reader, prefix } = listing
  const [own, before] = await Promise.all([
    reader.get([...prefix, cursor.upTo]),
    idsAfter(backwards(listing), cursor.upTo, limit),
  ])
  const ids = own === null ? before : [cursor.upTo, ...before]
  return ids.slice(0, limit).toReversed()
}

const backwards = (listing: Listing): Listing => ({ ...listing, reverse: !listing.reverse })

async function idsAfter(
  { reader, prefix, reverse }: Listing,
  id: string | undefined,
  limit: number,
): Promise<readonly string[]> {
  const from = id === undefined ? {} : { after: [...prefix, id] }
  return (await reader.scan({ prefix, limit, reverse, ...from })).map(({ key }) => lastSegment(key))
}
