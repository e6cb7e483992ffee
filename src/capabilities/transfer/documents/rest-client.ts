import { errorMessage } from '../../../core/base/errors.ts'
import { checkJson, readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import { withoutTrailing } from '../../../core/base/text.ts'
import { responseError } from '../../backups/storage/backup-sources.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { listingHint, versionsHint } from './listing-hints.ts'

/** A running server, and credentials for its REST API. */
export interface OnlineServer {
  readonly url: string
  readonly apiKey: string
  readonly authToken: string
  /** Sends a call of an operation by its path, and may repeat it; absent: each call is sent once. */
  readonly send?: (path: string, data: object) => Promise<OnlineResult>
}

/** A running server, and the credentials of a workspace. */
export interface OnlineWorkspace {
  readonly url: string
  readonly workspaceId: string
  readonly workspaceAuthToken: string
}

const headersOf = (server: OnlineServer | OnlineWorkspace): Readonly<Record<string, string>> =>
  'apiKey' in server
    ? { 'x-service-api-key': server.apiKey, 'x-service-auth-token': server.authToken }
    : {
        'x-service-workspace-id': server.workspaceId,
        'x-service-workspace-auth-token': server.workspaceAuthToken,
      }

/** Result of a call. `status` is the name of the error, such as NOT_FOUND. */
export type OnlineResult =
  | { readonly ok: true; readonly data: unknown; readonly nextPage?: string }
  | {
      readonly ok: false
      readonly error: { readonly code: string; readonly status: string; readonly message: string }
    }

/** Response of the server to one call. */
export interface RestResponse<Data> {
  readonly data: Data
  /** Token of the next page; absent on the last page. */
  readonly pageToken?: string
}

/**
 * Calls an operation of a running server.
 * @param schema schema of the `data` of the response
 * @throws StorageError with the error of the server, or if the response does not match the schema
 */
export async function callOnline<Data>(
  server: OnlineServer | OnlineWorkspace,
  path: string,
  data: object,
  schema: s.SchemaOf<Data>,
): Promise<RestResponse<Data>> {
  const { url } = server
  if ('apiKey' in server && server.send !== undefined)
    return resultOf(server, path, await server.send(path, data), schema)
  const response = await fetch(withoutTrailing('/', url) + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headersOf(server) },
    body: JSON.stringify({ data }),
    redirect: 'error',
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw unreachable(`${url} cannot be reached: ${errorMessage(cause)}`)
  })
  if (!response.ok) throw refused(server, path, response.status, await responseError(response))
  return responded(url, await response.text(), schema)
}

const responseSchema = s.object({
  result: s.object({}, { data: s.unknown, pageToken: s.string }),
})

const responded = <Data>(url: string, text: string, schema: s.SchemaOf<Data>): RestResponse<Data> =>
  asExpected(url, () => {
    const { data, ...others } = readJson(responseSchema, text).result
    return { ...others, data: checkJson(schema, data) }
  })

/** @throws StorageError if `read` throws, because the response is not one of the API */
function asExpected<T>(url: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new StorageError(`unexpected response of ${url}: ${errorMessage(error)}`, {
      cause: error,
      hint: 'use a command and a server of the same version',
    })
  }
}

/**
 * Returns the hint for the status 401. The most frequent cause of this status is that the credentials belong to
 * another server.
 */
const credentialsHint = (server: OnlineServer | OnlineWorkspace): string =>
  `name the data directory of that server (--data-dir), or set ${
    'apiKey' in server
      ? 'WEFT_API_KEY and WEFT_AUTH_TOKEN'
      : 'WEFT_WORKSPACE_ID and WEFT_WORKSPACE_AUTH_TOKEN'
  }`

/** Thrown if the server responds with an error. `code`: the code of the error; null if it is not known. */
class RefusedCallError extends StorageError {
  readonly code: string | null

  constructor(message: string, code: string | null, hint: string | undefined) {
    super(message, { hint })
    this.code = code
  }
}

const unreachable = (message: string): StorageError =>
  new StorageError(message, { hint: 'start the server, or name its URL (--url, WEFT_URL)' })

/** @param status HTTP status, or the name of the error */
function refused(
  server: OnlineServer | OnlineWorkspace,
  path: string,
  status: number | string,
  problem: string,
  code: string | null = null,
): StorageError {
  const unauthenticated = credentialsHint(server)
  const ofDocument = path.startsWith('/v2/crdt/versions/') ? versionsHint : listingHint
  const notFound = 'apiKey' in server ? ofDocument : unauthenticated
  const hints: Readonly<Record<number | string, string>> = {
    401: unauthenticated,
    UNAUTHENTICATED: unauthenticated,
    404: notFound,
    NOT_FOUND: notFound,
  }
  return new RefusedCallError(`${server.url} refuses: ${problem}`, code, hints[status])
}

function resultOf<Data>(
  server: OnlineServer,
  path: string,
  result: OnlineResult,
  schema: s.SchemaOf<Data>,
): RestResponse<Data> {
  const { url } = server
  if (!result.ok) {
    const { code, status, message } = result.error
    if (code === 'client/unreachable') throw unreachable(`${url} cannot be reached: ${message}`)
    throw refused(server, path, status, `${status}: ${message}`, code)
  }
  const { data, nextPage } = result
  return asExpected(url, () => ({
    data: checkJson(schema, data),
    ...(nextPage !== undefined && { pageToken: nextPage }),
  }))
}

/** Returns null instead of throwing if the server answers that what the call names does not exist. */
export async function nullIfNotFound<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof StorageError && error.message.includes('refuses: NOT_FOUND: ')) return null
    throw error
  }
}

/** Returns null instead of throwing if the server answers with an error of this code. */
export async function nullIfCode<T>(call: Promise<T>, code: string): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof RefusedCallError && error.code === code) return null
    throw error
  }
}

/**
 * Yields all items of a listing of a running server, page by page.
 * @param schema schema of the items of a page
 * @throws StorageError
 */
export async function* listOnline<Item>(
  server: OnlineServer | OnlineWorkspace,
  path: string,
  query: object,
  schema: s.SchemaOf<readonly Item[]>,
): AsyncGenerator<Item> {
  let pageToken: string | undefined
  do {
    const given = { ...query, ...(pageToken !== undefined && { pageToken }) }
    const page = await callOnline(server, path, given, schema)
    yield* page.data
    pageToken = page.pageToken
  } while (pageToken !== undefined)
}
