import type { Identity } from '../../access/identity.ts'
import type { RealtimeAccess } from '../../access/realtime-access.ts'
import { close } from '../../model/close.ts'
import type { ServerFaults } from '../admission/rejection-log.ts'
import type { Session } from './session.ts'
import { closeForToken } from './socket-authentication.ts'

/** Ends open sessions whose token is revoked, or whose page may no longer use the API key. */
export class CredentialWatch {
  readonly #access: RealtimeAccess
  readonly #faults: ServerFaults
  /** The sessions, each with the origin of its page; undefined if the client is not a page. */
  readonly #origins = new Map<Session, string | undefined>()
  readonly #unsubscribe: () => void
  #withdrawals = 0

  constructor(access: RealtimeAccess, faults: ServerFaults) {
    this.#access = access
    this.#faults = faults
    this.#unsubscribe = access.onWithdrawal((concerns) => this.#reviewAll(concerns))
  }

  /** Number of withdrawals of credentials so far. Read it before you check the token of a joining client. */
  get withdrawals(): number {
    return this.#withdrawals
  }

  /**
   * Starts to watch a session. If credentials were withdrawn since `withdrawals`, checks its credentials
   * again now.
   * @param withdrawals value of the getter `withdrawals` before the token of the session was checked
   */
  add(session: Session, origin: string | undefined, withdrawals: number): void {
    this.#origins.set(session, origin)
    if (withdrawals !== this.#withdrawals) this.#review(session, origin)
  }

  delete(session: Session): void {
    this.#origins.delete(session)
  }

  end(): void {
    this.#unsubscribe()
  }

  #reviewAll(concerns: (identity: Identity) => boolean): void {
    this.#withdrawals += 1
    for (const [session, origin] of this.#origins)
      if (concerns(session.identity)) this.#review(session, origin)
  }

  /** Checks the credentials of a session again, and ends the session if they would be rejected now. */
  #review(session: Session, origin: string | undefined): void {
    this.#access.refusalOf(session.identity, origin).then(
      (refusal) => refusal !== null && session.end(closeForToken(refusal)),
      (error: unknown) => {
        this.#faults.log(error, 'the credentials of a session could not be checked again')
        session.end(close('tryAgainLater', 'the token could not be checked: try again'))
      },
    )
  }
}
