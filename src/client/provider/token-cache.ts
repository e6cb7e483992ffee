/** Claims of a realtime token that the provider reads. It does not verify them. */
export interface TokenClaims {
  /** Id of the user. */
  readonly sub?: string
  readonly name?: string
  /** Times in epoch seconds. */
  readonly exp?: number
  readonly iat?: number
}

/** Thrown by `getToken` if the backend gives this user no token: the provider then stops. */
export class TokenDeniedError extends Error {
  override readonly name = 'TokenDeniedError'
}

/** Maximum milliseconds that a request for a token may take. */
const requestMs = 20_000
/** A token is renewed this many milliseconds before it expires, or after 2/3 of its lifetime if that is later. */
const beforeExpiryMs = 60_000
/** Longest delay of a timer: one day. Browsers and Node allow 24 days. */
const delayMaxMs = 86_400_000

/** Requests a token. The signal is aborted when the token is no longer needed. */
type TokenRequest = (signal: AbortSignal) => Promise<string>

/** Gets tokens, and keeps the last one until it is almost expired. */
export class TokenCache {
  readonly #request: TokenRequest
  #token: string | null = null
  #claims: TokenClaims = {}
  /** Time from which the token must be renewed (`Date.now()`). */
  #dueAtMs = 0
  #pending: Promise<string> | null = null
  #abort: AbortController | null = null

  constructor(request: TokenRequest) {
    this.#request = request
  }

  /** Claims of the last token. */
  get claims(): TokenClaims {
    return this.#claims
  }

  /** Milliseconds until the token must be renewed. */
  get dueInMs(): number {
    return Math.min(delayMaxMs, Math.max(0, this.#dueAtMs - Date.now()))
  }

  /** Makes the next call of `get` request a new token. */
  discard(): void {
    this.#token = null
  }

  /** Aborts a request for a token. */
  abort(): void {
    this.#abort?.abort()
  }

  /**
   * Returns a token that is valid for some time. Calls at the same time share one request.
   * @throws TokenDeniedError, or the error of the request
   */
  get(): Promise<string> {
    if (this.#token !== null && this.dueInMs > 0) return Promise.resolve(this.#token)
    this.#pending ??= this.#load().finally(() => {
      this.#pending = null
    })
    return this.#pending
  }

  async #load(): Promise<string> {
    const abort = new AbortController()
    this.#abort = abort
    const { signal } = abort
    const late = new Error(`no token within ${requestMs / 1000} s`)
    const timer = setTimeout(() => abort.abort(late), requestMs)
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      })
    })
    const token = await Promise.race([this.#request(signal), aborted]).finally(() => clearTimeout(timer))
    if (typeof token !== 'string' || !token)
      throw new Error('the token is not a string; return the token of /v2/auth/generate_token')
    this.#token = token
    this.#claims = readClaims(token)
    this.#dueAtMs = Date.now() + renewAfterMs(this.#claims)
    return token
  }
}

/** Returns a request for a token from the endpoint of an application. @param body JSON body of the POST request */
export const tokenRequest =
  (url: string | URL, body: object): TokenRequest =>
  async (signal) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      signal,
    })
    const text = await response.text()
    if (response.status === 401 || response.status === 403)
      throw new TokenDeniedError(`the token endpoint answered ${response.status}`)
    if (!response.ok) throw new Error(`the token endpoint answered ${response.status}`)
    return text.startsWith('{') ? (JSON.parse(text) as { token: string }).token : text.trim()
  }

/** Returns the claims of a token; none if it is not a JSON web token. */
function readClaims(token: string): TokenClaims {
  try {
    const payload = (token.split('.')[1] as string).replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes)) as TokenClaims
  } catch {
    return {}
  }
}

/**
 * Returns the milliseconds after which a token must be renewed. If the clock of this device is ahead, a new token
 * seems to be expired; its lifetime then counts from now.
 */
function renewAfterMs({ exp, iat }: TokenClaims): number {
  if (exp === undefined) return delayMaxMs
  const now = Date.now()
  const lifetimeMs = (exp - (iat ?? now / 1000)) * 1000
  const remainingMs = exp * 1000 - Math.max(now, (iat ?? 0) * 1000)
  if (remainingMs <= 0) return Math.max(1_000, lifetimeMs / 2)
  return Math.max(remainingMs - Math.min(beforeExpiryMs, lifetimeMs / 3), lifetimeMs / 10)
}
