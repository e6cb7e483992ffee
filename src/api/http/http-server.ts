import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, invalid } from '../../errors.ts'
import { rawResponse } from '../../model/raw-response.ts'
import { RequestPipeline } from './request-pipeline.ts'
import { rejectRequest } from './request-setup.ts'

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
    'request/headers-too-large',
    `the headers are larger than ${headerBytesMax} bytes; send fewer`,
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new ApiError(
    'request/chunk-extensions-too-large',
    'the chunk extensions are too large; send none',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('request/timeout', 'the request took too long; try again'),
}

const malformedRequest = invalid('request/malformed', 'the request is not valid HTTP; use an HTTP library')

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

const unmetExpectation = new ApiError('request/expectation-unsupported', 'Expect can only be 100-continue')

const tooManyHeaders = new ApiError(
  'request/headers-too-large',
  `there are more than ${headersMax} headers; send fewer`,
)

/**
 * A server that answers in the envelope also what never becomes a request, and survives every socket error. Who listens
 * for upgrades must leave a socket alone that is destroyed: its upgrade came before an answer that was asked for.
 */
export function createHttpServer(
  handle: RequestListener,
  { silenceTimeout, ...timeouts } = httpTimeouts,
): Server {
  const exchanges = new RequestPipeline()
  const answer: RequestListener = (request, response) => {
    const problem = problemOf(request)
    if (problem === null) handle(request, response)
    else rejectRequest(request, response, problem)
  }
  const server = createServer(
    { ...timeouts, maxHeaderSize: headerBytesMax, requireHostHeader: false, IncomingMessage: HttpRequest },
    (request, response) => exchanges.take(request, response, answer),
  )
  server.setTimeout(silenceTimeout)
  // Node would leave out what is beyond its number, and tell nobody.
  server.maxHeadersCount = 0
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.take(request, response, () => rejectRequest(request, response, unmetExpectation))
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => {
    if (!exchanges.isNext(socket)) socket.destroy()
  })
  server.on('connection', (socket) => socket.on('error', destroyFailed))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || !exchanges.isNext(socket)) socket.destroy()
    else socket.end(rawResponse(parserErrors[error.code ?? ''] ?? malformedRequest))
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
  if (headers.host === undefined && httpVersion !== '1.0')
    return invalid('request/malformed', 'the Host header is missing; send it')
  return null
}
