import { estimatedLength } from '../../model/json-pieces.ts'
import { type ListPage, type PageRange, pageLengthMax } from './list-page.ts'

/** Records in one read. */
const atOnce = 250

/** A stored record with its id; null if it has just been removed. */
export interface StoredItem<R> {
  readonly id: string
  readonly record: R | null
}

/** The search term of a listing. */
export interface Search {
  /** Returns whether one of the texts contains the search term. */
  isIn(...texts: readonly string[]): boolean
  /** Maximum number of records that one search call reads. */
  readonly lookedAtMax: number
}

/** Creates a search for `text` anywhere in other texts, independent of case and Unicode normalization. */
export function searchFor(text: string, lookedAtMax: number): Search {
  const wanted = plain(text)
  return { isIn: (...texts) => texts.some((each) => plain(each).includes(wanted)), lookedAtMax }
}

/**
 * Returns the text in a form for comparisons. `toLowerCase` alone is not sufficient: a sigma would depend on
 * its position in a word, and ß would not match SS.
 */
const plain = (text: string): string => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')

/**
 * Returns the matching items of a listing, in its order. Reads at most `lookedAtMax` records, so a page may
 * have fewer items than requested, or none, although more pages follow. A page also ends when its JSON
 * reaches the maximum length of a page.
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
