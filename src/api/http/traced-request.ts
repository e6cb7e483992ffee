import type { IncomingMessage } from 'node:http'
import { currentTrace, runTraced, runUntraced } from '../../tracing/current-trace.ts'
import type { SpanSource } from '../../tracing/span.ts'
import { readTraceContext } from '../../tracing/trace-context.ts'
import { InProcessRequest, toolOf } from './in-process-call.ts'
import type { ServedResponse } from './served-response.ts'

/**
 * Runs `work`, which handles a request, as a part of its trace: the one of the header `traceparent`, else the one of
 * the call in whose course this process makes the request, else a new one if an exporter is configured.
 */
export function traceRequest<T>(
  spans: SpanSource | null,
  request: IncomingMessage,
  response: ServedResponse,
  work: () => T,
): T {
  const caller = request instanceof InProcessRequest ? currentTrace()?.context : undefined
  const parent = readTraceContext(request.headers) ?? caller ?? null
  if (parent === null && spans === null) return runUntraced(work)
  const { requestId, route } = response.locals
  const method = request.method ?? ''
  const tool = toolOf(request)
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'weft.request_id': requestId,
    ...(tool !== null && { 'weft.tool': tool }),
  }
  const span = spans?.start(`${method} ${route}`, { kind: 'server', parent, attributes })
  const context = span?.context ?? parent
  // A trace that begins here and is not recorded concerns nobody else.
  if (context === null || (parent === null && span?.isRecording === false)) return runUntraced(work)
  const trace = { context, spans }
  response.locals.trace = trace
  if (span?.isRecording === true)
    response.once('close', () => {
      const { statusCode, locals } = response
      const workspaceId = workspaceOf(locals.caller)
      span.set({
        'http.response.status_code': statusCode,
        ...(workspaceId !== null && { 'weft.workspace_id': workspaceId }),
      })
      span.end(statusCode >= 500 ? String(statusCode) : undefined)
    })
  return runTraced(trace, work)
}

function workspaceOf(caller: ServedResponse['locals']['caller']): string | null {
  if (caller === undefined || !('tenant' in caller)) return null
  return caller.tenant.workspaceId
}
