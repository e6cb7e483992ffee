import type { Identity } from '../access/identity.ts'
import type { TokenRefused } from '../access/tokens.ts'
import { type Close, close } from '../model/close.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { Admission } from './admission.ts'
import { type Identification, isAttempt } from './identification.ts'

export interface SocketTokensParts {
  readonly identification: Identification
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
  /** Ends the socket, with all its documents. */
  end(reason: Close): void
}

/** Refused tokens after which a socket ends. */
const refusedMax = 100

/** Checks all tokens that come on one socket, first and newer ones, and bounds how many may be tried. */
export class SocketTokens {
  readonly #parts: SocketTokensParts
  readonly #source: TokenSource
  #refused = 0

  constructor(parts: SocketTokensParts, source: TokenSource) {
    this.#parts = parts
    this.#source = source
  }

  /** Rejects as `Identification.of` does. */
  of(token: string): Promise<Identity | TokenRefused> {
    const { token: ofUrl, origin } = this.#source
    return this.#parts.identification.of(token === '' ? ofUrl : token, origin)
  }

  /** Counts a refusal; one too many ends the socket. Returns what the client is told of its document. */
  refused(refused: TokenRefused): Close {
    if (isAttempt(refused)) this.#count()
    return this.#parts.identification.refused(refused, this.#source.address)
  }

  /** Elsewhere each token takes a connection: those after the first, for which this one was, count as one, too. */
  #count(): void {
    const { admission, reports } = this.#parts
    const { address } = this.#source
    this.#refused += 1
    if (this.#refused === 1) return
    const problem = this.#refused > refusedMax ? tooMany : admission.rateProblem(address)
    if (problem === null) return
    if (problem.limit !== null) reports.acted(problem.limit, address)
    this.#source.end(problem)
  }
}

/** For the moment: clients come back, and are counted as new ones. */
const tooMany = close(
  'overloaded',
  `too many tokens were refused: refusedTokens is ${refusedMax}`,
  'refusedTokens',
)
