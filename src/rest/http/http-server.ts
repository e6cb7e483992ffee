import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, invalid } from '../../core/base/errors.ts'
import { StreamResponse } from '../../core/base/event-stream.ts'
import { memoized } from '../../core/base/maps.ts'
import { rawResponse } from '../../core/model/raw-response.ts'
import { timedRequests } from '../../core/quota/slow-transfers.ts'
import { TickShares } from '../../core/quota/tick-shares.ts'
import { rejectRequest } from './envelope.ts'
import { ConnectionPacer, PacedRequest } from './paced-request.ts'

/**
 * Times in ms within which a client must send its request. The defaults of Node are much longer (minutes).
 */
export const httpTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2000,
  /**
   * Must be longer than the time for which proxies keep idle connections (60 s). The proxy must close first.
   * Otherwise the proxy could send a request to a socket that the server has just closed.
   */
  keepAliveTimeout: 65_000,
  /**
   * Maximum time in ms without a byte in either direction. Then the connection is closed, because its client
   * does not read. The time is longer than any call takes.
   */
  silenceTimeout: 120_000,
}
const headerBytesMax = 32_768
/** Maximum number of headers: several times the number that browsers and proxies send together. */
const headersMax = 200

/**
 * Error responses by the error code of the HTTP parser. Every other error of the parser is a malformed
 * request.
 */
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

const isWebsocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** Calls `fn` for each request for a websocket, with the connection and the bytes after the request. */
export function onWebsocket(
  server: Server,
  fn: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): void {
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    if (isWebsocket(request)) fn(request, socket, head)
  })
}

const unmetExpectation = new ApiError(
  'request/expectation-unsupported',
  'the Expect header can only be 100-continue; leave it out',
)

const tooManyHeaders = new ApiError(
  'request/headers-too-large',
  `there are more than ${headersMax} headers; send fewer`,
)

/**
 * Returns whether the response to a GET is a stream that may be open for hours. Node then frees its parser, as for a
 * websocket, and the connection ends with the response.
 */
export type StreamDetector = (request: IncomingMessage) => boolean

const noStreams: StreamDetector = () => false

/**
 * Creates a server that survives all socket errors. It also uses the response envelope for requests that Node
 * rejects. An upgrade listener must ignore destroyed sockets, because their upgrade arrived before the
 * response to an earlier request was sent.
 */
export function createHttpServer(
  handle: RequestListener,
  { silenceTimeout, ...timeouts } = httpTimeouts,
  isStream = noStreams,
  shares = new TickShares(),
): Server {
  const pacer = new ConnectionPacer(shares)
  // This is one function for all sockets, because a closure would use memory for each connection.
  function gone(this: Socket): void {
    pacer.remove(this)
  }
  /**
   * A request for which Node frees its parser only if it asks for a websocket or a stream. If a server has a listener
   * for upgrades, Node treats every request that offers an upgrade as an upgrade, and some clients offer HTTP/2 with
   * every call. This server answers such requests as if they had no offer.
   */
  class HttpRequest extends PacedRequest {
    protected readonly pacer = pacer

    get upgrade(): boolean {
      return isWebsocket(this) || (this.method === 'GET' && isStream(this))
    }

    /** Ignores the value that Node sets; the getter decides. */
    set upgrade(_found: boolean) {}
  }
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
  // Disables the limit of Node, which would silently drop further headers.
  server.maxHeadersCount = 0
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.take(request, response, () => rejectRequest(request, response, unmetExpectation))
  })
  server.on('upgrade', (request: IncomingMessage, _socket: Duplex, head: Buffer) => {
    const { socket } = request
    pacer.remove(socket)
    if (!exchanges.isNext(socket)) socket.destroy()
    else if (!isWebsocket(request)) answerLast(request, head, answer)
  })
  server.on('connection', (socket) => {
    pacer.add(socket)
    socket.on('error', destroyFailed)
    socket.on('close', gone)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && exchanges.isTimed(socket)) return
    if (!socket.writable || !exchanges.isNext(socket)) socket.destroy()
    else socket.end(rawResponse(parserErrors[error.code ?? ''] ?? malformedRequest))
  })
  return server
}

/**
 * Destroys a socket after an error, or when it must not continue. This is one function for all sockets, because
 * a closure would use memory for each socket.
 */
function destroyFailed(this: Socket): void {
  this.destroy()
}

/** Answers a request whose connection Node has released. */
function answerLast(request: IncomingMessage, head: Buffer, answer: RequestListener): void {
  const { socket } = request
  socket.on('timeout', destroyFailed)
  socket.on('end', destroyFailed)
  // A client must wait for the response before it sends another request, and then needs another connection.
  socket.on('data', destroyFailed)
  if (head.length > 0) return void socket.destroy()
  const response = new StreamResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => socket.destroySoon())
  answer(request, response)
}

/** Returns the problem with a request's headers that Node does not detect; null if there is none. */
function problemOf({ headers, rawHeaders, httpVersion }: IncomingMessage): ApiError | null {
  // The array contains names and values alternately.
  if (rawHeaders.length > headersMax * 2) return tooManyHeaders
  if (headers.host === undefined && httpVersion !== '1.0')
    return invalid('request/malformed', 'the Host header is missing; send it')
  return null
}

/** Maximum number of requests that wait on one connection. Browsers and proxies do not pipeline requests. */
const waitingMax = 16

/** Number of chunks that a request which waits on its connection takes as long as. */
const waitingPieces = 10

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly handle: RequestListener
}

/**
 * Answers the requests of each connection one at a time. Node emits all pipelined requests immediately. With
 * a few KB of requests, a client that reads no response could therefore make the server create and keep all
 * the responses.
 */
class RequestPipeline {
  /** Unanswered requests, by connection. The first request of each list is in progress. */
  readonly #unanswered = new WeakMap<Socket, Exchange[]>()

  /**
   * Calls `handle` when all earlier requests on the connection are answered. Closes the connection if too
   * many requests wait.
   */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const { socket } = request
    if (socket.destroyed) return
    if (request instanceof PacedRequest) response.once('prefinish', () => request.discardRest())
    const exchanges = memoized(this.#unanswered, socket, (): Exchange[] => [])
    exchanges.push({ request, response, handle })
    if (exchanges.length > waitingMax + 1) socket.destroy()
    else if (exchanges.length === 1) this.#answerFirst(exchanges)
    else if (request instanceof PacedRequest) request.countPieces(waitingPieces)
  }

  /**
   * Returns whether the server may respond to bytes that are not a request. It may not respond while other
   * requests wait for a response, because the client would assign the response to the wrong request.
   * Otherwise the bytes belong to a request whose end is missing.
   */
  isNext(socket: Socket): boolean {
    const [first, ...others] = this.#unanswered.get(socket) ?? []
    if (first === undefined) return true
    return others.length === 0 && !first.request.complete && !first.response.headersSent
  }

  /** Returns whether the request in progress has its own time limit. */
  isTimed(socket: Socket): boolean {
    const first = this.#unanswered.get(socket)?.[0]
    return first !== undefined && timedRequests.has(first.request)
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
