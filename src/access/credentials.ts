import type { IncomingHttpHeaders } from 'node:http'
import { type Caller, type KeyOptions, keyCallerOf } from './key-credentials.ts'
import { type OperatorCaller, type OperatorOptions, operatorCallerOf } from './operator-credentials.ts'
import { type WorkspaceCaller, type WorkspaceOptions, workspaceCallerOf } from './workspace-credentials.ts'

export type { Caller, OperatorCaller, WorkspaceCaller }

/** Who calls, by what they have to show for it. */
export interface Callers {
  readonly key: Caller
  readonly workspace: WorkspaceCaller
  readonly operator: OperatorCaller
}

export type AuthLevel = keyof Callers
export type AnyCaller = Callers[AuthLevel]

/** Whether a caller has shown what `level` asks for. */
export const isCallerAt = <Level extends AuthLevel>(
  caller: AnyCaller,
  level: Level,
): caller is Callers[Level] => caller.level === level

type Options = KeyOptions & WorkspaceOptions & OperatorOptions

const checks: {
  readonly [Level in AuthLevel]: (headers: IncomingHttpHeaders, options: Options) => Promise<Callers[Level]>
} = { key: keyCallerOf, workspace: workspaceCallerOf, operator: operatorCallerOf }

/** Headers → who is calling. */
export class Authenticator {
  readonly #options: Options

  constructor(options: Options) {
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
