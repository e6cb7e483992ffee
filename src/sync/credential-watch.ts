import type { Identity } from '../access/identity.ts'
import type { RealtimeAccess } from '../access/realtime.ts'
import type { TokenRefused } from '../access/tokens.ts'
import type { Log } from '../log.ts'
import { type Close, close } from '../model/close.ts'
import type { Session } from './session.ts'

/** Ends open sessions whose token is revoked, or whose page may no longer use the API key. */
export class CredentialWatch {
  readonly #access: RealtimeAccess
  readonly #logger: Log
  /** Sessions, and the origin of the page that each is of; undefined: of none. */
  readonly #origins = new Map<Session, string | undefined>()
  readonly #unsubscribe: () => void

  constructor(access: RealtimeAccess, logger: Log) {
    this.#access = access
    this.#logger = logger
    this.#unsubscribe = access.onWithdrawal((concerns) => this.#reviewAll(concerns))
  }

  /** Looked at right away: between the check of its token and now nobody would have told this session. */
  add(session: Session, origin: string | undefined): void {
    this.#origins.set(session, origin)
    this.#review(session, origin)
  }

  delete(session: Session): void {
    this.#origins.delete(session)
  }

  end(): void {
    this.#unsubscribe()
  }

  #reviewAll(concerns: (identity: Identity) => boolean): void {
    for (const [session, origin] of this.#origins)
      if (concerns(session.identity)) this.#review(session, origin)
  }

  /** Ends a session that would not be let in again. */
  #review(session: Session, origin: string | undefined): void {
    this.#access.refusalOf(session.identity, origin).then(
      (refusal) => refusal !== null && session.end(closeOf(refusal)),
      (err: unknown) => {
        this.#logger.warn({ err }, 'a session could not be reviewed')
        session.end(close('overloaded', 'the token could not be checked: try again'))
      },
    )
  }
}

/** Only what is wrong with the token itself is for good. */
export const closeOf = ({ reason, message }: TokenRefused): Close =>
  close(reason === 'provider' ? 'overloaded' : 'unauthenticated', message)
