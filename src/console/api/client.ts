import type { Sample } from '../../core/metrics/scrape.ts'
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

/** A response of the REST API. `pageToken` is present if there is a next page. */
export interface ApiResponse<Data> {
  readonly data: Data
  readonly pageToken?: string
}

interface Envelope<Data> {
  readonly result?: ApiResponse<Data>
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

  /**
   * Calls an operation, and returns the data of the response.
   * @param path path of the operation, such as `/v2/crdt/get`
   * @throws ApiCallError
   */
  async call<Data>(path: string, data: object = {}): Promise<Data> {
    return (await this.page<Data>(path, data)).data
  }

  /**
   * Calls an operation. Returns the data of the response, and the token of the next page.
   * @throws ApiCallError
   */
  async page<Data>(path: string, data: object = {}): Promise<ApiResponse<Data>> {
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
    return { 'content-type': 'application/json', ...Object.fromEntries(given) }
  }
}
