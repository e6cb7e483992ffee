import type { Identity } from '../../access/identity.ts'
import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { DocumentPath } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { isUndetermined } from '../connect/socket-authentication.ts'
import type { SocketTokens } from './socket-tokens.ts'

/** Whose token it is. */
export interface RefreshedToken {
  readonly identity: Identity
  readonly address: DocumentPath
  renew(identity: Identity): void
  end(reason: Close): void
}

/** A newer token is asked for so long before the one that is known ends, or in such a last part of its time. */
const requestBeforeMs = 20_000
const requestBeforeShare = 1 / 3

/** Newer tokens of a client that stays connected: only of the same user. */
export class TokenRefresh {
  readonly #session: RefreshedToken
  readonly #tokens: SocketTokens
  /** End of the token for which a newer one has been asked. */
  #requestedFor = 0
  #isChecking = false

  constructor(session: RefreshedToken, tokens: SocketTokens) {
    this.#session = session
    this.#tokens = tokens
  }

  /** Is it time to ask for a newer token? Once for each. */
  isDue(now: number): boolean {
    const { issuedAt, expiresAt } = this.#session.identity
    if (expiresAt === Number.POSITIVE_INFINITY || this.#requestedFor === expiresAt) return false
    if (now < expiresAt - Math.min(requestBeforeMs, (expiresAt - issuedAt) * requestBeforeShare)) return false
    this.#requestedFor = expiresAt
    return true
  }

  /** One at a time: what comes meanwhile is not looked at. */
  receive(token: string): void {
    if (this.#isChecking) return
    this.#isChecking = true
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
    const closing = this.#tokens.reject(rejected, this.#session.address)
    // Where nobody can be asked the token that is known stays good until its end.
    if (!isUndetermined(rejected)) this.#session.end(closing)
  }
}

const isSame = (one: Identity, other: Identity): boolean =>
  one.userId === other.userId &&
  one.tenant.workspaceId === other.tenant.workspaceId &&
  one.tenant.apiKey === other.tenant.apiKey
