import type { IncomingMessage } from 'node:http'
import type { SharedOrigins } from './cors.ts'
import type { ServedResponse } from './served-response.ts'

/** A path whose requests are neither pages nor calls of operations, such as the transport of messages over HTTP. */
export interface ServedRoute {
  /** A path that ends with `/*` stands for all paths that begin like it. */
  readonly path: string
  /** Label of the requests in metrics and logs, by method. */
  readonly labels: Readonly<Record<string, string>>
  /** Origins whose pages can read the responses; default: all origins that an API key lists. */
  readonly origins?: SharedOrigins
  /**
   * Handlers by method.
   * @throws ApiError that is sent in the envelope
   */
  readonly methods: Readonly<
    Record<string, (request: IncomingMessage, response: ServedResponse) => Promise<void>>
  >
}
