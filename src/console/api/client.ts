import type { Sample } from '../../core/metrics/scrape.ts'
import { consoleHeader } from '../../core/model/console-header.ts'
import type { ConsoleCredentials } from './credentials.ts'

/** An error response of the server. */
export class ApiCallError extends Error {
  override readonly name = 'CallError'
  /** Error status, such as `NOT_FOUND`; `OFFLINE` if the server did not respond. */
  readonly status: string
  readonly details: unknown

  constructor(status: string, message: string, details: unknown = null) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** Returns the error of a call. Any other error is a fault of this page, and gets the status `UNKNOWN`. */
export function toApiCallError(error: unknown): ApiCallError {
  if (error instanceof ApiCallError) return error
  return new ApiCallError('UNKNOWN', error instanceof Error ? error.message : String(error))
}

/** A page of a listing. */
export interface ApiPage<Data> {
  readonly data: Data
  /** Members of the request for the next page; null if this is the last page. */
  readonly next: object | null
}

interface ApiResult<Data> {
  readonly data: Data
  /** Present if there is a next page. */
  readonly pageToken?: string
}

/** Member of the data of a listing that has iterators instead of page tokens. */
interface IteratorPlace {
  /** Absent or null if there is no next page. */
  readonly iterator?: string | null
}

function nextOf({ data, pageToken }: ApiResult<IteratorPlace | null>): object | null {
  if (pageToken !== undefined) return { pageToken }
  return typeof data?.iterator === 'string' ? { iterator: data.iterator } : null
}

/** Response to a call for several items. It contains one result for each item, by the id of the item. */
type BatchResponse = Readonly<Record<string, { readonly success: boolean; readonly message: string }>>

/** Returns one sentence for each failed item. */
export const rejectedItems = (results: BatchResponse): readonly string[] =>
  Object.entries(results)
    .filter(([, { success }]) => !success)
    .map(([id, { message }]) => `${id}: ${message}.`)

interface Envelope<Data> {
  readonly result?: ApiResult<Data>
  readonly error?: { readonly status: string; readonly message: string; readonly details?: unknown }
}

interface Init {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Client for the public REST API of the server that serves this page. The console uses no other API. */
export class ApiClient {
  readonly credentials: ConsoleCredentials

  constructor(credentials: ConsoleCredentials) {
    this.credentials = credentials
  }

  /** False if the session has only the credentials of the workspace, and so no API key. */
  get hasApiKey(): boolean {
    const { apiKey, workspaceId } = this.credentials
    return apiKey !== undefined || workspaceId === undefined
  }

  /**
   * Calls an operation, and returns the data of the response.
   * @param path path of the operation, such as `/v2/crdt/get`
   * @throws ApiCallError
   */
  async call<Data>(path: string, data: object = {}): Promise<Data> {
    return (await this.#result<Data>(path, data)).data
  }

  /**
   * Calls an operation for several items. The response of such a call is successful even if items have failed.
   * In this case, this method throws.
   * @throws ApiCallError
   */
  async callBatch(path: string, data: object): Promise<void> {
    const failed = rejectedItems(await this.call<BatchResponse>(path, data))
    if (failed.length > 0) throw new ApiCallError('FAILED_PRECONDITION', failed.join(' '))
  }

  /** Returns one page of a listing. @throws ApiCallError */
  async page<Data>(path: string, data: object = {}): Promise<ApiPage<Data>> {
    const result = await this.#result<Data>(path, data)
    return { data: result.data, next: nextOf(result as ApiResult<IteratorPlace | null>) }
  }

  /** Yields the data of each page of a listing. @throws ApiCallError */
  async *pages<Data>(path: string, data: object = {}): AsyncGenerator<Data, void> {
    for (let place: object | null = {}; place !== null; ) {
      const page: ApiPage<Data> = await this.page(path, { ...data, ...place })
      yield page.data
      place = page.next
    }
  }

  async #result<Data>(path: string, data: object): Promise<ApiResult<Data>> {
    const response = await this.#fetch(path, { method: 'POST', body: JSON.stringify({ data }) })
    const { result, error }: Envelope<Data> = await response.json().catch(() => ({}))
    if (error !== undefined) throw new ApiCallError(error.status, error.message, error.details)
    if (!response.ok || result === undefined)
      throw new ApiCallError('INTERNAL', `the server has answered ${response.status}`)
    return result
  }

  /** Reads `/metrics`. @throws ApiCallError */
  async metrics(): Promise<readonly Sample[]> {
    const { metricsToken } = this.credentials
    const headers = {
      accept: 'application/json',
      ...(metricsToken !== undefined && { authorization: `Bearer ${metricsToken}` }),
    }
    const response = await this.#fetch('/metrics', { headers })
    if (response.ok) return response.json()
    throw new ApiCallError(
      response.status === 401 ? 'UNAUTHENTICATED' : 'INTERNAL',
      'the metrics are not available',
    )
  }

  async #fetch(path: string, init: Init): Promise<Response> {
    const headers = { ...this.#headers(), ...init.headers }
    try {
      return await fetch(path, { ...init, headers, credentials: 'omit' })
    } catch {
      throw new ApiCallError('OFFLINE', 'the server cannot be reached')
    }
  }

  #headers(): Record<string, string> {
    const { apiKey, authToken, workspaceId, workspaceAuthToken } = this.credentials
    const shown = {
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
      'x-service-workspace-id': workspaceId,
      'x-service-workspace-auth-token': workspaceAuthToken,
    }
    const given = Object.entries(shown).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    return { 'content-type': 'application/json', [consoleHeader]: '1', ...Object.fromEntries(given) }
  }
}
