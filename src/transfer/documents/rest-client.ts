import { errorMessage } from '../../errors.ts'
import { responseError } from '../../storage/backup-sources.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { withoutTrailing } from '../../text.ts'
import { listingHint, versionsHint } from './listing-hints.ts'

/** A running server, and credentials for its REST API. */
export interface OnlineServer {
  readonly url: string
  readonly apiKey: string
  readonly authToken: string
}

/** Response of the server to one call. */
export interface RestResponse {
  readonly data: unknown
  /** Token of the next page; absent on the last page. */
  readonly pageToken?: string
}

/** Calls an operation of a running server. @throws StorageError with the error of the server */
export async function callOnline(
  { url, apiKey, authToken }: OnlineServer,
  path: string,
  data: object,
): Promise<RestResponse> {
  const response = await fetch(withoutTrailing('/', url) + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
    body: JSON.stringify({ data }),
    redirect: 'error',
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new StorageError(`${url} cannot be reached: ${errorMessage(cause)}`, {
      hint: 'start the server, or name its URL (--url, WEFT_URL)',
    })
  })
  if (!response.ok) throw await refusedBy(url, path, response)
  return ((await response.json()) as { result: RestResponse }).result
}

/**
 * Hint for the status 401. The most frequent cause of this status is that the credentials belong to another
 * server.
 */
const credentialsHint =
  'name the data directory of that server (--data-dir), or set WEFT_API_KEY and WEFT_AUTH_TOKEN'

async function refusedBy(url: string, path: string, response: Response): Promise<StorageError> {
  const hints: Readonly<Record<number, string>> = {
    401: credentialsHint,
    404: path.startsWith('/v2/crdt/versions/') ? versionsHint : listingHint,
  }
  return new StorageError(`${url} refuses: ${await responseError(response)}`, {
    hint: hints[response.status],
  })
}

/** Yields all items of a listing of a running server, page by page. @throws StorageError */
export async function* listOnline<Item>(
  server: OnlineServer,
  path: string,
  query: object,
): AsyncGenerator<Item> {
  let pageToken: string | undefined
  do {
    const page = await callOnline(server, path, { ...query, ...(pageToken !== undefined && { pageToken }) })
    yield* page.data as readonly Item[]
    pageToken = page.pageToken
  } while (pageToken !== undefined)
}
