import type { IncomingHttpHeaders } from 'node:http'
import * as s from './schema.ts'

/** Identifies a span of a distributed trace (W3C Trace Context), as the parent of other spans. */
export interface TraceContext {
  /** 32 lowercase hexadecimal digits, not all 0. */
  readonly traceId: string
  /** 16 lowercase hexadecimal digits, not all 0. */
  readonly spanId: string
  /** True if the caller records its spans of the trace. */
  readonly isSampled: boolean
  /** Value of `tracestate`, which belongs to the tracing systems on the way; null if there is none. */
  readonly traceState: string | null
  /** True if another process has created the span. */
  readonly isRemote: boolean
}

/** The headers of a trace context, as they are sent to receivers and stored with events. */
export interface TraceHeaders {
  readonly traceparent: string
  readonly tracestate?: string
}

export const traceHeadersSchema = s.object({ traceparent: s.string }, { tracestate: s.string })

/** Limits of `tracestate`. A longer one is dropped, because Weft stores it with each event. */
const traceStateMax = { chars: 512, members: 32 } as const

/** Length of a `traceparent` that is read. Later versions of the format may be longer than version 00. */
const traceparentCharsMax = 256

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const onlyZeros = /^0+$/
const printable = /^[\x20-\x7e]+$/

/** Returns the trace context of a request. A malformed `traceparent` is ignored, as the standard requires. */
export const readTraceContext = (headers: IncomingHttpHeaders): TraceContext | null =>
  headers.traceparent === undefined ? null : parseTraceContext(headers.traceparent, headers.tracestate)

/**
 * Parses the two headers. Returns null if `traceparent` is malformed. Drops a `tracestate` that is malformed or too
 * long.
 */
export function parseTraceContext(traceparent: unknown, tracestate: unknown): TraceContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > traceparentCharsMax) return null
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (onlyZeros.test(traceId) || onlyZeros.test(spanId)) return null
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId, isSampled, traceState: readTraceState(tracestate), isRemote: true }
}

function readTraceState(given: unknown): string | null {
  const text = Array.isArray(given) ? given.join(',') : given
  if (typeof text !== 'string' || text.length > traceStateMax.chars || !printable.test(text)) return null
  const members = text.split(',').filter((member) => member.trim() !== '')
  return members.length <= traceStateMax.members && members.every((member) => member.indexOf('=') > 0)
    ? text
    : null
}

/** Returns the headers of a context in version 00. */
export function toTraceHeaders({ traceId, spanId, isSampled, traceState }: TraceContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return traceState === null ? { traceparent } : { traceparent, tracestate: traceState }
}
