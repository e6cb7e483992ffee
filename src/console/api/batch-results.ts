import { ApiCallError, type ApiClient } from './client.ts'

/** Response to a call for several items: one result for each item, by id. */
export type BatchResponse = Readonly<Record<string, { readonly success: boolean; readonly message: string }>>

/** Returns one sentence for each failed item. */
export const rejectedItems = (results: BatchResponse): readonly string[] =>
  Object.entries(results)
    .filter(([, { success }]) => !success)
    .map(([id, { message }]) => `${id}: ${message}.`)

/**
 * Calls an operation for several items. Such a call succeeds even if items fail; this function throws then.
 * @throws ApiCallError
 */
export async function callBatch(api: ApiClient, path: string, data: object): Promise<void> {
  const refusals = rejectedItems(await api.call<BatchResponse>(path, data))
  if (refusals.length > 0) throw new ApiCallError('FAILED_PRECONDITION', refusals.join(' '))
}
