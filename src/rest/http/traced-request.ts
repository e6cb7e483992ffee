import type { IncomingMessage } from 'node:http'
import type { Caller } from '../../core/access/credentials/authenticator.ts'
import { type CurrentTrace, currentTrace, runTraced, runUntraced } from '../../core/base/current-trace.ts'
import type { Span, SpanSource } from '../../core/base/span.ts'
import { readTraceContext, type TraceContext } from '../../core/base/trace-context.ts'
import { InProcessRequest, toolOf } from './in-process-call.ts'
import type { ServedResponse } from './served-response.ts'

/**
 * Runs `work`, which handles a request, as a part of its trace. This is the trace of the header `traceparent`, else the
 * one of the call in whose course this process makes the request. If there is neither, the request begins a trace if an
 * exporter is configured. The span of a request with `traceparent` begins in `setCaller`, so that a client without
 * credentials cannot decide what is exported.
 */
export function traceRequest<T>(
  spans: SpanSource | null,
  request: IncomingMessage,
  response: ServedResponse,
  work: () => T,
): T {
  const remote = readTraceContext(request.headers)
  if (remote !== null) {
    const trace = new RemoteTrace(remote, spans, (startMs) =>
      startSpan(spans, request, response, remote, startMs),
    )
    response.weftLocals.trace = trace
    return runTraced(trace, work)
  }
  const parent = request instanceof InProcessRequest ? (currentTrace()?.context ?? null) : null
  if (parent === null && spans === null) return runUntraced(work)
  const span = startSpan(spans, request, response, parent)
  const context = span?.context ?? parent
  // A trace that begins here and is not recorded has no other use.
  if (context === null || (parent === null && span?.isRecording === false)) return runUntraced(work)
  const trace = { context, spans }
  response.weftLocals.trace = trace
  return runTraced(trace, work)
}

/** Stores the caller of a request. From now on the request belongs to the trace that the caller asks for. */
export function setCaller({ weftLocals }: ServedResponse, caller: Caller): void {
  weftLocals.caller = caller
  if (weftLocals.trace instanceof RemoteTrace) weftLocals.trace.begin()
}

/** The trace of a request with `traceparent`. Until its span begins, the span of the caller is the current one. */
class RemoteTrace implements CurrentTrace {
  readonly spans: SpanSource | null
  readonly #start: (startMs: number) => Span | null
  readonly #arrivedAt = Date.now()
  #context: TraceContext

  constructor(remote: TraceContext, spans: SpanSource | null, start: (startMs: number) => Span | null) {
    this.#context = remote
    this.spans = spans
    this.#start = start
  }

  get context(): TraceContext {
    return this.#context
  }

  begin(): void {
    this.#context = this.#start(this.#arrivedAt)?.context ?? this.#context
  }
}

/** Starts the span of a request, which ends with the response. Returns null if no exporter is configured. */
function startSpan(
  spans: SpanSource | null,
  request: IncomingMessage,
  response: ServedResponse,
  parent: TraceContext | null,
  startMs?: number,
): Span | null {
  if (spans === null) return null
  const { requestId, route } = response.weftLocals
  const method = request.method ?? ''
  const tool = toolOf(request)
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'weft.request_id': requestId,
    ...(tool !== null && { 'weft.tool': tool }),
  }
  const span = spans.start(`${method} ${route}`, {
    kind: 'server',
    parent,
    attributes,
    ...(startMs !== undefined && { startMs }),
  })
  if (span.isRecording)
    response.once('close', () => {
      const { statusCode, weftLocals } = response
      const workspaceId = workspaceOf(weftLocals.caller)
      span.set({
        'http.response.status_code': statusCode,
        ...(workspaceId !== null && { 'weft.workspace_id': workspaceId }),
      })
      span.end(statusCode >= 500 ? String(statusCode) : undefined)
    })
  return span
}

function workspaceOf(caller: ServedResponse['weftLocals']['caller']): string | null {
  if (caller === undefined || !('tenant' in caller)) return null
  return caller.tenant.workspaceId
}
