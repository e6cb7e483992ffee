import { runTraced, runUntraced } from '../../../core/base/current-trace.ts'
import type { SpanSource } from '../../../core/base/span.ts'
import { parseTraceContext } from '../../../core/base/trace-context.ts'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import type { AttemptOutcome } from './delivery-attempt.ts'

/**
 * Makes an attempt as a part of the trace of its event. The event has the trace in its record, so this node and the
 * time of the attempt make no difference.
 * @param attempt resolves with null if the receiver needs no request
 */
export async function traceDelivery<T extends { readonly outcome: AttemptOutcome }>(
  spans: SpanSource | null,
  { trace, type, id, scope, documentId }: QueuedEvent,
  targetId: string,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  const parent = trace === undefined ? null : parseTraceContext(trace.traceparent, trace.tracestate)
  if (parent === null) return runUntraced(attempt)
  const span = spans?.start(`deliver ${type}`, {
    parent,
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'weft.event_type': type,
      'weft.event_id': id,
      'weft.target_id': targetId,
      'weft.workspace_id': scope.workspaceId,
      'weft.organization_id': scope.organizationId,
      ...(documentId !== null && { 'weft.document_id': documentId }),
    },
  })
  const made = await runTraced({ context: span?.context ?? parent, spans }, attempt)
  // An attempt that was not made is not exported.
  if (span === undefined || made === null) return made
  const { outcome } = made
  if (outcome.kind === 'interrupted') return made
  if (outcome.httpStatus !== null) span.set({ 'http.response.status_code': outcome.httpStatus })
  span.end(outcome.kind === 'failed' ? errorTypeOfOutcome(outcome) : undefined)
  return made
}

const errorTypeOfOutcome = ({ failure, httpStatus }: Extract<AttemptOutcome, { kind: 'failed' }>): string =>
  httpStatus === null ? failure : String(httpStatus)
