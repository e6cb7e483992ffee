import type { TraceFields, Tracer, TraceStep } from '../tracing/trace.ts'
import type { OutboundEvent, QueuedEvent } from './outbound-event.ts'

/** An event that may not have an id yet. */
type TracedEvent = OutboundEvent & { readonly scope: QueuedEvent['scope']; readonly id?: string }

/**
 * Traces a step of an event if its document or user is traced. The trace line does not contain the data of
 * the event.
 */
export function traceEvent(
  tracer: Tracer | undefined,
  step: TraceStep,
  { scope, documentId, actionUser, data, id, type }: TracedEvent,
  fields: TraceFields = {},
): void {
  if (tracer === undefined) return
  const editorId = typeof data.editorId === 'string' ? data.editorId : undefined
  const { organizationId } = scope
  // An acting user with the id of the API key stands for an unknown user.
  const userId = actionUser.userId === scope.apiKey ? undefined : actionUser.userId
  tracer.of({ organizationId, documentId, editorId }, ...(userId === undefined ? [] : [userId]))?.(step, {
    id,
    type,
    userId,
    ...fields,
  })
}
