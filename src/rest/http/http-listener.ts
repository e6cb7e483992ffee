import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Request, Response, Router } from 'express'
import { errorMessage, OperatorError } from '../../core/base/errors.ts'
import { StreamResponse } from '../../core/base/event-stream.ts'
import { describeProcess, processOnPort } from '../../core/config/process-with.ts'
import type { TickShares } from '../../core/quota/tick-shares.ts'
import { createHttpServer, httpTimeouts, type StreamDetector } from './http-server.ts'

/** Thrown if the server cannot listen on the port. The message is for the operator. */
class ListenError extends OperatorError {
  override readonly name = 'ListenError'
}

/** Reason and hint for the operator, by error code. */
const sentences: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ['this user may not listen there', 'choose a --port above 1023'],
  EADDRNOTAVAIL: ['this machine does not have this address', 'choose another --host'],
  EAI_AGAIN: ['the name of the host is not known', 'choose another --host'],
  ENOTFOUND: ['the name of the host is not known', 'choose another --host'],
}

function sentenceOf(error: NodeJS.ErrnoException, port: number): readonly [reason: string, hint: string] {
  if (error.code !== 'EADDRINUSE')
    return sentences[error.code ?? ''] ?? [errorMessage(error), 'run weft doctor']
  const found = processOnPort(port)
  const listener = found === null ? 'another process' : `the ${describeProcess(found)}`
  return [`${listener} listens there`, 'stop it, or choose another --port']
}

/** Stands for all targets that are not a path. The router rejects it, because it is not valid percent-encoding. */
const notAPath = '/%'

/**
 * Returns path and query of a request target as the client has sent them, because Express would parse other targets
 * with the deprecated `url.parse`. Dot segments stay, because a proxy may have allowed exactly this path.
 * @param target path, HTTP URL, or another target (`*`, `CONNECT host:443`)
 */
function toPathAndQuery(target: string): string {
  if (/^\/[^#\u00a0]*$/.test(target)) return target
  const [whole, rest = ''] = /^(?:https?:\/\/[^/?#\\]+)?([^#]*)/i.exec(target) ?? ['']
  if (rest.startsWith('/')) return rest.replaceAll('\u00a0', '%A0')
  return rest === whole ? notAPath : `/${rest}`
}

/** The HTTP side of the port. Listens, counts the calls in progress, and stops in two steps. */
export class HttpListener {
  /** The HTTP server. Other code may handle its upgrades. */
  readonly server: Server
  /** Answers a request. Another HTTP server may have received it. */
  readonly handle: RequestListener
  /** Connections of streams, which Node does not close. */
  readonly #streams = new Set<Socket>()
  #answering = 0
  #onIdle: (() => void) | null = null

  constructor(rest: Router, isStream: StreamDetector, shares: TickShares) {
    const streams = this.#streams
    // This is one function for all sockets, because a closure would use memory for each connection.
    function gone(this: Socket): void {
      streams.delete(this)
    }
    this.handle = (request, response) => {
      request.url = toPathAndQuery(request.url ?? '')
      this.#answering += 1
      response.once('close', () => this.#answered())
      if (response instanceof StreamResponse) {
        streams.add(request.socket)
        request.socket.on('close', gone)
      }
      // The router answers each request, so it never calls the last function.
      rest(request as Request, response as Response, () => response.destroy())
    }
    this.server = createHttpServer(this.handle, httpTimeouts, isStream, shares)
  }

  /**
   * Starts to listen; resolves with the port.
   * @throws ListenError
   */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const refused = (error: NodeJS.ErrnoException) => {
        const [reason, hint] = sentenceOf(error, port)
        reject(new ListenError(`cannot listen on ${host}:${port}: ${reason}`, { hint }))
      }
      this.server.once('error', refused)
      this.server.listen({ port, host }, () => {
        this.server.off('error', refused)
        const address = this.server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      })
    })
  }

  /**
   * Resolves when no call is in progress, or after `timeoutMs`. New requests are still accepted meanwhile.
   */
  settle(timeoutMs: number): Promise<void> {
    if (this.#answering === 0) return Promise.resolve()
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Stops listening and closes all connections of requests, including those of streams. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve())
      this.server.closeAllConnections()
      for (const socket of this.#streams) socket.destroy()
    })
  }

  #answered(): void {
    this.#answering -= 1
    if (this.#answering === 0) this.#onIdle?.()
  }
}
