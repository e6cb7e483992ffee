import type { Clock } from '../../../core/base/clock.ts'
import { runTraced, runUntraced } from '../../../core/base/current-trace.ts'
import type { SpanSource } from '../../../core/base/span.ts'
import { parseTraceContext } from '../../../core/base/trace-context.ts'
import type { QueuedEvent } from '../../../core/events/outbound-event.ts'
import {
  CheckedSender,
  type OutgoingRequest,
  ResponseTimeoutError,
  type SenderOptions,
} from '../../../core/outgoing/checked-sender.ts'
import { isSuccess } from '../../../core/outgoing/http-post.ts'
import { failureText } from '../../../core/outgoing/no-response-error.ts'
import type { AttemptRecord } from '../deliveries/delivery-records.ts'

/** Outcome of an attempt. */
export interface AttemptOutcome extends Omit<AttemptRecord, 'at'> {
  /**
   * `answered`: with a 2xx status. `status`: with another status; 410 means that the receiver does not want further
   * messages. `unsent`: the request could not be built.
   */
  readonly result: 'answered' | 'status' | 'timeout' | 'unreachable' | 'unsent'
}

/**
 * Makes single attempts. Each attempt is one POST. Only the status of the response counts; the body is
 * discarded.
 */
export class AttemptSender {
  readonly #clock: Clock
  readonly #sender: CheckedSender

  constructor(options: SenderOptions) {
    this.#clock = options.clock
    this.#sender = new CheckedSender(options)
  }

  /**
   * Makes an attempt. The promise never rejects: failures are outcomes.
   * @param stop aborts the attempt. The result is then null, because the outcome does not concern the receiver
   */
  async make(delivery: OutgoingRequest, stop: AbortSignal): Promise<AttemptOutcome | null> {
    if (stop.aborted) return null
    const startedAt = this.#clock.now()
    try {
      const { status } = await this.#sender.send(delivery, { stop })
      return outcomeOf(status, this.#clock.now() - startedAt)
    } catch (error) {
      if (stop.aborted) return null
      const result = error instanceof ResponseTimeoutError ? 'timeout' : 'unreachable'
      const durationMs = this.#clock.now() - startedAt
      return { result, httpStatus: null, durationMs, error: failureText(error) }
    }
  }
}

function outcomeOf(httpStatus: number, durationMs: number): AttemptOutcome {
  if (isSuccess(httpStatus)) return { result: 'answered', httpStatus, durationMs, error: null }
  const more = httpStatus >= 300 && httpStatus < 400 ? '; redirects are not followed' : ''
  const error =
    httpStatus === 410
      ? 'the receiver accepts no more events (410)'
      : `the receiver answered ${httpStatus}${more}`
  return { result: 'status', httpStatus, durationMs, error }
}

/**
 * Makes an attempt as a part of the trace of its event. The event has the trace in its record, so this node and the
 * time of the attempt make no difference.
 * @param attempt resolves with null if the receiver needs no request
 */
export async function traceDelivery<T extends { readonly outcome: AttemptOutcome | null }>(
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
  if (span === undefined || made === null || made.outcome === null) return made
  const { result, httpStatus } = made.outcome
  if (httpStatus !== null) span.set({ 'http.response.status_code': httpStatus })
  span.end(result === 'answered' ? undefined : String(httpStatus ?? result))
  return made
}
