import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { AllowedOrigins } from '../../core/access/allowed-origins.ts'
import { loopbackViolation } from '../../core/access/loopback-guard.ts'
import { runTraced } from '../../core/base/current-trace.ts'
import { ApiError, invalid } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import type { CallDurations } from '../../core/metrics/call-durations.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Operation } from '../operation.ts'
import { acceptMethods, allOrigins, shareWith } from './cors.ts'
import { sendError, setCommonHeaders, toApiError } from './envelope.ts'
import { type OperationOptions, operationSteps } from './operation-steps.ts'
import { type PageRoute, sendPage } from './page-route.ts'
import { limitAddress, reportLimit } from './rate-limits.ts'
import { ClientDisconnectedError } from './request-body.ts'
import { type ErrorMiddleware, type Middleware, ResponseLocals } from './served-response.ts'
import { type ServedRoute, servedSteps, setLabel } from './served-route.ts'
import { watchUnread } from './unread-responses.ts'

interface RestOptions extends OperationOptions {
  readonly operations: readonly Operation[]
  readonly pages: readonly PageRoute[]
  readonly served: readonly ServedRoute[]
  readonly origins: AllowedOrigins
  /** True if only requests whose host is this machine are answered, because there is no authentication. */
  readonly loopbackOnly: boolean
  readonly slowCalls: CallDurations
  readonly metrics: Metrics
  readonly log: Log
}

const exact = { caseSensitive: true, strict: true } as const

/**
 * Creates the router of the HTTP service: pages, operations, and an enveloped error for all other requests. It answers
 * each request, and never calls `next`.
 *
 * A step fails at once if it need not wait. If the rest of the request is malformed, its error still counts.
 */
export function createRest(options: RestOptions): Router {
  const { operations, pages, served, spans } = options
  const rest = Router(exact)
  const sendErrors = answerError(options)
  rest.use(measureRequest(options))
  if (options.loopbackOnly) rest.use(requireLoopback)
  for (const page of pages.filter(hasOwnCost))
    rest.all(page.path, limitAddresses(options, page.calls), ...pageSteps(page, options), sendErrors)
  rest.use(limitAddresses(options, 1))
  rest.use(checkPath)
  rest.use(shareResponses(options))
  addGrouped(rest, operations, 2, (operation) => [...operationSteps(operation, options), sendErrors])
  for (const route of served) rest.all(route.path, ...servedSteps(route, spans), sendErrors)
  addGrouped(rest, pages, 1, (page) => [...pageSteps(page, options), sendErrors])
  rest.use(rejectUnknownPath)
  rest.use(sendErrors)
  return rest
}

/**
 * Adds a router for all paths that begin with the same parts, so that a request does not pass all other routes. A router
 * gets its routes at its first request, because all routes together would take 20 ms of each start.
 */
function addGrouped<Route extends { readonly path: string }>(
  rest: Router,
  routes: readonly Route[],
  partsMax: number,
  stepsOf: (route: Route) => readonly (Middleware | ErrorMiddleware)[],
): void {
  const groups = new Map<string, Route[]>([['', []]])
  for (const route of routes) {
    const prefix = route.path
      .split('/')
      .slice(0, -1)
      .slice(0, partsMax + 1)
      .join('/')
    groups.set(prefix, [...(groups.get(prefix) ?? []), route])
  }
  for (const [prefix, group] of groups) {
    const fill = (router: Router): Router => {
      for (const route of group) router.all(route.path.slice(prefix.length), ...stepsOf(route))
      return router
    }
    if (prefix === '') fill(rest)
    else
      rest.use(
        prefix,
        createdLater(() => fill(Router(exact))),
      )
  }
}

function createdLater(create: () => Router): RequestHandler {
  let router: Router | null = null
  return (request, response, next) => {
    router ??= create()
    router(request, response, next)
  }
}

function pageSteps(page: PageRoute, { auditor }: RestOptions): readonly Middleware[] {
  return [
    setLabel(() => page.route ?? page.path),
    acceptMethods(['GET', 'HEAD']),
    (request, response) => sendPage(page, request, response, auditor),
  ]
}

/**
 * Sets the id of a request and measures the request. The log contains the known route only, never the path or
 * the query.
 */
function measureRequest({ metrics, slowCalls, log, quotas }: RestOptions): Middleware {
  return (request, response, next) => {
    const requestId = setCommonHeaders(request, response)
    const startedAt = performance.now()
    Object.assign(response, { weftLocals: new ResponseLocals(requestId) })
    response.once('close', () => {
      const durationMs = performance.now() - startedAt
      const seconds = durationMs / 1000
      const { route, called, trace } = response.weftLocals
      if (called !== undefined)
        slowCalls.note({ path: route, ...called, httpCode: response.statusCode, durationMs, requestId })
      metrics.httpRequestDurationSeconds.observe({ route, status: response.statusCode }, seconds)
      const fields = { requestId, method: request.method, route, status: response.statusCode, seconds }
      const write = (): void => log.debug(fields, 'request')
      if (trace === undefined) write()
      else runTraced(trace, write)
    })
    watchUnread(quotas.unread, response)
    next()
  }
}

/**
 * Rejects requests that a page of another site may have sent. Used without authentication.
 * @throws ApiError PERMISSION_DENIED
 */
const requireLoopback: Middleware = ({ headers }, _response, next) => {
  const problem = loopbackViolation(headers)
  if (problem !== null) throw new ApiError('auth/loopback-only', problem)
  next()
}

/**
 * Sets the CORS headers for pages of other sites. Other requests do not pass its paths. While the server is not ready,
 * no page gets the headers, because the store might not answer.
 */
function shareResponses({ origins, readiness }: RestOptions): Middleware {
  const cors = Router(exact)
  cors.use(['/v1', '/v2', '/mcp'], shareWith(origins))
  cors.use('/sync-http', shareWith(allOrigins))
  return (request, response, next) => {
    if (request.headers.origin === undefined || !readiness().ok) next()
    else cors(request as Request, response as unknown as Response, next)
  }
}

/** Returns whether the page counts as more or less than one call of its address. */
const hasOwnCost = ({ calls }: PageRoute): boolean => calls !== 1

/** @throws ApiError RESOURCE_EXHAUSTED */
function limitAddresses({ quotas }: RestOptions, calls: number): Middleware {
  return (request, response, next) => {
    limitAddress(quotas, request, response, calls)
    next()
  }
}

/** @throws ApiError INVALID_ARGUMENT */
const checkPath: Middleware = ({ url }, _response, next) => {
  try {
    if (url?.includes('%')) decodeURIComponent(url.replace(/\?.*/s, ''))
  } catch {
    throw invalid(
      'request/malformed',
      'the target is not a path in percent-encoding that begins with /; encode it as UTF-8',
    )
  }
  next()
}

/** @throws ApiError NOT_FOUND */
const rejectUnknownPath: Middleware = () => {
  throw new ApiError('request/unknown-path', 'there is nothing at this path; /docs/reference lists all paths')
}

/** Sends the errors of all requests. A fault of the server is logged once, and never sent to a client. */
function answerError({ log, quotas }: RestOptions): ErrorMiddleware {
  return (error, { method }, response, _next) => {
    if (error instanceof ClientDisconnectedError) return
    const { requestId, route } = response.weftLocals
    try {
      reportLimit(quotas, error, response)
      const answer = toApiError(error)
      // An INTERNAL error that the operation itself has thrown (`answer` is `error`) is not a fault of the
      // server, and is not logged.
      if (answer === null || (answer.status === 'INTERNAL' && answer !== error))
        log.error({ err: error, requestId, method, route }, 'request failed')
      if (response.headersSent) response.destroy()
      else
        sendError(
          response,
          answer ?? new ApiError('server/internal', `internal error; request id ${requestId}`),
        )
    } catch (err) {
      log.error({ err }, 'an error response could not be sent')
      response.destroy()
    }
  }
}
