import { estimatedLength } from '../../model/json-pieces.ts'
import { type ListPage, type PageRange, pageLengthMax } from './list-page.ts'

/** Records that are read at a time. */
const atOnce = 250

/** A stored record under its id; null when it has just been removed. */
export interface StoredItem<R> {
  readonly id: string
  readonly record: R | null
}

/** What is looked for in a listing. */
export interface Search {
  /** Is it in one of the texts? */
  isIn(...texts: readonly string[]): boolean
  /** Records that one call looks at. */
  readonly lookedAtMax: number
}

/** Finds `text` wherever it stands in another one; upper and lower case are the same, and so are the ways to encode. */
export function searchFor(text: string, lookedAtMax: number): Search {
  const wanted = plain(text)
  return { isIn: (...texts) => texts.some((each) => plain(each).includes(wanted)), lookedAtMax }
}

/** Of lower case alone a sigma would depend on where it stands in a word, and ß would not be SS. */
const plain = (text: string): string => text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC')

/**
 * The items of a listing that are looked for, in its order. Looks at so many only: a page may have fewer than asked
 * for, or none, and go on all the same. It also ends when its JSON has the length of a page.
 * @param list every item of a range, also those that are not shown
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
