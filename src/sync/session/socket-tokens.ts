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

/** The socket that tokens arrive on. */
export interface TokenSource {
  /** Address of the client. */
  readonly address: string
  /** Token of the URL. It replaces an empty token. */
  readonly token: string | null
  /** Origin of the page; undefined if the client is not a page. */
  readonly origin: string | undefined
  /** Misspelled parameter of the URL, if any. */
  readonly misspelled: Misspelling | null
  /** Ends the socket, with all its documents. */
  end(reason: Close): void
}

/** Maximum number of rejected tokens of a socket. */
const rejectedMax = 100

/** Checks all tokens of one socket, first and newer ones, and limits how many may be rejected. */
export class SocketTokens {
  readonly #dependencies: SocketTokenDependencies
  readonly #source: TokenSource
  #rejectedCount = 0

  constructor(dependencies: SocketTokenDependencies, source: TokenSource) {
    this.#dependencies = dependencies
    this.#source = source
  }

  /** Checks a token, as `SocketAuthentication.authenticate`. */
  authenticate(token: string): Promise<Identity | TokenRejectedError> {
    const { token: urlToken, origin } = this.#source
    return this.#dependencies.authentication.authenticate(token === '' ? urlToken : token, origin)
  }

  /** Counts a rejected token. Ends the socket above the limit. Returns the close for the document. */
  reject(rejected: TokenRejectedError, path: DocumentPath): Close {
    if (isCredentialFailure(rejected)) this.#countRejected()
    const { address, misspelled } = this.#source
    return this.#dependencies.authentication.reject(rejected, address, path, misspelled)
  }

  /**
   * Counts a rejected token as a new connection, because each token needs a connection in the other protocols. The
   * connection itself was counted for the first one.
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

/** Transient: clients reconnect, and count as new connections. */
const tooManyRejected = close(
  'tryAgainLater',
  `too many rejected tokens (limit ${rejectedMax})`,
  'rejectedTokens',
)
