import type { ApiClient } from '../api/client.ts'
import type { DeliveryEntry } from './delivery-entry.ts'

/** A page of the delivery log. */
export interface DeliveryPage {
  readonly deliveries: readonly DeliveryEntry[]
  readonly iterator: string | null
  readonly prevIterator: string | null
  readonly done: boolean
}

/**
 * Maximum number of pages in which one delivery is searched. A delivery that the page waits for is recent.
 */
const pagesMax = 20

/**
 * Returns the page of the unfiltered log that contains a delivery. It is needed because a delivery that is
 * sent again may no longer match the filter.
 * @returns the iterator of the page; null for the first page, also if the delivery was not found
 * @throws ApiCallError
 */
export async function iteratorOfPage(
  api: ApiClient,
  endpointId: string,
  messageId: string,
): Promise<string | null> {
  let iterator: string | null = null
  for (let count = 0; count < pagesMax; count += 1) {
    const asked: object = { endpointId, ...(iterator === null ? {} : { iterator }) }
    const page: DeliveryPage = await api.call('/v2/workspace/advancedwebhook/deliveries/get', asked)
    if (page.deliveries.some((each) => each.messageId === messageId)) return iterator
    if (page.done) return null
    iterator = page.iterator
  }
  return null
}
