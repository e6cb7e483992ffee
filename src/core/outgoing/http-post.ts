import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overTls, type RequestOptions } from 'node:https'
import type { LookupFunction, TcpNetConnectOpts } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { GrowingBytes } from '../quota/growing-bytes.ts'
import {
  type BudgetedReader,
  newTickBudget,
  type PausableReader,
  pieceCostBytes,
  type TickBudget,
  TickShares,
} from '../quota/tick-shares.ts'
import { NoResponseError } from './no-response-error.ts'

/** Limits of one request. */
export interface PostSizeLimits {
  /** Maximum time in ms from the DNS lookup to the status of the response. */
  readonly deadlineMs: number
  /**
   * Maximum time in ms for reading and discarding the remainder of the response, so that the receiver can
   * finish writing.
   */
  readonly drainMs: number
  /**
   * Maximum bytes to read of the body of the response. After these bytes, the connection is closed, and a
   * requested body is rejected.
   */
  readonly answerBytesMax: number
  readonly answerHeaderBytesMax: number
  /** Maximum number of interim responses (1xx) before the final one. */
  readonly interimAnswersMax: number
  /** Maximum bytes of a request body. A larger body is not sent. */
  readonly bodyBytesMax: number
  /** Maximum total length of the names and values of the given request headers. */
  readonly headerBytesMax: number
}

export const postLimits: PostSizeLimits = {
  deadlineMs: 15_000,
  drainMs: 1_000,
  answerBytesMax: 65_536,
  answerHeaderBytesMax: 16_384,
  interimAnswersMax: 16,
  bodyBytesMax: 16 * 2 ** 20,
  headerBytesMax: 8_192,
}

/** A request whose destination has been checked. */
interface PostRequest {
  readonly url: URL
  /** The host of the URL. It has been checked. */
  readonly host: string
  readonly lookup: LookupFunction
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly authorities: string | undefined
}

interface PostLimits {
  /** Aborts the request. */
  readonly signal: AbortSignal
  readonly limits: PostSizeLimits
  readonly clock: Clock
  readonly pacer: ResponsePacer
}

/**
 * Time in ms for connecting to one of several addresses before the next address is tried. The default of
 * Node, 250 ms, is too short for distant receivers.
 */
const addressMs = 2_000

/** Maximum cost of the chunks of a response, as a multiple of the maximum of its bytes (see `pieceCostBytes`). */
const costFactorMax = 4

/** The response of a receiver. */
export interface PostResponse {
  readonly status: number
  /** The body; null if it was not requested, or if the status is not 2xx. */
  readonly body: Uint8Array | null
}

/**
 * Posts the body. Resolves with the response when the connection is closed or was aborted. Rejects if no status
 * was received, or if a requested body is incomplete or longer than the limit.
 * @param reads `status`: the body of the response is discarded. `body`: the body of a 2xx response is returned
 */
export async function post(
  call: PostRequest,
  bounds: PostLimits,
  reads: 'status' | 'body',
): Promise<PostResponse> {
  const { signal } = bounds
  signal.throwIfAborted()
  const request = opened(call, bounds.limits)
  const cutOff = (): void => void request.destroy(signal.reason as Error)
  signal.addEventListener('abort', cutOff, { once: true })
  try {
    return await answerOf(request, call.body, bounds, reads)
  } finally {
    signal.removeEventListener('abort', cutOff)
    request.destroy()
  }
}

/**
 * Opens the request without an agent. An agent would keep connections alive, and such a connection could lead
 * to a receiver that has stopped or moved.
 */
function opened(
  { url, host, lookup, headers, body, authorities }: PostRequest,
  limits: PostSizeLimits,
): ClientRequest {
  const options: RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'> = {
    method: 'POST',
    host,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    lookup,
    agent: false,
    autoSelectFamilyAttemptTimeout: addressMs,
    maxHeaderSize: limits.answerHeaderBytesMax,
    headers: {
      ...headers,
      host: url.host,
      'content-type': 'application/json',
      'content-length': body.byteLength,
      'user-agent': 'Weft',
    },
  }
  if (url.protocol === 'http:') return overHttp(options)
  return overTls({ ...options, rejectUnauthorized: true, ...(authorities && { ca: authorities }) })
}

function answerOf(
  request: ClientRequest,
  body: Uint8Array,
  bounds: PostLimits,
  reads: 'status' | 'body',
): Promise<PostResponse> {
  const { interimAnswersMax } = bounds.limits
  return new Promise((resolve, reject) => {
    let interim = 0
    // This listener is never removed: an error after the response must not end the process.
    request.on('error', reject)
    request.on('close', () => reject(new NoResponseError('the connection was closed before the answer')))
    // The first response settles the promise. Later errors of the connection have no effect.
    request.on('response', (response) =>
      resolve(
        reads === 'body' && isSuccess(response.statusCode ?? 0)
          ? collected(response, bounds)
          : drained(response, bounds),
      ),
    )
    request.on('upgrade', (_response, socket) => {
      reject(new NoResponseError('the receiver requires another protocol'))
      // The request no longer handles errors of this socket. Without this listener, such an error would end
      // the process.
      socket.on('error', () => {}).destroy()
    })
    request.on('information', () => {
      interim += 1
      if (interim > interimAnswersMax) request.destroy(new NoResponseError('too many interim answers'))
    })
    request.end(body)
  })
}

/**
 * Reads the remainder of the response up to the limits, so that the receiver can finish writing. Resolves
 * with the status.
 */
function drained(response: IncomingMessage, { limits, clock }: PostLimits): Promise<PostResponse> {
  return new Promise((resolve) => {
    const meter = new ResponseMeter(limits.answerBytesMax)
    const disarm = clock.after(limits.drainMs, () => response.destroy())
    response.on('error', () => {})
    response.on('close', () => {
      disarm()
      resolve({ status: response.statusCode ?? 0, body: null })
    })
    response.on('data', (chunk: Buffer) => {
      meter.count(chunk)
      if (meter.problem !== null) response.destroy()
    })
  })
}

/** Thrown if a requested body is longer than the limit, or has too many chunks. */
export class ResponseTooLargeError extends NoResponseError {}

/** Returns whether a status is 2xx. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Reads the body of the response. Rejects if the body is incomplete, or exceeds the limit for bytes or for chunks. */
function collected(response: IncomingMessage, { limits, signal, pacer }: PostLimits): Promise<PostResponse> {
  return new Promise((resolve, reject) => {
    const reader = pacer.enter(response)
    const meter = new ResponseMeter(limits.answerBytesMax)
    const body = new GrowingBytes(limits.answerBytesMax)
    response.on('error', () => {})
    response.on('data', (chunk: Buffer) => {
      meter.count(chunk)
      if (meter.problem !== null) {
        response.destroy()
        return reject(new ResponseTooLargeError(meter.problem))
      }
      body.add(chunk)
      pacer.count(reader)
    })
    response.on('close', () => {
      pacer.leave(reader)
      if (response.complete) resolve({ status: response.statusCode ?? 0, body: body.take() })
      else
        reject(
          signal.aborted
            ? (signal.reason as Error)
            : new NoResponseError('the connection was closed before the end of the answer'),
        )
    })
  })
}

/** A response that is read in the shares of its sender. */
class PacedResponse implements BudgetedReader {
  /** All responses of a sender wait in one queue. */
  readonly workspaceId = ''
  readonly budget: TickBudget
  readonly sharers: ReadonlySet<PausableReader>
  readonly #response: IncomingMessage

  constructor(response: IncomingMessage, budget: TickBudget, sharers: ReadonlySet<PausableReader>) {
    this.#response = response
    this.budget = budget
    this.sharers = sharers
  }

  pauseReading(): void {
    this.#response.pause()
    // Otherwise Node would go on reading the connection until it keeps 16 KB of the body.
    this.#response.socket.pause()
  }

  resumeReading(): void {
    this.#response.resume()
    this.#response.socket.resume()
  }
}

/**
 * Reads the responses of one sender in shares: together they have one budget for each tick of the event loop, because a
 * receiver can send each of them in small chunks.
 */
export class ResponsePacer {
  readonly #shares = new TickShares()
  readonly #budget = newTickBudget()
  readonly #responses = new Set<PausableReader>()

  enter(response: IncomingMessage): PacedResponse {
    const reader = new PacedResponse(response, this.#budget, this.#responses)
    this.#responses.add(reader)
    this.#shares.enter(reader)
    return reader
  }

  leave(reader: PacedResponse): void {
    this.#responses.delete(reader)
    this.#shares.forget(reader)
  }

  /** Counts a chunk of a response. */
  count(reader: PacedResponse): void {
    this.#shares.count(reader, 1)
  }
}

/** Counts what a receiver sends as the body of a response. */
class ResponseMeter {
  readonly #bytesMax: number
  #bytes = 0
  chunks = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The limit that the response exceeds; null if it exceeds none. */
  get problem(): string | null {
    if (this.#bytes > this.#bytesMax) return `the answer has more than ${this.#bytesMax} bytes`
    const chunksMax = Math.floor((this.#bytesMax * costFactorMax) / pieceCostBytes)
    return this.chunks > chunksMax ? `the answer has more than ${chunksMax} chunks: send larger ones` : null
  }

  count(chunk: Buffer): void {
    this.#bytes += chunk.length
    this.chunks += 1
  }
}
