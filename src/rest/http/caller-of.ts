import type { IncomingMessage } from 'node:http'
import type { AgentCaller, AuthLevel, CallerByLevel } from '../../core/access/credentials/authenticator.ts'
import type { Edge } from '../capability.ts'
import type { Services } from '../services.ts'

/**
 * Returns the caller of a request: an agent, or a caller with the credentials of this level.
 * @throws ApiError as for `AgentAccess.callerOf` and `Authenticator.callerOf`; it is counted as a rejected call
 */
export async function callerOf<Level extends AuthLevel>(
  level: Level,
  request: IncomingMessage,
  { agents }: Pick<Services, 'agents'>,
  edge: Pick<Edge, 'authenticator' | 'auditor'>,
): Promise<CallerByLevel[Level] | AgentCaller> {
  const agent = await agents.callerOf(request.headers).catch((error: unknown) => {
    edge.auditor.refused('realtime', error, request)
    throw error
  })
  return agent ?? backendOf(level, request, edge)
}

/**
 * Returns the caller with the credentials of this level.
 * @throws ApiError as for `Authenticator.callerOf`; it is counted as a rejected call
 */
export function backendOf<Level extends AuthLevel>(
  level: Level,
  request: IncomingMessage,
  { authenticator, auditor }: Pick<Edge, 'authenticator' | 'auditor'>,
): Promise<CallerByLevel[Level]> {
  return authenticator.callerOf(level, request.headers).catch((error: unknown) => {
    auditor.refused(level, error, request)
    throw error
  })
}
