import type { IncomingMessage } from 'node:http'
import type { SpanSource } from '../../core/base/span.ts'
import { acceptMethods } from './cors.ts'
import type { Middleware, ServedResponse } from './served-response.ts'
import { traceRequest } from './traced-request.ts'

/** A path whose requests are neither pages nor calls of operations, such as the transport of messages over HTTP. */
export interface ServedRoute {
  /** A path in the form of Express, such as `/sync-http/*path`. */
  readonly path: string
  /** Label of the requests in metrics and logs. */
  readonly label: string
  /** Labels of methods whose requests have a label of their own. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * Handlers by method.
   * @throws ApiError that is sent in the envelope
   */
  readonly methods: Readonly<
    Record<string, (request: IncomingMessage, response: ServedResponse) => Promise<void>>
  >
}

export function servedSteps(
  { label, labels = {}, methods }: ServedRoute,
  spans: SpanSource | null,
): readonly Middleware[] {
  return [
    setLabel((method) => labels[method] ?? label),
    acceptMethods(Object.keys(methods)),
    trace(spans),
    (request, response) => methods[request.method ?? '']?.(request, response),
  ]
}

/** Sets the label of a request in metrics and logs. */
export const setLabel =
  (labelOf: (method: string) => string): Middleware =>
  ({ method = '' }, { weftLocals }, next) => {
    weftLocals.route = labelOf(method)
    next()
  }

/** Runs the further steps of a request as a part of its trace. */
export const trace =
  (spans: SpanSource | null): Middleware =>
  (request, response, next) =>
    traceRequest(spans, request, response, next)
