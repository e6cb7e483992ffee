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

/** Outcome of an attempt. `durationMs` is the time in ms from the DNS lookup to the end of the attempt. */
export type AttemptOutcome =
  /** The receiver responded with a 2xx status. */
  | { readonly kind: 'succeeded'; readonly httpStatus: number; readonly durationMs: number }
  /**
   * The receiver responded with another status (`status`), there was no response, or the request could not be built
   * (`unsent`). `httpStatus` is null without a response.
   */
  | {
      readonly kind: 'failed'
      readonly failure: 'status' | 'timeout' | 'unreachable' | 'unsent'
      readonly httpStatus: number | null
      readonly durationMs: number
      readonly error: string
    }
  /** The receiver responded with 410: it does not want further messages. */
  | { readonly kind: 'gone'; readonly httpStatus: 410; readonly durationMs: number }
  /** The server stopped during the attempt, so the outcome does not concern the receiver. */
  | { readonly kind: 'interrupted' }

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
   * @param stop aborts the attempt
   */
  async make(delivery: OutgoingRequest, stop: AbortSignal): Promise<AttemptOutcome> {
    if (stop.aborted) return { kind: 'interrupted' }
    const startedAt = this.#clock.now()
    try {
      const { status } = await this.#sender.send(delivery, { stop })
      return outcomeOf(status, this.#clock.now() - startedAt)
    } catch (error) {
      if (stop.aborted) return { kind: 'interrupted' }
      const failure = error instanceof ResponseTimeoutError ? 'timeout' : 'unreachable'
      const durationMs = this.#clock.now() - startedAt
      return { kind: 'failed', failure, httpStatus: null, durationMs, error: failureText(error) }
    }
  }
}

function outcomeOf(httpStatus: number, durationMs: number): AttemptOutcome {
  if (isSuccess(httpStatus)) return { kind: 'succeeded', httpStatus, durationMs }
  if (httpStatus === 410) return { kind: 'gone', httpStatus, durationMs }
  const more = httpStatus >= 300 && httpStatus < 400 ? '; redirects are not followed' : ''
  const error = `the receiver answered ${httpStatus}${more}`
  return { kind: 'failed', failure: 'status', httpStatus, durationMs, error }
}

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
