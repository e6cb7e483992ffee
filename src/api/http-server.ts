import { randomUUID } from 'node:crypto'
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, invalid } from '../errors.ts'
import { errorBody } from './envelope.ts'
import { refuse } from './request.ts'

/** Times, in ms, within which a client must have said what it wants; Node's own are minutes. */
export const httpTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2000,
  /** Longer than proxies keep idle connections (60 s), so that they end them, not we under a request. */
  keepAliveTimeout: 65_000,
}
const headerBytesMax = 32_768

/** Answers by parser error code; every other error of the parser is a malformed request. */
const parserErrors: Readonly<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: new ApiError(
    'INVALID_ARGUMENT',
    `the headers are larger than ${headerBytesMax} bytes`,
    {
      httpCode: 431,
    },
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new ApiError('INVALID_ARGUMENT', 'the chunk extensions are too large', {
    httpCode: 413,
  }),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('INVALID_ARGUMENT', 'the request took too long', { httpCode: 408 }),
}

/**
 * Node takes every request that offers an upgrade for an upgrade as soon as anybody listens for one; some clients offer
 * HTTP/2 with every call. Only websockets are upgraded here, the rest is answered as if nothing had been offered.
 */
class HttpRequest extends IncomingMessage {
  get upgrade(): boolean {
    return this.method === 'GET' && this.headers.upgrade?.toLowerCase() === 'websocket'
  }

  /** Node tells what it has found; what counts is above. */
  set upgrade(_found: boolean) {}
}

const unmetExpectation = new ApiError('INVALID_ARGUMENT', 'Expect can only be 100-continue', {
  httpCode: 417,
})

/** A server that answers in the envelope also what never becomes a request, and survives every socket error. */
export function createHttpServer(handle: RequestListener, timeouts = httpTimeouts): Server {
  /** The answer that each connection is waiting for or getting. */
  const answering = new WeakMap<Socket, ServerResponse>()
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answering.set(request.socket, response)
    if (request.headers.host !== undefined || request.httpVersion === '1.0') handle(request, response)
    else refuse(request, response, invalid('the Host header is missing'))
  }
  const server = createServer(
    { ...timeouts, maxHeaderSize: headerBytesMax, requireHostHeader: false, IncomingMessage: HttpRequest },
    listener,
  )
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuse(request, response, unmetExpectation)
  })
  server.on('connection', (socket) => socket.on('error', () => socket.destroy()))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || answering.get(socket)?.headersSent) socket.destroy()
    else socket.end(rawAnswer(parserErrors[error.code ?? ''] ?? invalid('the request is not valid HTTP')))
  })
  return server
}

/** The bytes of an answer, where Node has no response object for it. */
function rawAnswer(error: ApiError): string {
  const body = JSON.stringify(errorBody(error))
  const head = [
    `HTTP/1.1 ${error.httpCode} Error`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
