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

/** Who calls, by what they have to show for it. */
export interface CallerByLevel {
  readonly key: KeyCaller
  readonly workspace: WorkspaceCaller
  readonly operator: OperatorCaller
}

export type AuthLevel = keyof CallerByLevel
export type AnyCaller = CallerByLevel[AuthLevel]

/** Whether a caller has shown what `level` asks for. */
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

/** Headers → who is calling. */
export class Authenticator {
  readonly #options: AuthenticatorOptions

  constructor(options: AuthenticatorOptions) {
    this.#options = options
  }

  /**
   * @throws ApiError INVALID_ARGUMENT when a header is missing; UNAUTHENTICATED when what they say is not valid: one
   *   message for something unknown and for a wrong token; PERMISSION_DENIED for a page of a domain that is not
   *   allowed; FAILED_PRECONDITION where nobody can be the operator
   */
  callerOf(level: AuthLevel, headers: IncomingHttpHeaders): Promise<AnyCaller> {
    return checks[level](headers, this.#options)
  }
}
