import { estimatedLength } from '../../model/json-pieces.ts'
import { type ListPage, type PageRange, pageLengthMax } from './list-page.ts'

/** Maximum number of records in one read. */
const atOnce = 250

/** The id of a listed item and its stored record; `record` is null if it has just been removed. */
export interface StoredItem<R> {
  readonly id: string
  readonly record: R | null
}

/** A search in a listing: the search term, and a limit for the work of one call. */
export interface Search {
  /** Returns whether one of the texts contains the search term. */
  isIn(...texts: readonly string[]): boolean
  /** Maximum number of records that one search call reads. */
  readonly lookedAtMax: number
}

/**
 * Returns a search for `text`. It finds `text` anywhere in other texts, independent of upper and lower case
 * and of Unicode normalization.
 */
export function searchFor(text: string, lookedAtMax: number): Search {
  const wanted = plain(text)
  return { isIn: (...texts) => texts.some((each) => plain(each).includes(wanted)), lookedAtMax }
}

/**
 * Converts a text to a form in which texts can be compared. `toLowerCase` alone is not sufficient: the lower
 * case of a sigma depends on its position in the word, and ß would not match SS.
 */
const plain = (text: string): string => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')

/**
 * Returns the matching items of a listing, in the order of the listing. Reads at most `lookedAtMax` records.
 * A page may therefore have fewer items than requested, or none, although more pages follow. A page also ends
 * when its JSON reaches the maximum length of a page.
 * @param list returns every item of a range, including items that do not match
 */
export async function filterItems<R>(
  list: (range: PageRange) => Promise<ListPage<StoredItem<R>>>,
  { after, limit }: PageRange,
  { lookedAtMax }: Search,
  isFound: (record: R) => boolean,
): Promise<ListPage<StoredItem<R>>> {
  const found: StoredItem<R>[] = []
  let length = 0
  let from = after
  for (let left = lookedAtMax; ; left -= atOnce) {
    const { items, next } = await list({ after: from, limit: Math.min(left, atOnce) })
    for (const [index, item] of items.entries()) {
      if (item.record === null || !isFound(item.record)) continue
      found.push(item)
      length += estimatedLength(item)
      if (found.length === limit || length >= pageLengthMax)
        return { items: found, next: index === items.length - 1 ? next : item.id }
    }
    if (next === null || left <= atOnce) return { items: found, next }
    from = next
  }
}
