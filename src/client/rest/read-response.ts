import type { ClientErrorCode, WeftErrorCode, WeftStatus } from '../api/codes.ts'
import type { OperationEntry } from '../api/methods.ts'
import type { Result, WeftFailure } from '../api/result.ts'
import type { Deadline } from './deadline.ts'

/**
 * Reads a body as text.
 * @returns null if the body has more than `bytesMax` bytes
 * @throws Error if the connection ends before the body does
 */
export async function readBodyText(
  { body }: Pick<Response, 'body'>,
  bytesMax: number,
): Promise<string | null> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > bytesMax) {
      // The result is known, so a failure of the rest does not matter.
      reader.cancel().catch(() => {})
      return null
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Returns a failed result without a response of the server. */
export const clientFailure = (code: ClientErrorCode, message: string): Result<never, ClientErrorCode> => ({
  ok: false,
  error: { code, status: clientStatus[code], message },
})

const clientStatus: Readonly<Record<ClientErrorCode, WeftStatus>> = {
  'client/unreachable': 'UNAVAILABLE',
  'client/timeout': 'UNAVAILABLE',
  'client/aborted': 'CANCELLED',
  'client/invalid-response': 'UNAVAILABLE',
}

/** Returns the result of a call that has ended before its response. */
export const failureOfEnd = ({ ended }: Deadline): Result<never, ClientErrorCode> =>
  ended === 'aborted'
    ? clientFailure('client/aborted', 'the caller aborted the call')
    : clientFailure('client/timeout', 'there was no response in time')

/** What the result needs of a response besides its body. */
interface Received {
  readonly ok: boolean
  readonly headers: Pick<Headers, 'get'>
}

/** Returns the result in a body; null if the body is not a response of Weft. */
export function resultOf({ bare }: OperationEntry, response: Received, text: string): Result<unknown> | null {
  const body = parsed(text)
  if (!isObject(body)) return null
  if (isObject(body.error)) return failureOf(body.error, response)
  const { result } = body
  if (!response.ok || result === undefined) return null
  if (bare) return { ok: true, data: result, message: '' }
  if (!isObject(result)) return null
  const { data = null, message, warnings, created, pageToken } = result
  return {
    ok: true,
    data,
    message: String(message),
    ...(Array.isArray(warnings) && { warnings: warnings as readonly string[] }),
    ...(isObject(created) && { created }),
    ...(typeof pageToken === 'string' && { nextPage: pageToken }),
  }
}

function failureOf(error: JsonObject, response: Received): Result<never> | null {
  const { status, message, details } = error
  if (typeof status !== 'string' || typeof message !== 'string' || !isObject(details)) return null
  const { code } = details
  if (typeof code !== 'string') return null
  const after = retryAfterOf(response)
  const requestId = response.headers.get('x-request-id')
  const failure: WeftFailure = {
    // A newer server can have codes that this client does not know.
    code: code as WeftErrorCode,
    status: status as WeftStatus,
    message,
    details,
    ...(after !== null && { retryAfterSeconds: after }),
    ...(requestId !== null && { requestId }),
  }
  return { ok: false, error: failure }
}

/** Returns the seconds in `Retry-After`, which can also be a date; null if there are none. */
export function retryAfterOf({ headers }: Received): number | null {
  const value = headers.get('retry-after')
  if (value === null) return null
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

interface JsonObject {
  readonly [name: string]: unknown
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
