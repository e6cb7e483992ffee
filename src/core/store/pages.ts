import type { Blobs, DocumentLog, Key, KvEntry, KvRange } from './engine.ts'

/** Yields the pages of a listing. A page that is not full is the last one; an empty page is left out. */
async function* pagesOf<Item>(
  limit: number,
  read: (range: { readonly after?: Key; readonly limit: number }) => Promise<readonly Item[]>,
  keyOf: (item: Item) => Key,
): AsyncGenerator<readonly Item[], void, undefined> {
  for (let after: Key | undefined; ; ) {
    const page = await read({ limit, ...(after && { after }) })
    const last = page.at(-1)
    if (last !== undefined) yield page
    if (last === undefined || page.length < limit) return
    after = keyOf(last)
  }
}

/**
 * Yields all entries of a range, in pages of at most `limit` entries. The next page is read only when it is requested,
 * so the reader may change the entries of a page before.
 * @throws StoreUnavailableError
 */
export const entryPages = (scan: (range: KvRange) => Promise<readonly KvEntry[]>, range: KvRange) =>
  pagesOf(
    range.limit,
    (page) => scan({ ...range, ...page }),
    ({ key }) => key,
  )

/** Yields the keys of all live documents under a prefix, in pages of at most `limit`. @throws StoreUnavailableError */
export const documentKeyPages = (log: Pick<DocumentLog, 'list'>, prefix: Key, limit: number) =>
  pagesOf(
    limit,
    (page) => log.list(prefix, page),
    (key) => key,
  )

/** Yields the keys of all blobs under a prefix, in pages of at most `limit`. @throws StoreUnavailableError */
export const blobKeyPages = (blobs: Pick<Blobs, 'list'>, prefix: Key, limit: number) =>
  pagesOf(
    limit,
    (page) => blobs.list(prefix, page),
    (key) => key,
  )
