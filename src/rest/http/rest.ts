import { type Request, type RequestHandler, type Response, Router } from 'express'
import { forwardedRequests } from '../../core/access/forwarded-requests.ts'
import { loopbackViolation } from '../../core/access/loopback-guard.ts'
import { runTraced } from '../../core/base/current-trace.ts'
import { ApiError, invalid } from '../../core/base/errors.ts'
import { addTo } from '../../core/base/maps.ts'
import type { Operation } from '../operation.ts'
import { acceptMethods, allOrigins, shareWith } from './cors.ts'
import { sendError, setCommonHeaders, toApiError } from './envelope.ts'
import { type Edge, operationSteps } from './operation-steps.ts'
import { type PageRoute, sendPage } from './page-route.ts'
import { limitAddress, reportLimit } from './rate-limits.ts'
import { ClientDisconnectedError } from './request-body.ts'
import { type ErrorMiddleware, type Middleware, ResponseLocals, requestPath } from './served-response.ts'
import { type ServedRoute, servedSteps, setLabel } from './served-route.ts'
import { watchUnread } from './unread-responses.ts'

/** What a server answers. */
interface RestRoutes {
  readonly operations: readonly Operation[]
  readonly pages: readonly PageRoute[]
  readonly served: readonly ServedRoute[]
}

const exact = { caseSensitive: true, strict: true } as const

/**
 * Creates the router of the HTTP service: pages, operations, and an enveloped error for all other requests. It answers
 * each request, and never calls `next`.
 *
 * A step fails at once if it need not wait. If the rest of the request is malformed, its error still counts.
 */
export function createRest(edge: Edge, { operations, pages, served }: RestRoutes): Router {
  const { config, spans } = edge.services
  const rest = Router(exact)
  const sendErrors = answerError(edge)
  rest.use(measureRequest(edge))
  // Without authentication, only requests whose host is this machine are answered.
  if (config.auth === 'none') rest.use(requireLoopback)
  rest.use(limitAddresses(edge, pages))
  rest.use(checkPath)
  rest.use(shareResponses(edge))
  rest.all(callPaths, ...operationSteps(operations, edge), sendErrors)
  for (const route of served) rest.all(route.path, ...servedSteps(route, spans), sendErrors)
  addPages(rest, pages, (page) => [...pageSteps(page, edge), sendErrors])
  rest.use(rejectUnknownPath)
  rest.use(sendErrors)
  return rest
}

/**
 * The paths of all operations. They share a route, because a call would otherwise be matched against the routes before
 * its own, which takes longer than the steps.
 */
const callPaths = /^\/v[12]\//

/**
 * Adds the pages, with a router for those that begin with the same part. A router gets its routes at its first request,
 * because all routes together would take milliseconds of each start.
 */
function addPages(
  rest: Router,
  pages: readonly PageRoute[],
  stepsOf: (page: PageRoute) => readonly (Middleware | ErrorMiddleware)[],
): void {
  const groups = new Map<string, PageRoute[]>([['', []]])
  for (const page of pages) {
    const prefix = page.path.split('/').slice(0, -1).slice(0, 2).join('/')
    addTo(groups, prefix, page)
  }
  for (const [prefix, group] of groups) {
    const fill = (router: Router): Router => {
      for (const page of group) router.all(page.path.slice(prefix.length), ...stepsOf(page))
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

function pageSteps(page: PageRoute, edge: Edge): readonly Middleware[] {
  return [
    setLabel(() => page.route ?? page.path),
    acceptMethods(['GET', 'HEAD']),
    (request, response) => sendPage(page, request, response, edge),
  ]
}

/**
 * Sets the id of a request and measures the request. The log contains the known route only, never the path or
 * the query. First recognizes a request that another node has forwarded.
 */
function measureRequest({ services: { metrics, log, forwarder }, slowCalls, quotas }: Edge): Middleware {
  return (request, response, next) => {
    forwarder.receive(request)
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
function shareResponses({ services: { origins }, readiness }: Edge): Middleware {
  const cors = Router(exact)
  cors.use(['/v1', '/v2', '/mcp'], shareWith(origins))
  cors.use(['/sync-http', '/yhub'], shareWith(allOrigins))
  return (request, response, next) => {
    if (request.headers.origin === undefined || !readiness().ok) next()
    else cors(request as Request, response as unknown as Response, next)
  }
}

/** @throws ApiError RESOURCE_EXHAUSTED */
function limitAddresses({ quotas }: Edge, pages: readonly PageRoute[]): Middleware {
  const costs = new Map(pages.map(({ path, calls }) => [path, calls]))
  return (request, response, next) => {
    const cost = forwardedRequests.has(request) ? 0 : (costs.get(requestPath(request)) ?? 1)
    limitAddress(quotas, request, response, cost)
    next()
  }
}

/** @throws ApiError INVALID_ARGUMENT */
const checkPath: Middleware = (request, _response, next) => {
  try {
    if (request.url?.includes('%')) decodeURIComponent(requestPath(request))
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
function answerError({ services: { log }, quotas }: Edge): ErrorMiddleware {
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
