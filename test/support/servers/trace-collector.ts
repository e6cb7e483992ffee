import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface OtlpAttribute {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly intValue?: string | number
    readonly doubleValue?: number
    readonly boolValue?: boolean
  }
}

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly traceState?: string
  readonly attributes?: readonly OtlpAttribute[]
  readonly status?: { readonly code?: number }
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** '' if the span begins a trace. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly traceState: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

/** Receives spans as OTLP/JSON over HTTP, as the exporter sends them. */
export class TraceCollector {
  readonly spans: ReceivedSpan[] = []
  readonly resources: Readonly<Record<string, unknown>>[] = []
  readonly headers: IncomingHttpHeaders[] = []
  /** Bodies as received. */
  readonly bytes: Buffer[] = []
  /** Status of the responses; null: there is no response. */
  status: number | null = 200
  readonly url: string
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const collector = new TraceCollector(server)
    server.on('request', (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        collector.headers.push({ ...request.headers, path: request.url })
        collector.bytes.push(Buffer.concat(parts))
        if (request.headers['content-type'] === 'application/json')
          collector.#take(String(collector.bytes.at(-1)))
        if (collector.status !== null)
          response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}')
      })
    })
    return collector
  }

  /** Bodies as text. */
  get bodies(): readonly string[] {
    return this.bytes.map(String)
  }

  /** Returns the spans of a trace by name. */
  of(traceId: string): Readonly<Record<string, ReceivedSpan>> {
    return Object.fromEntries(
      this.spans.filter((span) => span.traceId === traceId).map((span) => [span.name, span]),
    )
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #take(body: string): void {
    if (this.status !== 200) return
    for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpRequest).resourceSpans) {
      this.resources.push(valuesOf(resource.attributes))
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(received))
    }
  }
}

const received = (span: OtlpSpan): ReceivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  name: span.name,
  kind: span.kind,
  startMs: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
  endMs: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
  traceState: span.traceState ?? '',
  attributes: valuesOf(span.attributes ?? []),
  isError: span.status?.code === 2,
})

const valuesOf = (attributes: readonly OtlpAttribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  )
