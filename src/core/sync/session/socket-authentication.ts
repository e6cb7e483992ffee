import type { Identity } from '../../access/identity.ts'
import { claimedTenant } from '../../access/tokens/minted.ts'
import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import type { DocumentPath, Tenant } from '../../model/address.ts'
import { type Close, close } from '../../model/close.ts'
import { StoreUnavailableError } from '../../store/engine.ts'
import type { Admission } from '../admission/admission.ts'
import type { Requested } from '../admission/rejection-log.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'

/** Authenticates clients by their tokens, and reports rejected tokens. */
export class SocketAuthentication {
  /** Maximum milliseconds that the check of a token, or the wait for the first one, may take. */
  readonly authMs: number
  readonly admission: Admission
  readonly #dependencies: SyncDependencies

  constructor(authMs: number, admission: Admission, dependencies: SyncDependencies) {
    this.authMs = authMs
    this.admission = admission
    this.#dependencies = dependencies
  }

  /**
   * Checks a token. Resolves with the identity in the token. Resolves with an error if the token is rejected
   * or cannot be checked in time. Rejects for any other fault of the server. `Promise.race` is not used,
   * because it costs more and the method runs for each client.
   */
  authenticate(token: string | null, origin: string | undefined): Promise<Identity | TokenRejectedError> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(new TokenRejectedError('timeout')), this.authMs)
      this.#dependencies.access.identityOf(token, origin).then(
        (identity) => {
          clearTimeout(timer)
          resolve(identity)
        },
        (error: unknown) => {
          clearTimeout(timer)
          if (error instanceof TokenRejectedError) resolve(claimedBy(error, token))
          else if (error instanceof StoreUnavailableError) resolve(this.#storeUnavailable(error))
          else reject(error)
        },
      )
    })
  }

  /**
   * Counts a new connection from `address`. Returns the close reason if the rate is exceeded, and reports it;
   * otherwise null.
   */
  takeConnect(address: string): Close | null {
    const problem = this.admission.takeConnect(address)
    return problem && this.reported(problem, address)
  }

  /**
   * Logs and traces the rejection of a client, and reports the limit that is exceeded.
   * @param tenant API key of the client; null if the client is not authenticated
   */
  refuse(address: string, reason: Close, requested: Requested, tenant: Tenant | null = null): void {
    const { rejections, tracer } = this.#dependencies
    rejections.socket(address, reason, requested, tenant)
    this.reported(reason, tenant?.workspaceId ?? address)
    if (requested !== null && typeof requested !== 'string')
      tracer?.of(requested)?.('rejected', { code: reason.code, reason: reason.reason })
  }

  /** Reports the exceeded limit of a close reason, and returns the reason. @param key workspace or address of the client */
  reported(reason: Close, key: string): Close {
    if (reason.limit !== null) this.#dependencies.reports.exceeded(reason.limit, key)
    return reason
  }

  #storeUnavailable(error: StoreUnavailableError): TokenRejectedError {
    this.#dependencies.faults.log(error, 'a token could not be checked')
    return new TokenRejectedError('store', null, { cause: error })
  }

  /**
   * Counts and logs a rejected token. Returns the close reason for the client.
   * @param path the document that the client requested; null if it is unknown
   */
  reject(rejected: TokenRejectedError, clientAddress: string, path: DocumentPath | null): Close {
    const { metrics, reports, rejections, onRejected, tracer } = this.#dependencies
    const reason = closeForToken(rejected)
    const { code } = reason
    rejections.token(clientAddress, rejected, path, code)
    if (path !== null)
      tracer?.of(path)?.('rejected', { code, reason: `token: ${rejected.reason}`, detail: rejected.detail })
    metrics.authFailures.inc({ reason: rejected.reason })
    if (rejected.reason === 'timeout') reports.exceeded('authTimeoutSeconds', clientAddress)
    if (isCredentialFailure(rejected)) onRejected(clientAddress)
    return reason
  }
}

/** Adds the API key from the claims of the rejected token to the error, and returns the error. */
function claimedBy(rejected: TokenRejectedError, token: string | null): TokenRejectedError {
  rejected.claimedKey = token === null ? null : (claimedTenant(token)?.apiKey ?? null)
  return rejected
}

/**
 * Returns whether a token was rejected because the credential itself is wrong. An expired token does not
 * count as wrong, nor does a token that the server could not check.
 */
export const isCredentialFailure = (rejected: TokenRejectedError): boolean =>
  rejected.reason !== 'expired' && !isUndetermined(rejected)

/** Returns whether a token was rejected because the server could not check it. */
export const isUndetermined = ({ reason }: TokenRejectedError): boolean =>
  reason === 'provider' || reason === 'timeout' || reason === 'store' || reason === 'authorize'

/**
 * Returns the close reason for a rejected token. The close is permanent only if the token is invalid, because
 * stock clients do not reconnect after a permanent close.
 */
export const closeForToken = (rejected: TokenRejectedError): Close =>
  close(isUndetermined(rejected) ? 'tryAgainLater' : 'unauthenticated', rejected.message)
