import type { IncomingMessage } from 'node:http'
import type {
  AgentCaller,
  Authenticator,
  AuthLevel,
  CallerByLevel,
} from '../../core/access/credentials/authenticator.ts'
import type { Services } from '../services.ts'
import type { CallAuditor } from './call-auditor.ts'

interface Authentication {
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
  { agents }: Pick<Services, 'agents'>,
  authentication: Authentication,
): Promise<CallerByLevel[Level] | AgentCaller> {
  const agent = await agents.callerOf(request.headers).catch((error: unknown) => {
    authentication.auditor.refused('realtime', error, request)
    throw error
  })
  return agent ?? backendOf(level, request, authentication)
}

/**
 * Returns the caller with the credentials of this level.
 * @throws ApiError as for `Authenticator.callerOf`; it is counted as a rejected call
 */
export function backendOf<Level extends AuthLevel>(
  level: Level,
  request: IncomingMessage,
  { authenticator, auditor }: Authentication,
): Promise<CallerByLevel[Level]> {
  return authenticator.callerOf(level, request.headers).catch((error: unknown) => {
    auditor.refused(level, error, request)
    throw error
  })
}
