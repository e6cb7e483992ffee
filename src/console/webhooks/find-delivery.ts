import type { ApiClient } from '../api/client.ts'
import type { DeliveryEntry } from './delivery-entry.ts'

/** A page of the delivery log. */
export interface DeliveryPage {
  readonly deliveries: readonly DeliveryEntry[]
  readonly iterator: string | null
  readonly prevIterator: string | null
  readonly done: boolean
}

/** Maximum number of pages to search for one delivery; an awaited delivery is recent. */
const pagesMax = 20

/**
 * The page of the whole log that has a delivery, for one that a filter has shown: sent again it fits the filter no more.
 * @returns its iterator; null: the first page, also where it was not found
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
