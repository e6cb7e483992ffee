import type { IncomingMessage } from 'node:http'
import type {
  AgentCaller,
  Authenticator,
  AuthLevel,
  CallerByLevel,
} from '../../core/access/credentials/authenticator.ts'
import type { Services } from '../services.ts'
import type { CallAuditor } from './call-auditor.ts'

interface CallerOptions {
  readonly authenticator: Authenticator
  readonly auditor: CallAuditor
}

/**
 * Returns the caller of a request: an agent, or a caller with the credentials of this level.
 * @throws ApiError as for `AgentAccess.callerOf` and `Authenticator.callerOf`; it is counted as a rejected call
 */
export async function callerOf<Level extends AuthLevel>(
  level: Level,
  request: IncomingMessage,
  options: CallerOptions & { readonly services: Pick<Services, 'agents'> },
): Promise<CallerByLevel[Level] | AgentCaller> {
  const { services, auditor } = options
  const agent = await services.agents.callerOf(request.headers).catch((error: unknown) => {
    auditor.refused('realtime', error, request)
    throw error
  })
  return agent ?? backendOf(level, request, options)
}

/**
 * Returns the caller with the credentials of this level.
 * @throws ApiError as for `Authenticator.callerOf`; it is counted as a rejected call
 */
export function backendOf<Level extends AuthLevel>(
  level: Level,
  request: IncomingMessage,
  { authenticator, auditor }: CallerOptions,
): Promise<CallerByLevel[Level]> {
  return authenticator.callerOf(level, request.headers).catch((error: unknown) => {
    auditor.refused(level, error, request)
    throw error
  })
}
