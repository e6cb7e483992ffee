import {
  type Context,
  createContextKey,
  createTraceState,
  ROOT_CONTEXT,
  type Context as SdkContext,
  type Span as SdkSpan,
  type Tracer as SdkTracer,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Log } from '../base/log.ts'
import type { Span, SpanAttributes, SpanSource, SpanStart } from '../base/span.ts'
import type { TraceContext } from '../base/trace-context.ts'
import type { Config } from '../config/config.ts'
import { parseHeaderList } from '../config/option-parsers.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { SpanQueue } from './span-queue.ts'

/** Maximum number of traces of client updates per second. Their commits are far more frequent than calls. */
export const updateTracesPerSecondMax = 100

const sampledKey = createContextKey('weft.sampled')

/** Parent of a span whose sampling is decided already: the span begins a trace and is recorded. */
export const sampledRoot: Context = ROOT_CONTEXT.setValue(sampledKey, true)

/**
 * Creates the sampler `parentbased_traceidratio` of OpenTelemetry.
 * @param ratio share of the traces that begin in this process and are recorded, from 0 to 1
 */
export function createSampler(ratio: number): Sampler {
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  return {
    shouldSample: (context, ...rest) =>
      context.getValue(sampledKey) === true
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(context, ...rest),
    toString: () => sampler.toString(),
  }
}

/**
 * Decides which updates of clients begin a trace. The decision is made before anything is allocated, and the number
 * of these traces per second is bounded.
 */
export class UpdateSampler {
  readonly #ratio: number
  #second = 0
  #count = 0

  /** @param ratio share of the updates that begin a trace, from 0 to 1 */
  constructor(ratio: number) {
    this.#ratio = ratio
  }

  isSampled(): boolean {
    if (this.#ratio < 1 && Math.random() >= this.#ratio) return false
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#count = 0
    }
    this.#count += 1
    return this.#count <= updateTracesPerSecondMax
  }
}

/** Maximum time in ms of one request to the collector, with its repetitions. */
const exportTimeoutMs = 10_000

export interface OtlpSpansOptions {
  readonly config: Config
  /** URL of the collector, without the path `/v1/traces`. */
  readonly endpoint: string
  /** Version of Weft, and the name of this node. */
  readonly version: string
  readonly node: string
  readonly metrics: Metrics
  readonly log: Log
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

/**
 * Creates spans with the SDK of OpenTelemetry, and sends them to a collector over OTLP/HTTP. This module and the SDK
 * are loaded only if a collector is configured. It registers nothing globally, so that an application which embeds
 * the server keeps its own SDK.
 */
export class OtlpSpans implements SpanSource {
  readonly #tracer: SdkTracer
  readonly #queue: SpanQueue
  readonly #updates: UpdateSampler

  constructor(options: OtlpSpansOptions) {
    const { config, version, node, metrics, log } = options
    this.#queue = new SpanQueue(createExporter(options), metrics, log)
    this.#updates = new UpdateSampler(config.tracesSamplerArg)
    const provider = new TracerProvider({
      sampler: createSampler(config.tracesSamplerArg),
      spanProcessors: [this.#queue],
      resource: resourceFromAttributes({
        'service.name': config.tracesServiceName,
        'service.version': version,
        'service.instance.id': node,
      }),
    })
    this.#tracer = provider.getTracer('weft', version)
  }

  start(name: string, { parent, ...options }: SpanStart): Span {
    return this.#start(name, options, parent, parent === null ? ROOT_CONTEXT : toSdkContext(parent))
  }

  startUpdate(name: string, options: Omit<SpanStart, 'parent'>): Span | null {
    return this.#updates.isSampled() ? this.#start(name, options, null, sampledRoot) : null
  }

  #start(
    name: string,
    { kind = 'internal', startMs, attributes }: Omit<SpanStart, 'parent'>,
    parent: TraceContext | null,
    context: SdkContext,
  ): Span {
    const options = {
      kind: kinds[kind],
      ...(startMs !== undefined && { startTime: startMs }),
      ...(attributes !== undefined && { attributes }),
    }
    return new RecordedSpan(this.#tracer.startSpan(name, options, context), parent?.traceState ?? null)
  }

  async close(timeoutMs: number): Promise<void> {
    const late = new Promise<void>((resolve) => {
      setTimeout(resolve, timeoutMs).unref()
    })
    await Promise.race([this.#queue.forceFlush(), late])
    await Promise.race([this.#queue.shutdown(), late])
  }
}

function createExporter({ config, endpoint }: OtlpSpansOptions): SpanExporter {
  const url = new URL(endpoint)
  url.pathname += url.pathname.endsWith('/') ? 'v1/traces' : '/v1/traces'
  const options = {
    url: url.href,
    headers: parseHeaderList(config.otlpHeaders ?? '') ?? {},
    timeoutMillis: exportTimeoutMs,
  }
  return config.otlpProtocol === 'http/json' ? new JsonExporter(options) : new ProtobufExporter(options)
}

function toSdkContext({ traceId, spanId, isSampled, traceState, isRemote }: TraceContext): SdkContext {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote,
    ...(traceState !== null && { traceState: createTraceState(traceState) }),
  })
}

class RecordedSpan implements Span {
  readonly context: TraceContext
  readonly isRecording: boolean
  readonly #span: SdkSpan

  constructor(span: SdkSpan, traceState: string | null) {
    const { traceId, spanId, traceFlags } = span.spanContext()
    const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0
    this.context = { traceId, spanId, isSampled, traceState, isRemote: false }
    this.isRecording = span.isRecording()
    this.#span = span
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes)
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error)
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end()
  }
}
