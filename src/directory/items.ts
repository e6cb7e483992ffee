/** What became of one item of a batch. */
export interface ItemResult {
  readonly success: boolean
  readonly id: string
  readonly message: string
}

/** Results by the ids of their items. Without a prototype: ids are anything, `__proto__` too. */
export type Results<R = ItemResult> = Record<string, R>

/** Independent items that are worked on at the same time. */
const itemsAtOnce = 32

/** One item of a batch is refused; the others are not. The message is shown to the caller. */
export class ItemRefused extends Error {
  override readonly name = 'ItemRefused'
}

/** An empty object for `Results`. */
export const noResults = <R = ItemResult>(): Results<R> => Object.create(null) as Results<R>

/**
 * Does something with each item, one after the other in their order, and says what became of each. An item that is
 * named more than once is refused each time: which of them is meant would depend on their order.
 * `work` throws ItemRefused before it changes anything, and returns the message of a success.
 */
export async function eachItem<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  work: (item: Item) => Promise<string>,
): Promise<Results> {
  const results = noResults()
  const repeated = repeatedIds(items.map(idOf))
  for (const item of items) {
    const id = idOf(item)
    results[id] = repeated.has(id) ? repeatedResult(id) : await resultOf(id, () => work(item))
  }
  return results
}

/** Like `eachItem`, for items that have nothing to do with each other: some are worked on at the same time. */
export async function eachItemApart<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  work: (item: Item) => Promise<string>,
): Promise<Results> {
  const repeated = repeatedIds(items.map(idOf))
  const results = noResults()
  await inSlices(items, async (item) => {
    const id = idOf(item)
    results[id] = repeated.has(id) ? repeatedResult(id) : await resultOf(id, () => work(item))
  })
  return results
}

/** Does `work` for all, some at the same time; the answers are in the order of the items. */
export async function inSlices<Item, R>(
  items: readonly Item[],
  work: (item: Item) => Promise<R>,
  sliceSize = itemsAtOnce,
): Promise<R[]> {
  const all: R[] = []
  for (let at = 0; at < items.length; at += sliceSize)
    all.push(...(await Promise.all(items.slice(at, at + sliceSize).map(work))))
  return all
}

const repeatedResult = (id: string): ItemResult => ({ success: false, id, message: 'listed more than once' })

async function resultOf(id: string, work: () => Promise<string>): Promise<ItemResult> {
  try {
    return { success: true, id, message: await work() }
  } catch (error) {
    if (!(error instanceof ItemRefused)) throw error
    return { success: false, id, message: error.message }
  }
}

/** Ids that are listed more than once. */
export function repeatedIds(ids: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  return new Set(ids.filter((id) => seen.has(id) || !seen.add(id)))
}
