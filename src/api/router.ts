import type { RequestListener } from 'node:http'
import express, { type NextFunction, type Request, type Response } from 'express'
import type { Authenticator } from '../access/credentials.ts'
import type { Origins } from '../access/origins.ts'
import type { Health } from '../engine/engine.ts'
import { ApiError, invalid } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Auditor } from './auditor.ts'
import { ClientGone, checkContentType, readData } from './body.ts'
import { CallIds } from './call-ids.ts'
import { answerPreflight, shareWithOrigin } from './cors.ts'
import { answerable, sendError, sendText, successBody } from './envelope.ts'
import { callOf, idempotencyKeyOf, replayedHeader } from './idempotency/call.ts'
import type { IdempotentCalls } from './idempotency/calls.ts'
import type { Operation } from './operation.ts'
import { type Page, sendPage } from './page.ts'
import { type ApiQuotas, limitAddress, limitCaller, reportLimit } from './quotas.ts'
import { beginRequest, guardLoopback, refuse } from './request.ts'
import type { Services } from './services.ts'
import { type Validator, Validators } from './validator.ts'

export interface ApiParts {
  readonly operations: readonly Operation[]
  readonly pages: readonly Page[]
  readonly services: Services
  readonly authenticator: Authenticator
  readonly auditor: Auditor
  readonly origins: Origins
  readonly idempotentCalls: IdempotentCalls
  readonly quotas: ApiQuotas
  readonly bodyBytesMax: number
  /** Answer only requests that name this machine: there is no authentication. */
  readonly loopbackOnly: boolean
  /** Not ok while the store is away and from the moment the server is to stop: then nothing is taken. Callers are told the reason. */
  readonly readiness: () => Health
  readonly metrics: Metrics
  readonly log: Log
}

type Handler = (request: Request, response: Response) => Promise<void>

/** All HTTP there is: pages, operations, and an answer in the envelope to everything else. */
export function createRouter(parts: ApiParts): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing')
  app.set('query parser', false)
  app.use(beginRequest(parts))
  if (parts.loopbackOnly) app.use(guardLoopback)
  for (const page of parts.pages) {
    app
      .route(page.path)
      .all(limitAddress(parts.quotas, page.calls))
      .get((request, response) => sendPage(page, request, response, parts.auditor))
      .all(refuseMethod('GET, HEAD'))
  }
  app.use(limitAddress(parts.quotas))
  const validators = new Validators()
  for (const operation of parts.operations) {
    app
      .route(operation.path)
      .options(answerPreflight(parts.origins))
      .post(serveOperation(operation, validators.compile(operation.request), parts))
      .all(refuseMethod('POST'))
  }
  app.use(refuseUnknownPath)
  app.use(answerError(parts))
  return (request, response) => {
    // Express gives up on targets that it takes for no path (`CONNECT host:443`), and would answer with a page.
    app(request as Request, response as Response, () =>
      refuse(request, response, invalid('the target is not a path')),
    )
  }
}

function serveOperation(operation: Operation, validate: Validator, parts: ApiParts): Handler {
  const { services, authenticator, auditor, origins, idempotentCalls, quotas, bodyBytesMax, readiness } =
    parts
  return async (request, response) => {
    response.locals.route = operation.path
    const ready = readiness()
    if (!ready.ok) throw new ApiError('UNAVAILABLE', ready.reason, { retryAfterSeconds: 1 })
    await shareWithOrigin(request, response, origins)
    checkContentType(request)
    const caller = await authenticator.callerOf(operation.auth, request.headers).catch((error: unknown) => {
      auditor.refused(operation.auth, error, request)
      throw error
    })
    response.locals.caller = caller
    const meter = limitCaller(quotas, caller, request, response, bodyBytesMax)
    const { data, text } = await readData(request, bodyBytesMax, meter)
    validate(data, text.length)
    const perform = async (ids: CallIds): Promise<string> =>
      JSON.stringify(successBody(await operation.run(data, { caller, services, ids }), operation.envelope))
    const key = operation.effect === 'reads' ? null : idempotencyKeyOf(request.headers)
    const call = { operation, caller, data, request, requestId: String(response.locals.requestId) }
    const answer = await auditor.run(call, async () =>
      key === null
        ? { httpCode: 200, text: await perform(new CallIds()), replayed: false }
        : idempotentCalls.run(callOf(caller, operation, key, text), perform),
    )
    if (answer.replayed) response.setHeader(replayedHeader, 'true')
    sendText(response, answer.httpCode, answer.text)
  }
}

const refuseMethod = (allowed: string) => (request: Request, response: Response) => {
  response.locals.route = request.path
  response.setHeader('allow', allowed)
  throw new ApiError('INVALID_ARGUMENT', `the method must be ${allowed}`, { httpCode: 405 })
}

function refuseUnknownPath(request: Request): void {
  try {
    decodeURIComponent(request.path)
  } catch {
    throw invalid('the path is not valid percent-encoding')
  }
  throw new ApiError('NOT_FOUND', 'there is nothing at this path')
}

/** The one place where errors of requests end. What is our fault is logged once, and never shown. */
const answerError =
  ({ log, quotas }: ApiParts) =>
  (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const requestId: unknown = response.locals.requestId
    if (error instanceof ClientGone) return
    reportLimit(quotas, error, response)
    const answer = answerable(error)
    // What an operation answers by itself is no fault of ours.
    if (answer === null || (answer.status === 'INTERNAL' && answer !== error))
      log.error(
        { err: error, requestId, method: request.method, route: response.locals.route },
        'request failed',
      )
    if (response.headersSent) response.destroy()
    else
      sendError(
        response,
        answer ?? new ApiError('INTERNAL', `internal error; request id ${String(requestId)}`),
      )
  }
