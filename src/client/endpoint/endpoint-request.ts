import type { EndpointErrorCode } from '../rest/endpoint-rejection.ts'
import type { EndpointDocument } from '../rest/endpoint-user.ts'

/**
 * Code of a `EndpointError`. `endpoint/unreachable`: the endpoint does not answer. `endpoint/invalid-response`: the
 * response is not that of an endpoint of `createEndpoint`. Others are those of the endpoint and of REST.
 */
export type EndpointFailureCode =
  | EndpointErrorCode
  | 'endpoint/unreachable'
  | 'endpoint/invalid-response'
  // All other codes, but editors suggest those above.
  | (string & {})

/** A request to the endpoint has failed. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError'
  readonly code: EndpointFailureCode
  /** True if the same request can succeed later. */
  readonly isTemporary: boolean

  constructor(code: EndpointFailureCode, message: string, isTemporary: boolean) {
    super(message)
    this.code = code
    this.isTemporary = isTemporary
  }
}

/** Maximum milliseconds of a request. The endpoint has 20 s for each of its calls. */
const requestMs = 30_000

/** Result of the endpoint. */
export interface EndpointResult<Data> {
  readonly data: Data
  readonly pageToken?: string
}

/** Sends a request to the endpoint. @throws EndpointError, or the reason of the signal */
export type EndpointRequest = <Data>(
  path: string,
  members: object,
  signal?: AbortSignal,
) => Promise<EndpointResult<Data>>

/** Returns the URL of a path of the endpoint. It has the query of the endpoint. */
export const endpointUrl = (endpoint: string, path: string): string =>
  endpoint.replace(/\/?(?=\?|$)/, `/${path}`)

/** Returns a function that sends requests about one document. */
export const requestsTo =
  (endpoint: string, address: EndpointDocument): EndpointRequest =>
  async (path, members, signal) => {
    const abort = new AbortController()
    const stop = (): void => abort.abort()
    const timer = setTimeout(stop, requestMs)
    signal?.addEventListener('abort', stop)
    try {
      const response = await fetch(endpointUrl(endpoint, path), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...address, ...members }),
        cache: 'no-store',
        signal: abort.signal,
      })
      return resultOf(response, await response.text())
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof EndpointError) throw error
      throw new EndpointError('endpoint/unreachable', 'the endpoint does not answer', true)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
  }

/** @throws EndpointError if the response is not successful */
function resultOf<Data>({ status, headers }: Response, text: string): EndpointResult<Data> {
  const isTemporary = status >= 500 || status === 429 || status === 408 || headers.has('retry-after')
  let body: {
    readonly result?: EndpointResult<Data>
    readonly error?: { readonly message: string; readonly details?: { readonly code?: string } }
  } | null = null
  try {
    body = JSON.parse(text)
  } catch {
    // A page of a proxy, or of the sign-in of the application.
  }
  if (body?.result) return body.result
  const code = body?.error?.details?.code
  if (code) throw new EndpointError(code, String(body?.error?.message), isTemporary)
  throw new EndpointError(
    status === 401 || status === 403 ? 'endpoint/denied' : 'endpoint/invalid-response',
    `the endpoint answered ${status}`,
    isTemporary,
  )
}
