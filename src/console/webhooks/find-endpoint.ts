import { ApiCallError, type ApiClient } from '../api/client.ts'
import type { EndpointSettings } from './webhook-types.ts'

interface Page {
  readonly endpoints: readonly EndpointSettings[]
  readonly iterator: string | null
  readonly done: boolean
}

/**
 * Returns the endpoint with an id. Reads the list of all endpoints, because the API cannot return a single
 * endpoint.
 * @throws ApiCallError; also if no endpoint has this id
 */
export async function findEndpoint(api: ApiClient, endpointId: string): Promise<EndpointSettings> {
  let iterator: string | null = null
  for (;;) {
    const asked: object = iterator === null ? {} : { iterator }
    const page: Page = await api.call('/v2/workspace/advancedwebhook/endpoints/get', asked)
    const found = page.endpoints.find(({ id, uid }) => id === endpointId || uid === endpointId)
    if (found !== undefined) return found
    if (page.done) throw new ApiCallError('NOT_FOUND', 'This endpoint does not exist any more.')
    iterator = page.iterator
  }
}
