import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of requests that wait on one connection; browsers and proxies do not pipeline. */
const waitingMax = 16

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
}

/**
 * Answers the requests of each connection one at a time. Node passes on all pipelined requests at once: a few KB of
 * requests from a client that reads no response would create and keep all the responses.
 */
export class RequestPipeline {
  /** Unanswered requests by connection; the first one is in progress. */
  readonly #unanswered = new WeakMap<Socket, Exchange[]>()

  /** Calls `handle` when all earlier requests are answered. Closes the connection if too many requests wait. */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const { socket } = request
    if (socket.destroyed) return
    const exchanges = this.#unanswered.get(socket) ?? []
    this.#unanswered.set(socket, exchanges)
    exchanges.push({ request, response, handle })
    if (exchanges.length > waitingMax + 1) socket.destroy()
    else if (exchanges.length === 1) this.#answerFirst(exchanges)
  }

  /**
   * Returns whether the server may respond to bytes that are not a request. It may not while other requests wait for
   * a
   * response: the client would match it to the wrong request. Such bytes belong to a request whose end is missing.
   */
  isNext(socket: Socket): boolean {
    const [first, ...others] = this.#unanswered.get(socket) ?? []
    if (first === undefined) return true
    return others.length === 0 && !first.request.complete && !first.response.headersSent
  }

  #answerFirst(exchanges: Exchange[]): void {
    const [first] = exchanges
    if (first === undefined || first.request.socket.destroyed) return
    first.response.once('close', () => {
      exchanges.shift()
      this.#answerFirst(exchanges)
    })
    first.handle(first.request, first.response)
  }
}
