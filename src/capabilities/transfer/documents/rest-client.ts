import { errorMessage } from '../../../core/base/errors.ts'
import { checkJson } from '../../../core/base/json.ts'
import type * as s from '../../../core/base/schema.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

/** Hint that follows an error about an organization, a document or an editor that does not exist. */
export const listingHint = '`weft doc ls` shows all there are'

/** A running server, and the function that calls its REST API. */
interface RestServer {
  readonly url: string
  /** Sends a call of an operation by its path. Resolves also if the call fails. */
  readonly send: (path: string, data: object) => Promise<OnlineResult>
}

export interface OnlineServer extends RestServer {
  readonly apiKey: string
  readonly authToken: string
}

/** A running server, and the credentials of a workspace. */
export interface OnlineWorkspace extends RestServer {
  readonly workspaceId: string
  readonly workspaceAuthToken: string
}

/** Result of a call. `status` is the name of the error, such as NOT_FOUND. */
export type OnlineResult =
  | { readonly ok: true; readonly data: unknown; readonly nextPage?: string }
  | { readonly ok: false; readonly error: FailedOnlineCall }

interface FailedOnlineCall {
  readonly code: string
  readonly status: string
  readonly message: string
}

/** Response of the server to one call. */
interface RestResponse<Data> {
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
  const result = await server.send(path, data)
  if (!result.ok) throw refused(server, result.error)
  const { nextPage } = result
  try {
    return {
      data: checkJson(schema, result.data),
      ...(nextPage !== undefined && { pageToken: nextPage }),
    }
  } catch (error) {
    throw new StorageError(`unexpected response of ${server.url}: ${errorMessage(error)}`, {
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

/** Thrown if the server responds with an error. */
class RefusedCallError extends StorageError {
  /** The code and the status of the error. */
  readonly names: readonly string[]

  constructor(message: string, { code, status }: FailedOnlineCall, hint: string | undefined) {
    super(message, { hint })
    this.names = [code, status]
  }
}

function refused(server: OnlineServer | OnlineWorkspace, error: FailedOnlineCall): StorageError {
  const { code, status, message } = error
  if (code === 'client/unreachable')
    return new StorageError(`${server.url} cannot be reached: ${message}`, {
      hint: 'start the server, or name its URL (--url, WEFT_URL)',
    })
  const unauthenticated = credentialsHint(server)
  const isListed = /^(?:organization|document|crdt)\//.test(code)
  const ofKey = isListed ? listingHint : undefined
  const notFound = 'apiKey' in server ? ofKey : unauthenticated
  const hints: Readonly<Record<string, string | undefined>> = {
    UNAUTHENTICATED: unauthenticated,
    NOT_FOUND: notFound,
  }
  return new RefusedCallError(`${server.url} refuses: ${status}: ${message}`, error, hints[status])
}

/** Returns null instead of throwing if the server responds with an error of this code or status. */
export async function nullIfRefused<T>(call: Promise<T>, codeOrStatus: string): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof RefusedCallError && error.names.includes(codeOrStatus)) return null
    throw error
  }
}

/**
 * Yields the pages of a listing of a running server.
 * @param schema schema of a page
 * @throws StorageError also if the pages never end, because a page names itself as the next one
 */
export async function* pagesOnline<Page>(
  server: OnlineServer | OnlineWorkspace,
  path: string,
  query: object,
  schema: s.SchemaOf<Page>,
): AsyncGenerator<Page> {
  let pageToken: string | undefined
  do {
    const given = { ...query, ...(pageToken !== undefined && { pageToken }) }
    const page = await callOnline(server, path, given, schema)
    yield page.data
    if (page.pageToken !== undefined && page.pageToken === pageToken)
      throw new StorageError(`${server.url} returns pages of ${path} that never end`)
    pageToken = page.pageToken
  } while (pageToken !== undefined)
}

/** Yields the items of a listing whose pages are lists of them. @throws as `pagesOnline` */
export async function* listOnline<Item>(
  server: OnlineServer | OnlineWorkspace,
  path: string,
  query: object,
  schema: s.SchemaOf<readonly Item[]>,
): AsyncGenerator<Item> {
  for await (const page of pagesOnline(server, path, query, schema)) yield* page
}
