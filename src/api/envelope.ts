import type { ServerResponse } from 'node:http'
import { CorruptRecord, StoreUnavailable } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import { errorBody } from '../model/raw-answer.ts'
import type { Answer, Envelope } from './operation.ts'

/** The success envelope. */
export const successBody = (answer: Answer<unknown>, envelope: Envelope): object => ({
  result: envelope === 'bare' ? answer.data : { status: 'success', ...answer },
})

export function sendJson(response: ServerResponse, httpCode: number, body: object): void {
  sendText(response, httpCode, JSON.stringify(body))
}

/** @param text JSON */
export function sendText(response: ServerResponse, httpCode: number, text: string): void {
  response.writeHead(httpCode, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

export function sendError(response: ServerResponse, error: ApiError): void {
  if (error.retryAfterSeconds !== undefined) response.setHeader('retry-after', error.retryAfterSeconds)
  sendJson(response, error.httpCode, errorBody(error))
}

/** Why it is away only `/readyz` and the log tell. */
export const storeAway = 'the store is not available; try again'

/** The answer to anything thrown; null when it is our fault and only the log may tell. */
export function answerable(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  if (error instanceof StoreUnavailable)
    return new ApiError('UNAVAILABLE', storeAway, {
      retryAfterSeconds: 1,
      cause: error,
    })
  if (error instanceof CorruptRecord)
    return new ApiError('INTERNAL', 'what is stored of this document is damaged', { cause: error })
  return null
}
