import type { TraceContext } from './trace-context.ts'

/**
 * Attributes of a span: only ids, sizes, numbers and codes, never content, tokens or keys. Names are those of the
 * semantic conventions of OpenTelemetry, or begin with `weft.`.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A timed operation of a trace. It is exported when it has ended. */
export interface Span {
  readonly context: TraceContext
  /** False if the sampler has left the trace out. The context is then still sent to receivers. */
  readonly isRecording: boolean
  set(attributes: SpanAttributes): void
  /**
   * Ends the span now.
   * @param error code of the failure; undefined if the operation succeeded
   */
  end(error?: string): void
}

export interface SpanStart {
  /** Null: the span begins a trace. */
  readonly parent: TraceContext | null
  /** `server` and `client` are requests from and to another process. Default: `internal`. */
  readonly kind?: 'internal' | 'server' | 'client'
  /** Start in epoch milliseconds. Default: now. */
  readonly startMs?: number
  readonly attributes?: SpanAttributes
}

/** Creates spans and exports them. Exists only if an exporter is configured. */
export interface SpanSource {
  start(name: string, options: SpanStart): Span
  /**
   * Starts the trace of updates that clients have sent. Returns null, and allocates nothing, if the sampler leaves
   * the updates out.
   */
  startUpdate(name: string, options: Omit<SpanStart, 'parent'>): Span | null
  /** Exports the remaining spans for at most `timeoutMs`. Spans that are left then are counted as dropped. */
  close(timeoutMs: number): Promise<void>
}
