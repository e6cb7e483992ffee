import type { IncomingHttpHeaders } from 'node:http'
import { authenticateKey, type KeyCaller, type KeyCredentialsOptions } from './key-credentials.ts'
import {
  authenticateOperator,
  type OperatorCaller,
  type OperatorCredentialsOptions,
} from './operator-credentials.ts'
import {
  authenticateWorkspace,
  type WorkspaceCaller,
  type WorkspaceCredentialsOptions,
} from './workspace-credentials.ts'

export type { KeyCaller, OperatorCaller, WorkspaceCaller }

/** The caller types, by the level of their credentials. */
export interface CallerByLevel {
  readonly key: KeyCaller
  readonly workspace: WorkspaceCaller
  readonly operator: OperatorCaller
}

export type AuthLevel = keyof CallerByLevel
export type AnyCaller = CallerByLevel[AuthLevel]

/** Returns whether a caller has the credentials that `level` requires. */
export const hasAuthLevel = <Level extends AuthLevel>(
  caller: AnyCaller,
  level: Level,
): caller is CallerByLevel[Level] => caller.level === level

type AuthenticatorOptions = KeyCredentialsOptions & WorkspaceCredentialsOptions & OperatorCredentialsOptions

const checks: {
  readonly [Level in AuthLevel]: (
    headers: IncomingHttpHeaders,
    options: AuthenticatorOptions,
  ) => Promise<CallerByLevel[Level]>
} = { key: authenticateKey, workspace: authenticateWorkspace, operator: authenticateOperator }

/** Determines the caller from the headers of a request. */
export class Authenticator {
  readonly #options: AuthenticatorOptions

  constructor(options: AuthenticatorOptions) {
    this.#options = options
  }

  /**
   * Authenticates a call.
   * @throws ApiError INVALID_ARGUMENT if a header is missing
   * @throws ApiError UNAUTHENTICATED if the credentials are invalid, with the same message for an unknown
   * name and a wrong token
   * @throws ApiError PERMISSION_DENIED for a page of a domain that is not allowed
   * @throws ApiError FAILED_PRECONDITION if the server has no operator token
   */
  callerOf(level: AuthLevel, headers: IncomingHttpHeaders): Promise<AnyCaller> {
    return checks[level](headers, this.#options)
  }
}
