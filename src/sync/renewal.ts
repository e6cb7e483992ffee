import type { Identity } from '../access/identity.ts'
import { TokenRefused } from '../access/tokens.ts'
import { type Close, close } from '../model/close.ts'
import { closeOf, type Identification } from './identification.ts'

/** Whose token it is. */
export interface Renewed {
  readonly identity: Identity
  readonly origin: string | undefined
  renew(identity: Identity): void
  end(reason: Close): void
}

/** A newer token is asked for so long before the one that is known ends, or in such a last part of its time. */
const askBeforeMs = 20_000
const askBeforeShare = 1 / 3

/** Newer tokens of a client that stays connected: only of the same user. */
export class Renewal {
  readonly #session: Renewed
  readonly #identification: Identification
  /** End of the token for which a newer one has been asked. */
  #askedFor = 0
  #isChecking = false

  constructor(session: Renewed, identification: Identification) {
    this.#session = session
    this.#identification = identification
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
    this.#identification.of(token, this.#session.origin).then(
      (identity) => this.#took(identity),
      () => this.#session.end(close('overloaded', 'the token could not be checked: try again')),
    )
  }

  #took(identity: Identity | TokenRefused): void {
    this.#isChecking = false
    const session = this.#session
    // Where nobody can be asked the token that is known stays good until its end.
    if (identity instanceof TokenRefused && identity.reason === 'provider') return
    if (identity instanceof TokenRefused) session.end(closeOf(identity))
    else if (isSame(identity, session.identity)) session.renew(identity)
    else session.end(close('unauthenticated', 'the token is of another user'))
  }
}

const isSame = (one: Identity, other: Identity): boolean =>
  one.userId === other.userId &&
  one.tenant.workspaceId === other.tenant.workspaceId &&
  one.tenant.apiKey === other.tenant.apiKey
