import { timingSafeEqualText } from '../../access/credentials/timing-safe.ts'
import type { Identity } from '../../access/identity.ts'
import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { DocumentPath } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { isCredentialFailure, isUndetermined, type SocketAuthentication } from './socket-authentication.ts'

/** The socket on which the tokens arrive. */
interface TokenSource {
  /** Address of the client. */
  readonly address: string
  /** Token from the URL; used if the client sends an empty token. Null if there is none. */
  readonly token: string | null
  /** Origin of the page; undefined if the client is not a page. */
  readonly origin: string | undefined
  /** Closes the socket with all its documents. */
  end(reason: Close): void
}

/** Maximum number of rejected tokens on one socket. */
const rejectedMax = 100

/**
 * Checks all tokens of one socket, including newer tokens of open documents, and limits the number of
 * rejected tokens.
 */
export class SocketTokens {
  readonly #authentication: SocketAuthentication
  readonly #source: TokenSource
  #rejectedCount = 0

  constructor(authentication: SocketAuthentication, source: TokenSource) {
    this.#authentication = authentication
    this.#source = source
  }

  /**
   * Checks a token as `SocketAuthentication.authenticate` does. Uses the token from the URL if `token` is
   * empty.
   */
  authenticate(token: string): Promise<Identity | TokenRejectedError> {
    const { token: urlToken, origin } = this.#source
    return this.#authentication.authenticate(token === '' ? urlToken : token, origin)
  }

  /**
   * Counts and logs a rejected token. Ends the socket if the token exceeds the limit for rejected tokens or
   * the rate of new connections. Returns the close reason for the document.
   */
  reject(rejected: TokenRejectedError, path: DocumentPath): Close {
    if (isCredentialFailure(rejected)) this.#countRejected()
    return this.#authentication.reject(rejected, this.#source.address, path)
  }

  /** Counts a newer token as a new connection. Returns the close reason if there are too many; otherwise null. */
  countNewer(): Close | null {
    return this.#authentication.takeConnect(this.#source.address)
  }

  /**
   * Counts a rejected token as a new connection, because each token needs a new connection in the other
   * protocols. The first rejected token is not counted, because the connection of the socket was already
   * counted.
   */
  #countRejected(): void {
    this.#rejectedCount += 1
    if (this.#rejectedCount === 1) return
    const problem =
      this.#rejectedCount > rejectedMax
        ? this.#authentication.reported(tooManyRejected, this.#source.address)
        : this.countNewer()
    if (problem !== null) this.#source.end(problem)
  }
}

/**
 * Close reason for a socket with too many rejected tokens. The close is transient: the client reconnects, and
 * the new connection is counted.
 */
const tooManyRejected = close(
  'tryAgainLater',
  `too many rejected tokens (limit ${rejectedMax})`,
  'rejectedTokens',
)

interface RefreshedToken {
  readonly identity: Identity
  readonly address: DocumentPath
  renew(identity: Identity): void
  end(reason: Close): void
}

/**
 * Milliseconds before the expiry of a token at which the server requests a newer token. For a token with a
 * short lifetime, `requestBeforeShare` of its lifetime is used instead.
 */
const requestBeforeMs = 20_000
const requestBeforeShare = 1 / 3

/** Requests and accepts newer tokens of a connected client. A newer token must belong to the same user. */
export class TokenRefresh {
  readonly #session: RefreshedToken
  readonly #tokens: SocketTokens
  /** Expiry time of the last token for which a newer token was requested. */
  #requestedFor = 0
  #isChecking = false
  /** The last token that the client has sent; null if it has sent none. */
  #last: string | null = null

  constructor(session: RefreshedToken, tokens: SocketTokens) {
    this.#session = session
    this.#tokens = tokens
  }

  /** Returns whether the server must request a newer token now. Returns true only once for each token. */
  isDue(now: number): boolean {
    const { issuedAt, expiresAt } = this.#session.identity
    if (expiresAt === Number.POSITIVE_INFINITY || this.#requestedFor === expiresAt) return false
    if (now < expiresAt - Math.min(requestBeforeMs, (expiresAt - issuedAt) * requestBeforeShare)) return false
    this.#requestedFor = expiresAt
    return true
  }

  /**
   * Checks a newer token and applies it to the session. Ignores further tokens until the check has ended, and a
   * repeated accepted token. Other tokens count as new connections, because each of them costs as much.
   */
  receive(token: string): void {
    const isRepeated = this.#last !== null && timingSafeEqualText(token, this.#last)
    if (this.#isChecking || isRepeated) return
    const tooMany = this.#tokens.countNewer()
    if (tooMany !== null) return this.#session.end(tooMany)
    this.#isChecking = true
    this.#last = token
    this.#tokens.authenticate(token).then(
      (identity) => this.#checked(identity),
      () => this.#session.end(close('tryAgainLater', 'the token could not be checked: try again')),
    )
  }

  #checked(identity: Identity | TokenRejectedError): void {
    this.#isChecking = false
    const session = this.#session
    if (identity instanceof TokenRejectedError) this.#reject(identity)
    else if (isSame(identity, session.identity)) session.renew(identity)
    else session.end(close('unauthenticated', 'the new token belongs to another user'))
  }

  #reject(rejected: TokenRejectedError): void {
    this.#last = null
    const closing = this.#tokens.reject(rejected, this.#session.address)
    // If the server could not check the new token, the current token stays valid.
    if (!isUndetermined(rejected)) this.#session.end(closing)
  }
}

const isSame = (one: Identity, other: Identity): boolean =>
  one.userId === other.userId &&
  one.tenant.workspaceId === other.tenant.workspaceId &&
  one.tenant.apiKey === other.tenant.apiKey &&
  one.agent?.model === other.agent?.model &&
  one.agent?.onBehalfOf === other.agent?.onBehalfOf
