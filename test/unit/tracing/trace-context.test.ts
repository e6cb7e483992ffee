import { expect, it } from 'vitest'
import { parseTraceContext, toTraceHeaders } from '../../../src/core/base/trace-context.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const valid = `00-${traceId}-${spanId}-01`

it('[OTEL-2] reads a traceparent, and writes it in the same form', () => {
  const context = parseTraceContext(valid, 'a=1,b=2')
  expect(context).toEqual({ traceId, spanId, isSampled: true, traceState: 'a=1,b=2', isRemote: true })
  expect(context && toTraceHeaders(context)).toEqual({ traceparent: valid, tracestate: 'a=1,b=2' })
  const notSampled = parseTraceContext(`00-${traceId}-${spanId}-02`, undefined)
  expect(notSampled && toTraceHeaders(notSampled)).toEqual({ traceparent: `00-${traceId}-${spanId}-00` })
})

it('[OTEL-2] reads later versions of the format, with more fields', () => {
  expect(parseTraceContext(`cc-${traceId}-${spanId}-01-what-the-future-brings`, undefined)).toMatchObject({
    traceId,
    spanId,
  })
})

it.each([
  '',
  'ff'.concat(valid.slice(2)),
  `${valid}-more`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${traceId}-${spanId}`,
  `00-${traceId}-${spanId}-1`,
  `00_${traceId}_${spanId}_01`,
  `${valid}, ${valid}`,
  `cc-${traceId}-${spanId}-01-${'x'.repeat(5000)}`,
])('[OTEL-2] ignores the malformed traceparent %j', (malformed) => {
  expect(parseTraceContext(malformed, undefined)).toBeNull()
})

it.each([
  'a'.repeat(513),
  'novalue',
  '=novalue',
  'a=1,b',
  'a=\u00e9',
  'a=1\r\nx: y',
  Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(','),
])('[OTEL-2] drops the tracestate %j, and keeps the traceparent', (malformed) => {
  expect(parseTraceContext(valid, malformed)).toMatchObject({ traceId, traceState: null })
})
