import type { Log } from '../base/log.ts'
import type { SpanSource } from '../base/span.ts'
import type { Config } from '../config/config.ts'
import type { Metrics } from '../metrics/metrics.ts'

interface OpenSpansOptions {
  readonly config: Config
  readonly version: string
  readonly node: string
  readonly metrics: Metrics
  readonly log: Log
}

/** Loads the exporter of traces and creates its source of spans. Returns null if no collector is configured. */
export async function openSpans(options: OpenSpansOptions): Promise<SpanSource | null> {
  const { otlpEndpoint: endpoint } = options.config
  if (endpoint === null) return null
  const { OtlpSpans } = await import('./otlp-spans.ts')
  return new OtlpSpans({ ...options, endpoint })
}
