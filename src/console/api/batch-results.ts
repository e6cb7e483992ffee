import { ApiCallError, type ApiClient } from './client.ts'

/** Response of a call for several items: the result of each item, by id. */
export type BatchResponse = Readonly<Record<string, { readonly success: boolean; readonly message: string }>>

/** Returns sentences about failed items. */
export const rejectedItems = (results: BatchResponse): readonly string[] =>
  Object.entries(results)
    .filter(([, { success }]) => !success)
    .map(([id, { message }]) => `${id}: ${message}.`)

/** A call that succeeds also where some things were not done, or none: that is an error here. @throws ApiCallError */
export async function callBatch(api: ApiClient, path: string, data: object): Promise<void> {
  const refusals = rejectedItems(await api.call<BatchResponse>(path, data))
  if (refusals.length > 0) throw new ApiCallError('FAILED_PRECONDITION', refusals.join(' '))
}
