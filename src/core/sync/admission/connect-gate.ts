import type { IncomingHttpHeaders } from 'node:http'
import { loopbackViolation } from '../../access/loopback-guard.ts'
import { type Close, close } from '../../model/close.ts'
import type { Admission } from './admission.ts'
import type { SyncRequest } from './sync-request.ts'

/** The checks of a new client before its token is read. Websockets and sessions over HTTP share them. */
export class ConnectGate {
  readonly #admission: Admission
  readonly #loopbackOnly: boolean
  #draining: Close | null = null

  /** @param loopbackOnly true if only loopback hosts and origins may connect */
  constructor(admission: Admission, loopbackOnly: boolean) {
    this.#admission = admission
    this.#loopbackOnly = loopbackOnly
  }

  /** Rejects new clients with this reason from now on. */
  drain(reason: Close): void {
    this.#draining = reason
  }

  /** Counts a new client. Returns the reason if it must be rejected; otherwise null. */
  problemOf(headers: IncomingHttpHeaders, address: string, requested: SyncRequest): Close | null {
    if (this.#draining !== null) return this.#draining
    const tooSoon = this.#admission.takeConnect(address)
    if (tooSoon !== null) return tooSoon
    if (requested.kind === 'invalid') return close('badRequest', requested.reason)
    const problem = this.#loopbackOnly ? loopbackViolation(headers) : null
    if (problem !== null) return close('unauthenticated', problem)
    return this.#admission.connectionProblem(address)
  }
}
