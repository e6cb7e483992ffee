import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { errorMessage, OperatorError } from '../errors.ts'
import { readJson } from '../json.ts'
import type { DocumentPath } from '../model/address.ts'

export interface WeftAccess {
  /** URL with the scheme `http:`, `https:`, `ws:` or `wss:`. */
  readonly url: URL
  readonly apiKey: string
  readonly authToken: string
  /** Maximum size of a message to the server in bytes. */
  readonly messageBytesMax: number
}

/**
 * Error: Weft rejects the credentials, so repeating the request does not help. The message is written for the
 * operator.
 */
export class MirrorRejectedError extends OperatorError {
  override readonly name = 'MirrorRejectedError'
}

interface Token {
  readonly text: string
  /** Time at which the token expires, in epoch milliseconds. */
  readonly expiresAt: number
}

const lifetimeSeconds = 172_800
/** Minimum remaining lifetime in ms that a token must have when a new connection uses it. */
const renewBeforeMs = 600_000
const patienceMs = 10_000

const user = {
  userId: 'weft-import',
  userProperties: { name: 'Import', email: '', isAdmin: true },
  expiresInSeconds: lifetimeSeconds,
}

/**
 * Provides websocket URLs of the Weft server with a token. The token is created with the API key, and is
 * replaced before it expires.
 */
export class MirrorClient {
  readonly #access: WeftAccess
  readonly #clock: Clock
  #made: Promise<Token> | null = null

  constructor(access: WeftAccess, clock: Clock) {
    this.#access = access
    this.#clock = clock
  }

  get messageBytesMax(): number {
    return this.#access.messageBytesMax
  }

  /**
   * Returns the websocket URL of a document, including the token. Rejects with `MirrorRejectedError` if Weft
   * rejects the credentials, or with another error, for example if Weft is not reachable.
   */
  async syncUrl({ organizationId, documentId, editorId }: DocumentPath): Promise<URL> {
    const path = ['sync', organizationId, documentId, editorId].map(encodeURIComponent).join('/')
    const url = this.#urlOf('ws', path)
    url.searchParams.set('token', await this.#currentToken())
    // With this parameter, the server asks the client to reconnect with a new token when the token expires.
    url.searchParams.set('renew', '1')
    return url
  }

  /**
   * Creates a token early, in order to check the credentials. Rejects only with `MirrorRejectedError`. All
   * other errors are ignored.
   */
  async tryCredentials(): Promise<void> {
    await this.#currentToken().catch((error: unknown) => {
      if (error instanceof MirrorRejectedError) throw error
    })
  }

  /** Discards the token. The next connection then creates a new token. */
  forgetToken(): void {
    this.#made = null
  }

  async #currentToken(): Promise<string> {
    this.#made ??= this.#makeToken()
    const asked = this.#made
    const token = await asked.catch((error: unknown) => {
      if (this.#made === asked) this.#made = null
      throw error
    })
    if (token.expiresAt - this.#clock.now() > renewBeforeMs) return token.text
    if (this.#made === asked) this.#made = null
    return this.#currentToken()
  }

  async #makeToken(): Promise<Token> {
    const { apiKey, authToken } = this.#access
    const madeAt = this.#clock.now()
    const response = await fetch(this.#urlOf('http', 'v2/auth/generate_token'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      },
      body: JSON.stringify({ data: user }),
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
    }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      throw new Error(`Weft cannot be reached: ${errorMessage(cause)}`)
    })
    const text = await response.text()
    if (response.status === 401 || response.status === 403)
      throw new MirrorRejectedError(`Weft at ${this.#access.url.host} rejects the API key or its auth token`)
    if (!response.ok) throw new Error(`Weft did not create a token: HTTP ${response.status}`)
    // The expiration time is computed with the local clock, so a different clock of the server has no effect.
    return { text: readToken(text), expiresAt: madeAt + lifetimeSeconds * 1000 }
  }

  #urlOf(scheme: 'http' | 'ws', path: string): URL {
    const url = new URL(this.#access.url)
    const isSecure = url.protocol === 'https:' || url.protocol === 'wss:'
    const base = url.pathname.replace(/\/$/, '')
    return new URL(`${scheme}${isSecure ? 's' : ''}://${url.host}${base}/${path}`)
  }
}

const answerSchema = v.looseObject({
  result: v.looseObject({ data: v.looseObject({ token: v.string() }) }),
})

/**
 * Reads the token in a response. Throws if the response has no token, because the server that answers may not
 * be Weft.
 */
function readToken(text: string): string {
  try {
    return readJson(answerSchema, text).result.data.token
  } catch (cause) {
    throw new Error('the server at this URL is not Weft: its response has no token', { cause })
  }
}
