import type { Clock } from '../clock.ts'
import { failureText, NoResponseError } from './delivery-failure.ts'
import { type DestinationPolicy, pinnedLookup } from './destination-policy.ts'
import { type PostRequest, postForStatus } from './http-post.ts'
import { type AttemptLimits, attemptLimits } from './limits.ts'

/** A request to one target. */
export interface OutgoingRequest {
  readonly url: string
  /** Headers in addition to content type, length and user agent. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Outcome of an attempt. `durationMs` is the time in ms from the DNS lookup to the end of the attempt. */
export type AttemptOutcome =
  /** The receiver responded with a 2xx status. */
  | { readonly kind: 'succeeded'; readonly httpStatus: number; readonly durationMs: number }
  /** The receiver responded with another status, or there was no response (`httpStatus` is null). */
  | {
      readonly kind: 'failed'
      readonly httpStatus: number | null
      readonly durationMs: number
      readonly error: string
    }
  /** The receiver responded with 410: it does not want further messages. */
  | { readonly kind: 'gone'; readonly httpStatus: 410; readonly durationMs: number }
  /** The server stopped during the attempt, so the outcome does not concern the receiver. */
  | { readonly kind: 'interrupted' }

export interface AttemptOptions {
  readonly destinations: DestinationPolicy
  readonly clock: Clock
  readonly limits?: AttemptLimits
  /** Certificate authorities (PEM) to trust instead of those that Node trusts. */
  readonly authorities?: string
}

/**
 * Makes single attempts. Each attempt is one POST on its own connection, which is closed at the end of the
 * attempt. Redirects are not followed. Only the status of the response counts; the body is discarded.
 */
export class AttemptSender {
  readonly #options: AttemptOptions
  readonly #limits: AttemptLimits

  constructor(options: AttemptOptions) {
    this.#options = options
    this.#limits = options.limits ?? attemptLimits
  }

  /**
   * Makes an attempt. The promise never rejects: failures are outcomes.
   * @param stop aborts the attempt
   */
  async make(delivery: OutgoingRequest, stop: AbortSignal): Promise<AttemptOutcome> {
    if (stop.aborted) return { kind: 'interrupted' }
    const { clock } = this.#options
    const startedAt = clock.now()
    const end = new AbortController()
    const interrupt = (): void => end.abort(new NoResponseError('the server is stopping'))
    stop.addEventListener('abort', interrupt, { once: true })
    const disarm = clock.after(this.#limits.deadlineMs, () => end.abort(this.#timeout()))
    try {
      const status = await this.#send(delivery, end.signal)
      return outcomeOf(status, clock.now() - startedAt)
    } catch (error) {
      if (stop.aborted) return { kind: 'interrupted' }
      return failed(null, clock.now() - startedAt, failureText(error))
    } finally {
      disarm()
      stop.removeEventListener('abort', interrupt)
    }
  }

  #timeout(): NoResponseError {
    return new NoResponseError(`no answer within ${this.#limits.deadlineMs / 1000} s`)
  }

  async #send(delivery: OutgoingRequest, signal: AbortSignal): Promise<number> {
    const url = urlOf(delivery.url)
    this.#checkSize(delivery)
    const destination = await unlessAborted(this.#options.destinations.of(url), signal)
    if (destination.kind === 'refused') throw new NoResponseError(destination.problem)
    const call: PostRequest = {
      ...delivery,
      url,
      host: destination.host,
      lookup: pinnedLookup(destination.addresses),
      authorities: this.#options.authorities,
    }
    return postForStatus(call, { signal, limits: this.#limits, clock: this.#options.clock })
  }

  #checkSize({ headers, body }: OutgoingRequest): void {
    const { bodyBytesMax, headerBytesMax } = this.#limits
    if (body.byteLength > bodyBytesMax)
      throw new NoResponseError(`the payload has more than ${bodyBytesMax} bytes`)
    if (Buffer.byteLength(Object.entries(headers).flat().join()) > headerBytesMax)
      throw new NoResponseError(`the headers have more than ${headerBytesMax} bytes`)
  }
}

function outcomeOf(httpStatus: number, durationMs: number): AttemptOutcome {
  if (httpStatus >= 200 && httpStatus < 300) return { kind: 'succeeded', httpStatus, durationMs }
  if (httpStatus === 410) return { kind: 'gone', httpStatus, durationMs }
  const more = httpStatus >= 300 && httpStatus < 400 ? '; redirects are not followed' : ''
  return failed(httpStatus, durationMs, `the receiver answered ${httpStatus}${more}`)
}

const failed = (httpStatus: number | null, durationMs: number, error: string): AttemptOutcome => ({
  kind: 'failed',
  httpStatus,
  durationMs,
  error,
})

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
