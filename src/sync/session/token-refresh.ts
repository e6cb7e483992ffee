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
const askBeforeMs = 20_000
const askBeforeShare = 1 / 3

/** Newer tokens of a client that stays connected: only of the same user. */
export class TokenRefresh {
  readonly #session: RefreshedToken
  readonly #tokens: SocketTokens
  /** End of the token for which a newer one has been asked. */
  #askedFor = 0
  #isChecking = false

  constructor(session: RefreshedToken, tokens: SocketTokens) {
    this.#session = session
    this.#tokens = tokens
  }

  /** Is it time to ask for a newer token? Once for each. */
  isDue(now: number): boolean {
    const { issuedAt, expiresAt } = this.#session.identity
    if (expiresAt === Number.POSITIVE_INFINITY || this.#askedFor === expiresAt) return false
    if (now < expiresAt - Math.min(askBeforeMs, (expiresAt - issuedAt) * askBeforeShare)) return false
    this.#askedFor = expiresAt
    return true
  }

  /** One at a time: what comes meanwhile is not looked at. */
  take(token: string): void {
    if (this.#isChecking) return
    this.#isChecking = true
    this.#tokens.of(token).then(
      (identity) => this.#took(identity),
      () => this.#session.end(close('tryAgainLater', 'the token could not be checked: try again')),
    )
  }

  #took(identity: Identity | TokenRejectedError): void {
    this.#isChecking = false
    const session = this.#session
    if (identity instanceof TokenRejectedError) this.#refuse(identity)
    else if (isSame(identity, session.identity)) session.renew(identity)
    else session.end(close('unauthenticated', 'the new token belongs to another user'))
  }

  #refuse(refused: TokenRejectedError): void {
    const closing = this.#tokens.refused(refused, this.#session.address)
    // Where nobody can be asked the token that is known stays good until its end.
    if (!isUndetermined(refused)) this.#session.end(closing)
  }
}

const isSame = (one: Identity, other: Identity): boolean =>
  one.userId === other.userId &&
  one.tenant.workspaceId === other.tenant.workspaceId &&
  one.tenant.apiKey === other.tenant.apiKey
