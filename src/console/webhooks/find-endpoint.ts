import { type Api, CallError } from '../api.ts'
import type { Endpoint } from './types.ts'

interface Page {
  readonly endpoints: readonly Endpoint[]
  readonly iterator: string | null
  readonly done: boolean
}

/** One endpoint: the API only lists them. @throws CallError also when there is none of this id */
export async function findEndpoint(api: Api, endpointId: string): Promise<Endpoint> {
  let iterator: string | null = null
  for (;;) {
    const asked: object = iterator === null ? {} : { iterator }
    const page: Page = await api.call('/v2/workspace/advancedwebhook/endpoints/get', asked)
    const found = page.endpoints.find(({ id, uid }) => id === endpointId || uid === endpointId)
    if (found !== undefined) return found
    if (page.done) throw new CallError('NOT_FOUND', 'There is no such endpoint any more.')
    iterator = page.iterator
  }
}
