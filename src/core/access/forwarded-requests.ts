import type { IncomingMessage } from 'node:http'

/** Properties of a request, as the node that has forwarded it knows them. */
export interface ForwardedRequest {
  /** Id of that node. */
  readonly node: string
  /** Address of the client, as limits count it. */
  readonly clientAddress: string
  /** Name of the tool that the client has called; null if the request is not the call of a tool. */
  readonly tool: string | null
  /** Number of the websocket at that node (see `SharedFrames`); null if it takes no shared frames. */
  readonly websocket: number | null
}

/**
 * Requests that other nodes have forwarded. The rates of their clients and callers are already counted, and they are
 * not forwarded again.
 */
export const forwardedRequests = new WeakMap<IncomingMessage, ForwardedRequest>()
