import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait behind the one that is being answered; no browser or proxy sends any. */
const waitingMax = 16

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
}

/**
 * Answers the requests of each connection one after the other. Node hands over all that arrive together: a few KB of
 * requests from somebody who reads no answer would have all these answers made, and kept.
 */
export class RequestPipeline {
  /** Of each connection those not answered to their end; the first is being answered. */
  readonly #unanswered = new WeakMap<Socket, Exchange[]>()

  /** `handle` answers when all before are answered. Who sends too many before that is hung up on. */
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
   * Whether what is no request may be answered now. Not where others wait for their answers: who has asked
   * would take it for theirs. A request whose end is missing is what the bytes belong to.
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
