import type { TraceFields, Tracer, TraceStep } from '../trace.ts'
import type { OutboundEvent, QueuedEvent } from './outbound-event.ts'

/** An event, before or after it has an id. */
type TracedEvent = OutboundEvent & { readonly scope: QueuedEvent['scope']; readonly id?: string }

/** Traces a step of an event of a traced document or user. The data of the event are not part of the line. */
export function traceEvent(
  tracer: Tracer | undefined,
  step: TraceStep,
  { scope, documentId, actionUser, data, id, type }: TracedEvent,
  fields: TraceFields = {},
): void {
  if (tracer === undefined) return
  const editorId = typeof data.editorId === 'string' ? data.editorId : undefined
  const { organizationId } = scope
  // The API key stands for an unknown user.
  const userId = actionUser.userId === scope.apiKey ? undefined : actionUser.userId
  tracer.of({ organizationId, documentId, editorId }, ...(userId === undefined ? [] : [userId]))?.(step, {
    id,
    type,
    userId,
    ...fields,
  })
}
