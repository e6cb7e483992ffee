import type { Identity } from '../../access/identity.ts'
import type { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { DocumentPath } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { Admission } from '../connect/admission.ts'
import { isCredentialFailure, type SocketAuthentication } from '../connect/socket-authentication.ts'
import type { Misspelling } from '../connect/sync-request.ts'

export interface SocketTokenDependencies {
  readonly authentication: SocketAuthentication
  readonly admission: Admission
  readonly reports: LimitReports
}

/** The socket from which the tokens arrive. */
export interface TokenSource {
  /** Address of the client. */
  readonly address: string
  /** Token from the URL. It is used if the client sends an empty token. */
  readonly token: string | null
  /** Origin of the page; undefined if the client is not a page. */
  readonly origin: string | undefined
  /** Misspelled parameter of the URL; null if there is none. */
  readonly misspelled: Misspelling | null
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
  readonly #dependencies: SocketTokenDependencies
  readonly #source: TokenSource
  #rejectedCount = 0

  constructor(dependencies: SocketTokenDependencies, source: TokenSource) {
    this.#dependencies = dependencies
    this.#source = source
  }

  /** Checks a token, like `SocketAuthentication.authenticate`. */
  authenticate(token: string): Promise<Identity | TokenRejectedError> {
    const { token: urlToken, origin } = this.#source
    return this.#dependencies.authentication.authenticate(token === '' ? urlToken : token, origin)
  }

  /**
   * Counts a rejected token, and ends the socket if the limit is exceeded. Returns the close reason for the
   * document.
   */
  reject(rejected: TokenRejectedError, path: DocumentPath): Close {
    if (isCredentialFailure(rejected)) this.#countRejected()
    const { address, misspelled } = this.#source
    return this.#dependencies.authentication.reject(rejected, address, path, misspelled)
  }

  /**
   * Counts a rejected token as a new connection, because each token needs a new connection in the other
   * protocols. The first rejected token is not counted, because the connection itself was.
   */
  #countRejected(): void {
    const { admission, reports } = this.#dependencies
    const { address } = this.#source
    this.#rejectedCount += 1
    if (this.#rejectedCount === 1) return
    const problem = this.#rejectedCount > rejectedMax ? tooManyRejected : admission.takeConnect(address)
    if (problem === null) return
    if (problem.limit !== null) reports.exceeded(problem.limit, address)
    this.#source.end(problem)
  }
}

/**
 * Close reason for too many rejected tokens. It is transient: the clients reconnect, and then count as new
 * connections.
 */
const tooManyRejected = close(
  'tryAgainLater',
  `too many rejected tokens (limit ${rejectedMax})`,
  'rejectedTokens',
)
