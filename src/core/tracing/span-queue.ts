import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../metrics/metrics.ts'

const spanQueueLimits = {
  /** Maximum number of ended spans that wait. Further spans are dropped. */
  waiting: 2048,
  /** Maximum number of spans in one request. */
  batch: 512,
  /** Maximum time in ms for which a span waits for others. */
  delayMs: 1000,
} as const

/** Minimum time in ms between two log lines about a collector that does not accept spans. */
const failureLogMs = 60_000

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0]

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`, which would be one more dependency. */
const success = 0 as ExportResult['code']

/**
 * Sends ended spans to the collector in batches, one request at a time. The queue is bounded and never blocks: spans
 * that a slow, absent or failing collector does not accept are dropped and counted. The batch processor of the SDK is
 * not used, because it does not report how many spans it has dropped.
 */
export class SpanQueue implements SpanProcessor {
  readonly #exporter: SpanExporter
  readonly #metrics: Pick<Metrics, 'traceSpansExported' | 'traceSpansDropped'>
  readonly #log: Log
  #waiting: ReadableSpan[] = []
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  #isClosed = false
  #loggedAt = Number.NEGATIVE_INFINITY

  constructor(
    exporter: SpanExporter,
    metrics: Pick<Metrics, 'traceSpansExported' | 'traceSpansDropped'>,
    log: Log,
  ) {
    this.#exporter = exporter
    this.#metrics = metrics
    this.#log = log
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || this.#waiting.length >= spanQueueLimits.waiting) return this.#dropped('full', 1)
    this.#waiting.push(span)
    if (this.#waiting.length >= spanQueueLimits.batch) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), spanQueueLimits.delayMs).unref()
  }

  /** Resolves when the spans that wait now were sent or dropped. */
  async forceFlush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending !== null) {
      this.#send()
      await this.#sending
    }
  }

  /** Drops the spans that wait. Call `forceFlush` first. */
  async shutdown(): Promise<void> {
    this.#isClosed = true
    this.#stopTimer()
    if (this.#waiting.length > 0) this.#dropped('shutdown', this.#waiting.length)
    this.#waiting = []
    await this.#exporter.shutdown()
  }

  #send(): void {
    this.#stopTimer()
    if (this.#sending !== null || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, spanQueueLimits.batch)
    this.#sending = this.#export(batch).then(() => {
      this.#sending = null
      if (this.#waiting.length >= spanQueueLimits.batch) this.#send()
      else if (this.#waiting.length > 0 && !this.#isClosed)
        this.#timer ??= setTimeout(() => this.#send(), spanQueueLimits.delayMs).unref()
    })
  }

  /** Never rejects. The exporter has a timeout. */
  #export(batch: ReadableSpan[]): Promise<void> {
    return new Promise((resolve) => {
      const failed = (error: unknown): void => {
        this.#dropped('failed', batch.length)
        this.#logFailure(error)
      }
      try {
        this.#exporter.export(batch, ({ code, error }) => {
          if (code === success) this.#metrics.traceSpansExported.inc(batch.length)
          else failed(error)
          resolve()
        })
      } catch (error) {
        failed(error)
        resolve()
      }
    })
  }

  #dropped(reason: 'full' | 'failed' | 'shutdown', count: number): void {
    this.#metrics.traceSpansDropped.inc({ reason }, count)
  }

  #logFailure(err: unknown): void {
    if (performance.now() - this.#loggedAt < failureLogMs) return
    this.#loggedAt = performance.now()
    const message = 'the collector of traces does not accept spans; they are dropped'
    this.#log.warn({ event: 'tracing.export_failed', err }, message)
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}
