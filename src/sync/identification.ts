import type { Identity } from '../access/identity.ts'
import type { RealtimeAccess } from '../access/realtime.ts'
import { TokenRefused } from '../access/tokens.ts'
import type { Clock } from '../clock.ts'
import { StoreUnavailable } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { type Close, close } from '../model/close.ts'
import type { LimitReports } from '../quota/reports.ts'
import { Troubles } from './troubles.ts'

export interface IdentificationParts {
  readonly access: RealtimeAccess
  readonly metrics: Metrics
  readonly reports: LimitReports
  readonly clock: Clock
  readonly logger: Log
  /** How long checking a token may take. */
  readonly authMs: number
  /** Told of a token that was refused, and where it came from. Must not throw. */
  readonly onRefused: (clientAddress: string) => void
}

/** Finds out who a client is, by its token. */
export class Identification {
  readonly #parts: IdentificationParts
  readonly #troubles: Troubles

  constructor(parts: IdentificationParts) {
    this.#parts = parts
    this.#troubles = new Troubles(parts)
  }

  /**
   * Not `Promise.race`: this is done for everybody who comes. Where the store is away nobody is known; with what it
   * throws else, which is no matter of the client's, it rejects.
   */
  of(token: string | null, origin: string | undefined): Promise<Identity | TokenRefused> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(new TokenRefused('timeout')), this.#parts.authMs)
      this.#parts.access.identityOf(token, origin).then(
        (identity) => {
          clearTimeout(timer)
          resolve(identity)
        },
        (error: unknown) => {
          clearTimeout(timer)
          if (error instanceof TokenRefused) resolve(error)
          else if (error instanceof StoreUnavailable) resolve(this.#storeAway(error))
          else reject(error)
        },
      )
    })
  }

  #storeAway(error: StoreUnavailable): TokenRefused {
    this.#troubles.tell(error, 'a token could not be checked')
    return new TokenRefused('store', { cause: error })
  }

  /** Counts a refusal. Returns what the client is told. */
  refused(refused: TokenRefused, clientAddress: string): Close {
    const { metrics, reports, onRefused } = this.#parts
    metrics.authFailures.inc({ reason: refused.reason })
    if (refused.reason === 'timeout') reports.acted('authTimeoutSeconds', clientAddress)
    if (isAttempt(refused)) onRefused(clientAddress)
    return closeOf(refused)
  }
}

/** Is it more than what happens to anybody whose time is over, or who meets a server in trouble? */
export const isAttempt = (refused: TokenRefused): boolean =>
  refused.reason !== 'expired' && !isUndecided(refused)

/** Is the token neither good nor bad, as far as anybody knows? */
export const isUndecided = ({ reason }: TokenRefused): boolean =>
  reason === 'provider' || reason === 'timeout' || reason === 'store'

/** Only what is wrong with the token itself is for good: stock clients do not come back from that. */
export const closeOf = (refused: TokenRefused): Close =>
  close(isUndecided(refused) ? 'overloaded' : 'unauthenticated', refused.message)
