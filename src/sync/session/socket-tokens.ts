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

/** Where the tokens come from. */
export interface TokenSource {
  /** Of the client. */
  readonly address: string
  /** Of the URL: stands for one that is empty. */
  readonly token: string | null
  /** Of the page that asks; undefined when it is none. */
  readonly origin: string | undefined
  /** Of the URL, if any. */
  readonly misspelled: Misspelling | null
  /** Ends the socket, with all its documents. */
  end(reason: Close): void
}

/** Refused tokens after which a socket ends. */
const rejectedMax = 100

/** Checks all tokens that come on one socket, first and newer ones, and bounds how many may be tried. */
export class SocketTokens {
  readonly #dependencies: SocketTokenDependencies
  readonly #source: TokenSource
  #rejectedCount = 0

  constructor(dependencies: SocketTokenDependencies, source: TokenSource) {
    this.#dependencies = dependencies
    this.#source = source
  }

  /** Rejects as `Identification.of` does. */
  authenticate(token: string): Promise<Identity | TokenRejectedError> {
    const { token: urlToken, origin } = this.#source
    return this.#dependencies.authentication.authenticate(token === '' ? urlToken : token, origin)
  }

  /** Counts a refusal; one too many ends the socket. Returns what the client is told of its document. */
  reject(rejected: TokenRejectedError, path: DocumentPath): Close {
    if (isCredentialFailure(rejected)) this.#countRejected()
    const { address, misspelled } = this.#source
    return this.#dependencies.authentication.reject(rejected, address, path, misspelled)
  }

  /** Elsewhere each token takes a connection: those after the first, for which this one was, count as one, too. */
  #countRejected(): void {
    const { admission, reports } = this.#dependencies
    const { address } = this.#source
    this.#rejectedCount += 1
    if (this.#rejectedCount === 1) return
    const problem = this.#rejectedCount > rejectedMax ? tooManyRejected : admission.rateProblem(address)
    if (problem === null) return
    if (problem.limit !== null) reports.exceeded(problem.limit, address)
    this.#source.end(problem)
  }
}

/** For the moment: clients come back, and are counted as new ones. */
const tooManyRejected = close(
  'tryAgainLater',
  `too many rejected tokens (limit ${rejectedMax})`,
  'rejectedTokens',
)
