import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, invalid } from '../errors.ts'
import { rawAnswer } from '../model/raw-answer.ts'
import { Exchanges } from './exchanges.ts'
import { refuse } from './request.ts'

/** Times, in ms, within which a client must have said what it wants; Node's own are minutes. */
export const httpTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2000,
  /** Longer than proxies keep idle connections (60 s), so that they end them, not we under a request. */
  keepAliveTimeout: 65_000,
  /** Without a byte in either direction: longer than any call takes, so that it ends those who don't read. */
  silenceTimeout: 120_000,
}
const headerBytesMax = 32_768
/** Several times what browsers and proxies send together. */
const headersMax = 200

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

const tooManyHeaders = new ApiError('INVALID_ARGUMENT', `there are more than ${headersMax} headers`, {
  httpCode: 431,
})

/**
 * A server that answers in the envelope also what never becomes a request, and survives every socket error. Who listens
 * for upgrades must leave a socket alone that is destroyed: its upgrade came before an answer that was asked for.
 */
export function createHttpServer(
  handle: RequestListener,
  { silenceTimeout, ...timeouts } = httpTimeouts,
): Server {
  const exchanges = new Exchanges()
  const answer: RequestListener = (request, response) => {
    const problem = problemOf(request)
    if (problem === null) handle(request, response)
    else refuse(request, response, problem)
  }
  const server = createServer(
    { ...timeouts, maxHeaderSize: headerBytesMax, requireHostHeader: false, IncomingMessage: HttpRequest },
    (request, response) => exchanges.take(request, response, answer),
  )
  server.setTimeout(silenceTimeout)
  // Node would leave out what is beyond its number, and tell nobody.
  server.maxHeadersCount = 0
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.take(request, response, () => refuse(request, response, unmetExpectation))
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    if (!exchanges.isNext(socket)) socket.destroy()
  })
  server.on('connection', (socket) => socket.on('error', destroyFailed))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || !exchanges.isNext(socket)) socket.destroy()
    else socket.end(rawAnswer(parserErrors[error.code ?? ''] ?? invalid('the request is not valid HTTP')))
  })
  return server
}

/** The same function for all sockets: one of its own would be kept as long as each. */
function destroyFailed(this: Socket): void {
  this.destroy()
}

/** What is wrong with the headers of a request that Node takes; null when nothing is. */
function problemOf({ headers, rawHeaders, httpVersion }: IncomingMessage): ApiError | null {
  // Names and values, one after the other.
  if (rawHeaders.length > headersMax * 2) return tooManyHeaders
  if (headers.host === undefined && httpVersion !== '1.0') return invalid('the Host header is missing')
  return null
}
