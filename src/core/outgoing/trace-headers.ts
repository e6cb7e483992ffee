import { currentTrace } from '../base/current-trace.ts'
import { toTraceHeaders } from '../base/trace-context.ts'
import type { OutgoingRequest } from './checked-sender.ts'

/** Adds the headers of the current trace to a request, if there is one. */
export function withTraceHeaders(request: OutgoingRequest): OutgoingRequest {
  const trace = currentTrace()
  if (trace === undefined) return request
  return { ...request, headers: { ...request.headers, ...toTraceHeaders(trace.context) } }
}
