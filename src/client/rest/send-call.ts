import { pauseAfter } from '../../core/base/backoff.ts'
import type { CallOptions, OperationEntry } from '../api/methods.ts'
import type { Result, WeftFailure } from '../api/result.ts'
import type { Settings } from './client-options.ts'
import { Deadline, pause } from './deadline.ts'
import { clientFailure, failureOfEnd, readBodyText, resultOf, retryAfterOf } from './read-response.ts'

/** Pauses before retries if the server names no time. */
const retryPauses = { firstMs: 200, maxMs: 10_000 }

/**
 * Codes of ABORTED and INVALID_ARGUMENT after which the same call can succeed. All of them mean that the server
 * has not executed the call, or that it is still running.
 */
const passingCodes: readonly string[] = [
  'request/conflict',
  'request/timeout',
  'crdt/document-changed',
  'idempotency/in-progress',
]

/** Status codes of proxies after which the same call can succeed, if the body is not from Weft. */
const passingHttpCodes: readonly number[] = [408, 425, 429, 500, 502, 503, 504]

/** The result of one attempt. */
interface Outcome {
  readonly result: Result<unknown>
  /**
   * Whether the same call can succeed later; a number is the time in seconds that the server names. A call that
   * was perhaps executed is repeated too, because it has no second effect then: it only reads, is repeatable, or has an
   * idempotency key.
   */
  readonly retry: boolean | number
}

/** Makes a call, and repeats it while it can succeed later. */
export async function sendCall(
  settings: Settings,
  operation: OperationEntry,
  data: object,
  { idempotencyKey, signal, timeoutMs = settings.timeoutMs }: CallOptions,
): Promise<Result<unknown>> {
  const key = idempotencyKey ?? (needsKey(operation) ? crypto.randomUUID() : undefined)
  const init = {
    method: 'POST',
    // A redirect would drop the body, or send the credentials to another host.
    redirect: 'manual',
    headers: {
      ...settings.credentials,
      'content-type': 'application/json',
      ...(key !== undefined && operation.effect !== 'reads' && { 'idempotency-key': key }),
    },
    body: JSON.stringify({ data }),
  } as const
  const deadline = new Deadline(timeoutMs, signal)
  try {
    for (let made = 0; ; made++) {
      const { result, retry } = await attempt(settings, operation, init, deadline)
      if (retry === false || made >= settings.retries) return result
      const waitMs =
        typeof retry === 'number' ? retry * 1000 + Math.random() * 100 : pauseAfter(retryPauses, made + 1)
      if (waitMs > settings.retryAfterMaxSeconds * 1000 + 100 || !deadline.hasTimeFor(waitMs)) return result
      await pause(waitMs, deadline.signal)
    }
  } finally {
    deadline.close()
  }
}

/** Returns whether a repeated call could have a second effect without an idempotency key. */
const needsKey = ({ effect }: OperationEntry): boolean => effect === 'once' || effect === 'adds'

async function attempt(
  { url, fetch, responseBytesMax }: Settings,
  operation: OperationEntry,
  init: RequestInit,
  deadline: Deadline,
): Promise<Outcome> {
  const { path } = operation
  let response: Response
  let text: string | null
  try {
    deadline.signal.throwIfAborted()
    response = await fetch(url + path, { ...init, signal: deadline.signal })
    text = await readBodyText(response, responseBytesMax)
  } catch (error) {
    if (deadline.ended !== null) return final(failureOfEnd(deadline))
    const message = `no complete response from ${url}${path}: ${reasonOf(error)}`
    return { result: clientFailure('client/unreachable', message), retry: true }
  }
  if (text === null)
    return final(invalidResponse(`the response is larger than ${responseBytesMax} bytes (responseBytesMax)`))
  const result = resultOf(operation, response, text)
  if (result !== null) return { result, retry: result.ok ? false : retryOf(result.error) }
  const { status, type } = response
  if (type === 'opaqueredirect' || (status >= 300 && status < 400))
    return final(invalidResponse(`${url} redirects; use the address to which it redirects`))
  const failure = invalidResponse(`the response with HTTP status ${status} is not from Weft`)
  return { result: failure, retry: passingHttpCodes.includes(status) && (retryAfterOf(response) ?? true) }
}

const final = (result: Result<unknown>): Outcome => ({ result, retry: false })

const invalidResponse = (message: string) => clientFailure('client/invalid-response', message)

/** Returns whether, or after how many seconds, the same call can succeed. */
function retryOf({ status, code, retryAfterSeconds }: WeftFailure): boolean | number {
  const isPassing =
    status === 'UNAVAILABLE' ||
    // Without a time, the limit does not pass, such as the size of a response.
    (status === 'RESOURCE_EXHAUSTED' && retryAfterSeconds !== undefined) ||
    passingCodes.includes(code)
  return isPassing && (retryAfterSeconds ?? true)
}

/** Returns the message of a failed request. The errors of `fetch` in Node have the reason in their cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
