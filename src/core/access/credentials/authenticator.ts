import type { IncomingHttpHeaders } from 'node:http'
import type { AgentCaller } from './agent-caller.ts'
import type { CredentialOptions } from './credential-headers.ts'
import { authenticateKey, type KeyCaller } from './key-credentials.ts'
import { authenticateOperator, type OperatorCaller } from './operator-credentials.ts'
import { authenticateWorkspace, type WorkspaceCaller } from './workspace-credentials.ts'

export type { AgentCaller, KeyCaller, OperatorCaller, WorkspaceCaller }

/** The types of callers, by the level of their credentials. */
export interface CallerByLevel {
  readonly key: KeyCaller
  readonly workspace: WorkspaceCaller
  readonly operator: OperatorCaller
}

export type AuthLevel = keyof CallerByLevel
export type AnyCaller = CallerByLevel[AuthLevel] | AgentCaller
/** A caller within one tenant. */
export type TenantCaller = KeyCaller | AgentCaller

/** Returns whether a caller acts within one tenant. */
export const isInTenant = (caller: AnyCaller): caller is TenantCaller =>
  caller.level === 'key' || caller.level === 'agent'

/** Returns whether a caller has credentials of the given level. */
export const hasAuthLevel = <Level extends AuthLevel>(
  caller: AnyCaller,
  level: Level,
): caller is CallerByLevel[Level] => caller.level === level

const checks: {
  readonly [Level in AuthLevel]: (
    headers: IncomingHttpHeaders,
    options: CredentialOptions,
  ) => Promise<CallerByLevel[Level]>
} = { key: authenticateKey, workspace: authenticateWorkspace, operator: authenticateOperator }

/** Determines the caller from the headers of a request. */
export class Authenticator {
  readonly #options: CredentialOptions

  constructor(options: CredentialOptions) {
    this.#options = options
  }

  /**
   * Authenticates a call.
   * @throws ApiError INVALID_ARGUMENT if a header is missing
   * @throws ApiError UNAUTHENTICATED if the credentials are invalid; an unknown name and a wrong token give
   * the same message
   * @throws ApiError PERMISSION_DENIED if the call is from a page whose domain is not allowed
   * @throws ApiError FAILED_PRECONDITION if the level is `operator` and the server has no operator token
   */
  callerOf<Level extends AuthLevel>(
    level: Level,
    headers: IncomingHttpHeaders,
  ): Promise<CallerByLevel[Level]> {
    return checks[level](headers, this.#options)
  }
}
