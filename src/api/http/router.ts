import type { RequestListener } from 'node:http'
import express, { type NextFunction, type Request, type Response } from 'express'
import type { AllowedOrigins } from '../../access/allowed-origins.ts'
import type { Authenticator } from '../../access/credentials/authenticator.ts'
import { loopbackViolation } from '../../access/loopback-guard.ts'
import type { Config } from '../../config.ts'
import type { Health } from '../../engine/engine.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { encodedBytes } from '../../model/json-pieces.ts'
import type { ApiServices } from '../api-services.ts'
import { compileRequest, withRemoved } from '../batches.ts'
import type { AuditedCall, CallAuditor } from '../call-auditor.ts'
import type { IdempotencyService, StoredResponse } from '../idempotency/idempotency-service.ts'
import { idempotencyKeyOf, parseIdempotentCall, replayedHeader } from '../idempotency/idempotent-call.ts'
import { checkMembers, ignoredHeader } from '../members.ts'
import type { Operation } from '../operation.ts'
import { type PageRoute, sendPage } from '../pages/page-route.ts'
import { SeededIds } from '../seeded-ids.ts'
import { sendBody, sendBytes } from '../sending.ts'
import { countUnread, watchUnread } from '../unread-responses.ts'
import { ValidatorCache } from '../validator.ts'
import { answerPreflight, shareWithOrigin } from './cors.ts'
import { rejectRequest, sendError, setCommonHeaders, successBody, toApiError } from './envelope.ts'
import { type ApiLimits, countGrowth, limitAddress, limitCaller, reportLimit } from './rate-limits.ts'
import { ClientDisconnectedError, checkContentType, readRequestData } from './request-body.ts'

export interface RouterOptions {
  readonly operations: readonly Operation[]
  readonly pages: readonly PageRoute[]
  readonly services: ApiServices
  readonly authenticator: Authenticator
  readonly auditor: CallAuditor
  readonly origins: AllowedOrigins
  readonly idempotentCalls: IdempotencyService
  readonly quotas: ApiLimits
  readonly bodyBytesMax: number
  readonly unknownMembers: Config['unknownMembers']
  /** True if only requests whose host is this machine are answered, because there is no authentication. */
  readonly loopbackOnly: boolean
  /**
   * Returns the readiness of the server. The server is not ready while the store is not available, and from
   * the start of the shutdown. All calls are then rejected with the reason.
   */
  readonly readiness: () => Health
  readonly metrics: Metrics
  readonly log: Log
}

type Handler = (request: Request, response: Response) => Promise<void>

/** Creates the HTTP service: pages, operations, and an enveloped error for all other requests. */
export function createRouter(options: RouterOptions): RequestListener {
  const app = express()
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing')
  app.set('query parser', false)
  app.use(beginRequest(options))
  app.use(watchUnread(options.quotas.unread))
  if (options.loopbackOnly) app.use(requireLoopback)
  for (const page of options.pages) {
    app
      .route(page.path)
      .all(limitAddress(options.quotas, page.calls))
      .get((request, response) => sendPage(page, request, response, options.auditor))
      .all(refuseMethod('GET, HEAD'))
  }
  app.use(limitAddress(options.quotas))
  const validators = new ValidatorCache()
  for (const operation of options.operations) {
    app
      .route(operation.path)
      .options(answerPreflight(options.origins))
      .post(serveOperation(operation, compileRequest(operation, validators), options))
      .all(refuseMethod('POST'))
  }
  app.use(refuseUnknownPath)
  app.use(answerError(options))
  return (request, response) => {
    // Express cannot parse a target that is not a path (`CONNECT host:443`), and would respond with an HTML
    // page.
    app(request as Request, response as Response, () =>
      rejectRequest(
        request,
        response,
        invalid('request/malformed', 'the target is not a path; it must begin with /'),
      ),
    )
  }
}

function serveOperation(
  operation: Operation,
  validate: ReturnType<typeof compileRequest>,
  options: RouterOptions,
): Handler {
  const { services, authenticator, auditor, origins, idempotentCalls, quotas, readiness } = options
  const { bodyBytesMax, unknownMembers } = options
  const serve = async (request: Request, response: Response): Promise<StoredResponse> => {
    const ready = readiness()
    if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
    await shareWithOrigin(request, response, origins)
    checkContentType(request)
    const caller = await authenticator.callerOf(operation.auth, request.headers).catch((error: unknown) => {
      auditor.refused(operation.auth, error, request)
      throw error
    })
    response.locals.caller = caller
    const meter = limitCaller(quotas, caller, request, response, bodyBytesMax)
    const { body: sent, data, text } = await readRequestData(request, bodyBytesMax, meter)
    const members = checkMembers(operation, { body: sent, target: request.url }, unknownMembers)
    if (members.ignored !== null) response.setHeader(ignoredHeader, members.ignored)
    const removed = validate(data, text.length, members.unknown)
    const perform = async (ids: SeededIds): Promise<object> => {
      const full = operation.grows ? await countGrowth(services, caller, text.length) : null
      if (full !== null && operation.grows === 'records') throw full
      const answer = await operation.run(data, { caller, services, ids, full })
      return successBody(withRemoved(answer, removed), operation.envelope)
    }
    const key = operation.effect === 'reads' ? null : idempotencyKeyOf(request.headers)
    const call = { operation, caller, data, request, requestId: String(response.locals.requestId) }
    const answer = await auditor.run(call, async () =>
      key === null
        ? { httpCode: 200, body: await perform(new SeededIds()), replayed: false }
        : idempotentCalls.run(parseIdempotentCall(caller, operation, key, text), perform),
    )
    if (answer.replayed) response.setHeader(replayedHeader, 'true')
    if (typeof answer.body === 'string') sendBytes(response, answer.httpCode, Buffer.from(answer.body))
    else {
      const { body } = answer
      await sendBody(response, answer.httpCode, body, () =>
        countUnread(quotas.unread, response, encodedBytes(body)),
      )
    }
    return answer
  }
  return async (request, response) => {
    response.locals.route = operation.path
    const keep = (outcome: Parameters<CallAuditor['answered']>[2]): void => {
      const locals: Partial<Pick<AuditedCall, 'caller' | 'requestId'>> = response.locals
      const { caller = null, requestId } = locals
      if (caller === null && operation.auth !== 'key') return
      auditor.answered(operation.path, { caller, request, requestId: String(requestId) }, outcome)
    }
    try {
      keep(await serve(request, response))
    } catch (error) {
      if (!(error instanceof ClientDisconnectedError)) keep({ error })
      throw error
    }
  }
}

const refuseMethod = (allowed: string) => (request: Request, response: Response) => {
  response.locals.route = request.path
  response.setHeader('allow', allowed)
  throw new ApiError('request/method', `the method must be ${allowed}`)
}

function refuseUnknownPath(request: Request): void {
  try {
    decodeURIComponent(request.path)
  } catch {
    throw invalid('request/malformed', 'the path is not valid percent-encoding; encode it as UTF-8')
  }
  throw new ApiError('request/unknown-path', 'there is nothing at this path; /docs/reference lists all paths')
}

/** Sends the errors of all requests. A fault of the server is logged once, and never sent to a client. */
const answerError =
  ({ log, quotas }: RouterOptions) =>
  (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const requestId: unknown = response.locals.requestId
    if (error instanceof ClientDisconnectedError) return
    reportLimit(quotas, error, response)
    const answer = toApiError(error)
    // An INTERNAL error that the operation itself has thrown (`answer` is `error`) is not a fault of the
    // server, and is not logged.
    if (answer === null || (answer.status === 'INTERNAL' && answer !== error))
      log.error(
        { err: error, requestId, method: request.method, route: response.locals.route },
        'request failed',
      )
    if (response.headersSent) response.destroy()
    else
      sendError(
        response,
        answer ?? new ApiError('server/internal', `internal error; request id ${String(requestId)}`),
      )
  }

/**
 * Sets the id of a request and measures the request. The log contains the known route only, never the path or
 * the query.
 */
const beginRequest =
  ({ metrics, log }: Pick<RouterOptions, 'metrics' | 'log'>) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const requestId = setCommonHeaders(request, response)
    response.locals.requestId = requestId
    response.locals.route = 'unknown'
    const startedAt = performance.now()
    response.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1000
      const route = String(response.locals.route)
      metrics.httpRequestDurationSeconds.observe({ route, status: response.statusCode }, seconds)
      log.debug({ requestId, method: request.method, route, status: response.statusCode, seconds }, 'request')
    })
    next()
  }

/**
 * Rejects requests that a page of another site may have sent. Used without authentication.
 * @throws ApiError PERMISSION_DENIED
 */
function requireLoopback(request: Request, _response: Response, next: NextFunction): void {
  const problem = loopbackViolation(request.headers)
  if (problem !== null) throw new ApiError('auth/loopback-only', problem)
  next()
}
