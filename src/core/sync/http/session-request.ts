import type { IncomingMessage } from 'node:http'
import { invalid } from '../../base/errors.ts'
import { readHttpSyncRequest, type SyncRequest } from '../admission/sync-request.ts'

/** A request of a session over HTTP. */
export interface SessionRequest {
  readonly sessionId: string
  /** The document and the token, which are also in every request. */
  readonly requested: SyncRequest
  /** Secret that each request must repeat, or a newer token of the same user; null if there is none. */
  readonly secret: string | null
  /** Number of the last event that the client has received; null if the request does not contain it. */
  readonly position: number | null
}

/** A request for events. */
export interface SessionGet extends SessionRequest {
  /**
   * True if the client knows that the session has begun. Its position does not show that before the first message. A
   * session that began twice would lack the messages that the client has already sent.
   */
  readonly resumes: boolean
  /** Maximum milliseconds of a long poll; null: the response is a stream. */
  readonly waitMs: number | null
}

/** A request with messages of the client. */
interface SessionPost extends SessionRequest {
  /** Number of the first message in the body; null if the body has no messages. */
  readonly number: number | null
  /** Close code, if the client ends the session after the messages; otherwise null. */
  readonly close: number | null
}

/** Minimum length of the secret of a session: 128 bits as hexadecimal digits. */
const secretLengthMin = 32
/** The client chooses the id at random (128 bits), so that it cannot be guessed. */
export const sessionIdPattern = /^[0-9a-f]{32}$/
/** The largest number that JavaScript counts with has 16 digits. */
const wholeNumber = /^\d{1,15}$/
/** Maximum of `wait` in seconds. A proxy may end a request without a response after 60 s. */
export const waitSecondsMax = 55
/**
 * Seconds after which a long poll ends in any case. Only the next request proves that the client is alive, and a
 * session without requests ends after 35 s.
 */
const pollSecondsMax = 25

/** @throws ApiError INVALID_ARGUMENT */
export function readSessionGet(request: IncomingMessage): SessionGet {
  const { parameters, ...given } = readHttpSyncRequest(request)
  const wait = readNumber(parameters, 'wait', 0, waitSecondsMax)
  const session = readSession(given, parameters)
  return {
    ...session,
    resumes: (session.position ?? 0) > 0 || parameters.get('resume') === '1',
    waitMs: wait === null ? null : Math.min(wait, pollSecondsMax) * 1000,
  }
}

/** @throws ApiError INVALID_ARGUMENT */
export function readSessionPost(request: IncomingMessage): SessionPost {
  const { parameters, ...given } = readHttpSyncRequest(request)
  return {
    ...readSession(given, parameters),
    number: readNumber(parameters, 'number', 1),
    close: readNumber(parameters, 'close', 1000, 4999),
  }
}

function readSession(
  given: Pick<SessionRequest, 'requested' | 'secret'>,
  parameters: URLSearchParams,
): SessionRequest {
  const id = parameters.get('session') ?? ''
  if (!sessionIdPattern.test(id)) throw invalidRequest('session must be 32 hexadecimal digits')
  // The messages contain the tokens, so only this secret protects the session.
  if (given.requested.kind === 'multiplexed' && (given.secret?.length ?? 0) < secretLengthMin)
    throw invalidRequest(
      `Authorization must contain a token, or "Session" and a random secret of at least ${secretLengthMin} characters`,
    )
  return { sessionId: id, ...given, position: readNumber(parameters, 'position', 0) }
}

function readNumber(
  parameters: URLSearchParams,
  name: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | null {
  const text = parameters.get(name)
  if (text === null) return null
  const value = wholeNumber.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw invalidRequest(`${name} must be a whole number from ${min} to ${max}`)
}

export const invalidRequest = (problem: string): Error => invalid('transport/invalid-request', problem)
