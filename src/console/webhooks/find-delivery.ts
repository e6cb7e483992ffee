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
 * Maximum number of pages that are searched for a delivery. The delivery is recent, so it is on one of the
 * first pages.
 */
const pagesMax = 20

/**
 * Finds the page of the unfiltered delivery log that contains a delivery. The unfiltered log is used because
 * a delivery may no longer match a filter after it is sent again.
 * @returns the iterator of the page; null if it is the first page, or if the delivery was not found
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
