import { ApiCallError, type ApiClient } from './client.ts'

/** Response to a call for several items. It contains one result for each item, by the id of the item. */
type BatchResponse = Readonly<Record<string, { readonly success: boolean; readonly message: string }>>

/** Returns one sentence for each failed item. */
export const rejectedItems = (results: BatchResponse): readonly string[] =>
  Object.entries(results)
    .filter(([, { success }]) => !success)
    .map(([id, { message }]) => `${id}: ${message}.`)

/**
 * Calls an operation for several items. The response of such a call is successful even if items have failed.
 * In this case, this function throws.
 * @throws ApiCallError
 */
export async function callBatch(api: ApiClient, path: string, data: object): Promise<void> {
  const refusals = rejectedItems(await api.call<BatchResponse>(path, data))
  if (refusals.length > 0) throw new ApiCallError('FAILED_PRECONDITION', refusals.join(' '))
}
