import type { Clock } from '../base/clock.ts'
import { currentTrace } from '../base/current-trace.ts'
import { toTraceHeaders } from '../base/trace-context.ts'
import { type DestinationPolicy, pinnedLookup } from './destination-policy.ts'
import {
  type PostResponse,
  type PostSizeLimits,
  post,
  postLimits,
  ResponsePacer,
  ResponseTooLargeError,
} from './http-post.ts'
import { NoResponseError } from './no-response-error.ts'

/** A request to a receiver that an API key has configured. */
export interface OutgoingRequest {
  readonly url: string
  /** Headers in addition to content type, length and user agent. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface SenderOptions {
  readonly destinations: DestinationPolicy
  readonly clock: Clock
  readonly limits?: PostSizeLimits
  /** Certificate authorities (PEM) to trust instead of those that Node trusts. */
  readonly authorities?: string
  /** Functions that get the requests with these URLs, instead of a connection. */
  readonly receivers?: LocalReceivers | undefined
}

/**
 * Functions of this process that receive requests, by the URL of their requests. A function gets the body of the
 * request, and returns the body of the response. A response with an error has no other form than a rejection.
 */
export type LocalReceivers = ReadonlyMap<string, (body: Uint8Array) => Promise<Uint8Array>>

/** Options of one request. */
interface SendOptions {
  /** Aborts the request. */
  readonly stop: AbortSignal
  /** Default: `status`. See `post`. */
  readonly reads?: 'status' | 'body'
  /** Maximum time in ms from the DNS lookup to the end of the response. Default: the one of the limits. */
  readonly deadlineMs?: number
  /** Maximum bytes of the body of the response. Default: the ones of the limits. */
  readonly answerBytesMax?: number
}

/**
 * Sends single POST requests to destinations that are checked first. Each request has its own connection, which
 * is closed at the end, and the headers of the current trace. Redirects are not followed.
 */
export class CheckedSender {
  readonly #options: SenderOptions
  readonly #limits: PostSizeLimits
  readonly #pacer = new ResponsePacer()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#limits = options.limits ?? postLimits
  }

  /**
   * Sends a request. Rejects if there was no response: `failureText` then describes the reason.
   * @throws NoResponseError or an error of the connection
   */
  async send(request: OutgoingRequest, options: SendOptions): Promise<PostResponse> {
    const { stop, deadlineMs = this.#limits.deadlineMs } = options
    const end = new AbortController()
    const interrupt = (): void => end.abort(new NoResponseError('the server is stopping'))
    if (stop.aborted) interrupt()
    stop.addEventListener('abort', interrupt, { once: true })
    const disarm = this.#options.clock.after(deadlineMs, () => end.abort(timeout(deadlineMs)))
    try {
      return await this.#post(withTraceHeaders(request), options, end.signal)
    } finally {
      disarm()
      stop.removeEventListener('abort', interrupt)
    }
  }

  async #post(
    request: OutgoingRequest,
    { reads = 'status', answerBytesMax = this.#limits.answerBytesMax }: SendOptions,
    signal: AbortSignal,
  ): Promise<PostResponse> {
    const { destinations, clock, authorities, receivers } = this.#options
    signal.throwIfAborted()
    this.#checkSize(request)
    const receiver = receivers?.get(request.url)
    if (receiver !== undefined)
      return responseOf(await unlessAborted(receiver(request.body), signal), answerBytesMax)
    const url = urlOf(request.url)
    const destination = await unlessAborted(destinations.of(url), signal)
    if (destination.kind === 'refused') throw new NoResponseError(destination.problem)
    const { host, addresses } = destination
    const call = { ...request, url, host, lookup: pinnedLookup(addresses), authorities }
    const limits = { ...this.#limits, answerBytesMax }
    return post(call, { signal, limits, clock, pacer: this.#pacer }, reads)
  }

  #checkSize({ headers, body }: OutgoingRequest): void {
    const { bodyBytesMax, headerBytesMax } = this.#limits
    if (body.byteLength > bodyBytesMax)
      throw new NoResponseError(`the payload has more than ${bodyBytesMax} bytes`)
    if (Buffer.byteLength(Object.entries(headers).flat().join()) > headerBytesMax)
      throw new NoResponseError(`the headers have more than ${headerBytesMax} bytes`)
  }
}

/** Adds the headers of the current trace to a request, if there is one. */
function withTraceHeaders(request: OutgoingRequest): OutgoingRequest {
  const trace = currentTrace()
  if (trace === undefined) return request
  return { ...request, headers: { ...request.headers, ...toTraceHeaders(trace.context) } }
}

/** Thrown if a request had no response within its deadline. */
export class ResponseTimeoutError extends NoResponseError {}

const timeout = (deadlineMs: number): NoResponseError =>
  new ResponseTimeoutError(`no answer within ${deadlineMs / 1000} s`)

/** @throws ResponseTooLargeError */
function responseOf(body: Uint8Array, bytesMax: number): PostResponse {
  if (body.byteLength > bytesMax)
    throw new ResponseTooLargeError(`the answer has more than ${bytesMax} bytes`)
  return { status: 200, body }
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new NoResponseError('the URL is not valid')
  return new URL(text)
}

/**
 * Resolves like `promise`, but rejects as soon as `signal` aborts. Needed for DNS lookups, which cannot be
 * canceled and may never end.
 */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    promise.then(resolve, reject)
  })
}
