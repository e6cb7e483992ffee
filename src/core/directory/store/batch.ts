import type { ErrorCode } from '../../base/errors.ts'

export interface BatchItemResult {
  readonly success: boolean
  readonly id: string
  readonly message: string
  /** Set only if the item failed. */
  readonly details?: { readonly code: ErrorCode } & Readonly<Record<string, unknown>>
}

/**
 * Results of a batch, by the ids of its items. The object has no prototype, because any text may be an id,
 * even `__proto__`.
 */
export type BatchResults<R = BatchItemResult> = Record<string, R>

/** Default number of items that are processed in parallel, if the items are independent of each other. */
const itemsAtOnce = 32

/** Thrown to reject one item of a batch. The other items are processed. The message is sent to the caller. */
export class ItemRejectedError extends Error {
  override readonly name = 'ItemRejectedError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Returns an empty object to which results can be added. */
export const emptyBatchResults = <R = BatchItemResult>(): BatchResults<R> => Object.create(null)

/**
 * Processes the items in their order, and returns a result for each item. The ids must be unique.
 * @param member member that contains the id of an item; null: the items are ids themselves
 * @param work changes something and returns the message for the success; to reject the item, it throws
 * ItemRejectedError before it changes anything
 */
export async function forEachItem<Item>(
  items: readonly Item[],
  member: IdMember<Item>,
  work: (item: Item) => Promise<string>,
): Promise<BatchResults> {
  const results = emptyBatchResults()
  for (const item of items) {
    const id = idOf(item, member)
    results[id] = await resultOf(id, () => work(item))
  }
  return results
}

/** Like `forEachItem`, for items that are independent of each other. Processes several items in parallel. */
export async function forEachItemConcurrently<Item>(
  items: readonly Item[],
  member: IdMember<Item>,
  work: (item: Item) => Promise<string>,
): Promise<BatchResults> {
  const results = emptyBatchResults()
  await mapInSlices(items, async (item) => {
    const id = idOf(item, member)
    results[id] = await resultOf(id, () => work(item))
  })
  return results
}

type IdMember<Item> = (keyof Item & string) | null

const idOf = <Item>(item: Item, member: IdMember<Item>): string =>
  String(member === null ? item : item[member])

/** Runs `work` for all items, several in parallel. The results are in the order of the items. */
export async function mapInSlices<Item, R>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<R>,
  sliceSize = itemsAtOnce,
): Promise<R[]> {
  const all: R[] = []
  for (let at = 0; at < items.length; at += sliceSize)
    all.push(
      ...(await Promise.all(items.slice(at, at + sliceSize).map((item, index) => work(item, at + index)))),
    )
  return all
}

/** Returns the result of an item that was not processed. */
export const failedResult = (
  id: string,
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): BatchItemResult => ({ success: false, id, message, details: { ...details, code } })

async function resultOf(id: string, work: () => Promise<string>): Promise<BatchItemResult> {
  try {
    return { success: true, id, message: await work() }
  } catch (error) {
    if (!(error instanceof ItemRejectedError)) throw error
    return failedResult(id, error.code, error.message, error.details)
  }
}
