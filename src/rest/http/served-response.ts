import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NextFunction } from 'express'
import type { Caller } from '../../core/access/credentials/authenticator.ts'
import type { CurrentTrace } from '../../core/base/current-trace.ts'
import type { RemovedEntries, RequestValidator } from '../batches.ts'
import type { StoredResponse } from '../idempotency/idempotency-service.ts'
import type { CheckedMembers } from '../members.ts'
import type { Operation } from '../operation.ts'
import type { CallUsage } from './call-usage.ts'
import type { BodyMeter, RequestData } from './request-body.ts'

/** The document that a call of an operation names; null if it names none. */
export interface CalledDocument {
  readonly organizationId: string | null
  readonly documentId: string | null
}

/** Returns the path of a request, without its query. */
export function requestPath({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** The data of a request that later steps need. A class, so that all requests have one layout in memory. */
export class ResponseLocals {
  readonly requestId: string
  /** Label of the request in metrics and logs. Never contains text that the client chooses. */
  route = 'unknown'
  /** Address of the client, as limits count it. */
  address?: string
  /** Undefined unless the request belongs to a trace. */
  trace?: CurrentTrace
  /** Undefined until the caller is authenticated. */
  caller?: Caller
  /** Counts the call; undefined before authentication, and for calls of the operator. */
  call?: CallUsage
  /** Undefined if the request is not a call, has no valid body, or may wait for events. */
  called?: CalledDocument
  /** The counted response, if the client has not read enough of it. */
  unread?: object
  /** True if all readers of a page share the bytes of its body. */
  isCachedPage?: boolean
  /** Values of the steps of a call; each step sets its own. */
  operation?: Operation
  validator?: RequestValidator
  meter?: BodyMeter
  sent?: RequestData
  members?: CheckedMembers
  removed?: RemovedEntries
  answer?: StoredResponse

  constructor(requestId: string) {
    this.requestId = requestId
  }
}

declare global {
  namespace Express {
    /** Express adds this type to the type of its responses. */
    interface Response {
      readonly weftLocals: ResponseLocals
    }
  }
}

/**
 * A response, with the values that the steps of handling its request share. `response.locals` belongs to the application
 * in which Weft is mounted.
 */
export type ServedResponse = ServerResponse & { readonly weftLocals: ResponseLocals }

/**
 * A step of a request. Requests and responses are those of Node: the methods that Express adds, such as `response.json`,
 * need an application of Express, which takes more time than all steps together.
 */
export type Middleware = (request: IncomingMessage, response: ServedResponse, next: NextFunction) => unknown

/** A step of requests that have failed. Express recognizes it by its four parameters. */
export type ErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServedResponse,
  next: NextFunction,
) => unknown
