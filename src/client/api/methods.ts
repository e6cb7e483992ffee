import type { Result } from './result.ts'

/** Options of one call. */
export interface CallOptions {
  /**
   * Value of the header `idempotency-key`: the server executes calls with the same key and the same data once.
   * Operations that only read ignore it.
   */
  readonly idempotencyKey?: string | undefined
  /** Ends the call; its result then has the code `client/aborted`. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for the whole call, including its retries. */
  readonly timeoutMs?: number | undefined
}

/** Method of an operation that returns a list in pages. `Args` are its data and its options. */
export interface ListMethod<Args extends readonly unknown[], Data, Code extends string, Item> {
  /** Returns one page. `nextPage` of the result, or `iterator` of its data, selects the next one. */
  (...args: Args): Promise<Result<Data, Code>>
  /**
   * Returns the data of each page, from the first page or the one that `data` selects.
   * @throws WeftError if a call fails
   */
  pages(...args: Args): AsyncGenerator<Data, void>
  /**
   * Returns each item of all pages. The next page is requested when its first item is.
   * @throws WeftError if a call fails
   */
  items(...args: Args): AsyncGenerator<Item, void>
}

/** Facts about an operation that a sender needs. */
export interface OperationEntry {
  readonly path: `/v${1 | 2}/${string}`
  /**
   * Effect of a call. `reads`: none. `repeatable`: a repeated call leads to the same state. `adds`: a repeated call
   * with the same idempotency key leads to the same state. `once`: a repeated call may have a second effect, unless
   * it has the same idempotency key.
   */
  readonly effect: 'reads' | 'repeatable' | 'adds' | 'once'
  /** Whether `result` of the response is the data itself. */
  readonly bare: boolean
  /** The request member that selects a page, and the member with the items; null items: the data is the list. */
  readonly pages: { readonly token: 'pageToken' | 'iterator'; readonly items: string | null } | null
}
