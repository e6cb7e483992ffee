import { AsyncLocalStorage } from 'node:async_hooks'
import type { Span, SpanAttributes, SpanSource } from './span.ts'
import type { TraceContext } from './trace-context.ts'

/** The trace of the call that runs at the moment. */
export interface CurrentTrace {
  /** Parent of new spans. */
  readonly context: TraceContext
  /** Null if no exporter is configured. The context then only goes to the log and to receivers. */
  readonly spans: SpanSource | null
}

/**
 * Passes the trace of a call through its asynchronous steps. Node follows promises only from the first traced call
 * on, so a server without traces has no cost.
 */
const storage = new AsyncLocalStorage<CurrentTrace>()

/** Returns the trace of the current call; undefined if the call is not traced. */
export const currentTrace = (): CurrentTrace | undefined => storage.getStore()

/** Runs `work` as a part of a trace. */
export const runTraced = <T>(trace: CurrentTrace, work: () => T): T => storage.run(trace, work)

/**
 * Runs `work` outside any trace. Use it for work that serves several callers, such as a queue or a timer that all
 * tenants share: Node would run it in the trace of the caller that has started it. Use it also for the handler of a
 * message from another process, which Node may run in the trace of the message before it on the same connection.
 */
export const runUntraced = <T>(work: () => T): T =>
  storage.getStore() === undefined ? work() : storage.exit(work)

/** Returns the fields of a log line that belongs to a traced call. Returns no fields outside such a call. */
export function traceFields(): { readonly traceId?: string; readonly spanId?: string } {
  const context = storage.getStore()?.context
  return context === undefined ? {} : { traceId: context.traceId, spanId: context.spanId }
}

/** Starts a span of the current call. Returns null if the call is not traced, or no exporter is configured. */
export function startSpan(
  name: string,
  attributes: SpanAttributes,
  kind: 'internal' | 'client' = 'internal',
): Span | null {
  const trace = storage.getStore()
  return trace?.spans?.start(name, { parent: trace.context, kind, attributes }) ?? null
}
