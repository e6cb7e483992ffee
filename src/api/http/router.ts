import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AllowedOrigins } from '../../access/allowed-origins.ts'
import type { Authenticator } from '../../access/credentials/authenticator.ts'
import { loopbackViolation } from '../../access/loopback-guard.ts'
import type { CallDurations } from '../../call-durations.ts'
import type { Config } from '../../config.ts'
import type { Health } from '../../engine/engine.ts'
import { ApiError, invalid } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import { idBytesMax } from '../../model/address.ts'
import { encodedBytes } from '../../model/json-pieces.ts'
import { runTraced } from '../../tracing/current-trace.ts'
import type { SpanSource } from '../../tracing/span.ts'
import { applyAgentRule } from '../agents/agent-members.ts'
import { authorizeAgent, requireAgentRule, toAgentError } from '../agents/authorize-agent.ts'
import type { ApiServices } from '../api-services.ts'
import { requestValidatorOf, withRemoved } from '../batches.ts'
import type { CallAuditor } from '../call-auditor.ts'
import type { IdempotencyService, StoredResponse } from '../idempotency/idempotency-service.ts'
import { idempotencyKeyOf, parseIdempotentCall, replayedHeader } from '../idempotency/idempotent-call.ts'
import { checkMembers, ignoredHeader } from '../members.ts'
import { type Operation, warningsOf } from '../operation.ts'
import { type PageRoute, sendPage } from '../pages/page-route.ts'
import { SeededIds } from '../seeded-ids.ts'
import { sendBody, sendSmall } from '../sending.ts'
import { countUnread, watchUnread } from '../unread-responses.ts'
import { callerOf } from './caller-of.ts'
import { answerPreflight, type SharedOrigins, shareWithOrigin } from './cors.ts'
import { sendError, setCommonHeaders, successBody, toApiError } from './envelope.ts'
import {
  type ApiLimits,
  chargeCalls,
  countGrowth,
  limitAddress,
  limitCaller,
  reportLimit,
} from './rate-limits.ts'
import { ClientDisconnectedError, checkContentType, readRequestData } from './request-body.ts'
import type { CalledDocument, ServedResponse } from './served-response.ts'
import type { ServedRoute } from './served-route.ts'
import { setCaller, traceRequest } from './traced-request.ts'

export interface RouterOptions {
  readonly operations: readonly Operation[]
  readonly pages: readonly PageRoute[]
  readonly served: readonly ServedRoute[]
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
  readonly slowCalls: CallDurations
  readonly metrics: Metrics
  readonly log: Log
  /** Creates the spans of traces; null if no exporter is configured. */
  readonly spans: SpanSource | null
}

type Handler = (request: IncomingMessage, response: ServedResponse) => Promise<void>

/** The requests with one path. */
interface Route {
  /** Label of the requests in metrics and logs. */
  readonly label: string
  /** Number of calls that one request counts as, in the rate limit of the client's address. */
  readonly calls: number
  /** Handlers by method. */
  readonly methods: Readonly<Record<string, Handler>>
  /** Value of the header `allow`. */
  readonly allowed: string
  /** True if its requests are traced. Requests of pages, metrics and health are not. */
  readonly isTraced: boolean
}

/** Creates the HTTP service: pages, operations, and an enveloped error for all other requests. */
export function createRouter(options: RouterOptions): RequestListener {
  const routes = new RouteTable([
    ...options.pages.map((page) => [page.path, pageRoute(page, options)] as const),
    ...operationRoutes(options),
    ...options.served.map((route) => [route.path, servedRoute(route, options)] as const),
  ])
  // Throws at once if there is no handler: if the rest of the request is malformed, this error still counts.
  const serve: Handler = (request, response) => {
    const path = pathOf(request.url ?? '')
    if (options.loopbackOnly) requireLoopback(request)
    const route = path === null ? null : routes.at(path)
    limitAddress(options.quotas, request, response, route?.calls ?? 1)
    if (path === null) throw invalid('request/malformed', 'the target is not a path; it must begin with /')
    if (route === null) throw unknownPath(path)
    response.locals.route = route.label
    const handle = route.methods[request.method ?? '']
    if (handle !== undefined)
      return route.isTraced
        ? traceRequest(options.spans, request, response, () => handle(request, response))
        : handle(request, response)
    response.setHeader('allow', route.allowed)
    throw new ApiError('request/method', `the method must be ${route.allowed}`)
  }
  return (request, response) => {
    const served = beginRequest(request, response, options)
    watchUnread(options.quotas.unread, served)
    const answer = (error: unknown): void => {
      try {
        inTrace(served, () => answerError(error, request, served, options))
      } catch (err) {
        options.log.error({ err }, 'an error response could not be sent')
        served.destroy()
      }
    }
    try {
      serve(request, served).catch(answer)
    } catch (error) {
      answer(error)
    }
  }
}

/** Runs `work` in the trace of a request, if it has one, so that log lines name the trace. */
const inTrace = <T>({ locals: { trace } }: ServedResponse, work: () => T): T =>
  trace === undefined ? work() : runTraced(trace, work)

/** Finds the route of a path. If several routes have the same path, the first one counts. */
class RouteTable {
  readonly #routes: ReadonlyMap<string, Route>
  /** Routes whose path ends with `/*`, by the text before the asterisk. */
  readonly #prefixes: readonly (readonly [prefix: string, route: Route])[]

  constructor(all: readonly (readonly [path: string, route: Route])[]) {
    this.#routes = new Map(all.toReversed())
    this.#prefixes = all.flatMap(([path, route]) =>
      path.endsWith('/*') ? [[path.slice(0, -1), route] as const] : [],
    )
  }

  at(path: string): Route | null {
    const route = this.#routes.get(path)
    if (route !== undefined) return route
    const found = this.#prefixes.find(([prefix]) => path.length > prefix.length && path.startsWith(prefix))
    return found === undefined || !isDecodable(path) ? null : found[1]
  }
}

/**
 * Returns the path of a request target as the client has sent it, without its query. Dot segments stay, because
 * a proxy may have allowed exactly this path. Returns null if the target is neither a path nor an HTTP URL
 * (`CONNECT host:443`).
 */
function pathOf(target: string): string | null {
  if (target === '*') return target
  const path = /^(?:https?:\/\/[^/?#\\]+)?([^?#]*)/i.exec(target)
  if (path === null || (path[0] === path[1] && !target.startsWith('/'))) return null
  return path[1] || '/'
}

function pageRoute(page: PageRoute, { auditor }: RouterOptions): Route {
  const send: Handler = (request, response) => sendPage(page, request, response, auditor)
  const { path, route: label = path, calls } = page
  return { label, calls, methods: { GET: send, HEAD: send }, allowed: 'GET, HEAD', isTraced: false }
}

function operationRoutes(options: RouterOptions): readonly (readonly [path: string, route: Route])[] {
  const preflight = servePreflight('POST', options.origins)
  return options.operations.map((operation) => {
    const post = serveOperation(operation, requestValidatorOf(operation), options)
    const methods = { POST: post, OPTIONS: preflight }
    return [operation.path, { label: operation.path, calls: 1, methods, allowed: 'POST', isTraced: true }]
  })
}

function servePreflight(methods: string, origins: SharedOrigins): Handler {
  return async (request, response) => {
    if (await answerPreflight(request, response, origins, methods)) return
    response.setHeader('allow', methods)
    throw new ApiError('request/method', `the method must be ${methods}`)
  }
}

function servedRoute(route: ServedRoute, options: RouterOptions): Route {
  const { path, labels, methods, origins = options.origins } = route
  const allowed = Object.keys(methods).join(', ')
  const handlers = Object.entries(methods).map(([method, handle]): [string, Handler] => [
    method,
    async (request, response) => {
      response.locals.route = labels[method] ?? path
      await shareWithOrigin(request, response, origins)
      await handle(request, response)
    },
  ])
  return {
    label: path,
    calls: 1,
    methods: { ...Object.fromEntries(handlers), OPTIONS: servePreflight(allowed, origins) },
    allowed,
    isTraced: true,
  }
}

function serveOperation(
  operation: Operation,
  validate: ReturnType<typeof requestValidatorOf>,
  options: RouterOptions,
): Handler {
  const { services, auditor, origins, idempotentCalls, quotas, readiness } = options
  const { bodyBytesMax, unknownMembers } = options
  const serve = async (request: IncomingMessage, response: ServedResponse): Promise<StoredResponse> => {
    const ready = readiness()
    if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
    await shareWithOrigin(request, response, origins)
    checkContentType(request)
    const caller = await callerOf(operation.auth, request, options)
    setCaller(response, caller)
    const rule = caller.level === 'agent' ? requireAgentRule(operation) : null
    const meter = await limitCaller(quotas, caller, request, response, bodyBytesMax)
    const { body: sent, data, text } = await readRequestData(request, bodyBytesMax, meter)
    const members = checkMembers(operation, { body: sent, target: request.url ?? '' }, unknownMembers)
    if (members.ignored !== null) response.setHeader(ignoredHeader, members.ignored)
    if (rule !== null && caller.level === 'agent') applyAgentRule(rule, data, caller.identity)
    if (operation.waits !== true) response.locals.called = calledDocument(data)
    const removed = validate(data, text.length, members.unknown)
    const perform = async (ids: SeededIds): Promise<object> => {
      const { grows } = operation
      const counted = grows === 'records' || grows === 'grants' ? text.length : 0
      const full = grows ? await countGrowth(services, caller, counted) : null
      if (full !== null && (grows === 'records' || grows === 'editors')) throw full
      const answer = await operation
        .run(data, {
          caller,
          services,
          ids,
          full,
          charge: (calls) => void chargeCalls(quotas, caller, calls),
        })
        .catch(async (error: unknown) => {
          throw caller.level === 'agent' ? await toAgentError(error, data, caller, services) : error
        })
      const warnings = [...members.warnings, ...(answer.warnings ?? [])]
      return successBody({ ...withRemoved(answer, removed), ...warningsOf(warnings) }, operation.envelope)
    }
    const key = operation.effect === 'reads' ? null : idempotencyKeyOf(request.headers)
    const call = { operation, caller, data, request, requestId: response.locals.requestId }
    const answer = await auditor.run(call, async () => {
      if (rule !== null && caller.level === 'agent') await authorizeAgent(rule, data, caller, services)
      return key === null
        ? { httpCode: 200, body: await perform(new SeededIds()), replayed: false }
        : idempotentCalls.run(parseIdempotentCall(caller, operation, key, text), perform)
    })
    response.locals.call?.succeeded(caller, data)
    if (answer.replayed) response.setHeader(replayedHeader, 'true')
    if (typeof answer.body === 'string') sendSmall(response, answer.httpCode, answer.body)
    else {
      const { body } = answer
      await sendBody(response, answer.httpCode, body, () =>
        countUnread(quotas.unread, response, encodedBytes(body)),
      )
    }
    return answer
  }
  return async (request, response) => {
    const keep = (outcome: Parameters<CallAuditor['answered']>[2]): void => {
      const { caller = null, requestId } = response.locals
      if (caller === null && operation.auth !== 'key') return
      auditor.answered(operation.path, { caller, request, requestId }, outcome)
    }
    try {
      keep(await serve(request, response))
    } catch (error) {
      if (!(error instanceof ClientDisconnectedError)) keep({ error })
      throw error
    }
  }
}

/** Returns the document of a request that is not validated yet. */
function calledDocument(data: object): CalledDocument {
  const idOf = (name: string): string | null => {
    const id: unknown = Object.hasOwn(data, name) ? Reflect.get(data, name) : null
    return typeof id === 'string' && id.length <= idBytesMax ? id : null
  }
  return { organizationId: idOf('organizationId'), documentId: idOf('documentId') }
}

function unknownPath(path: string): ApiError {
  return isDecodable(path)
    ? new ApiError('request/unknown-path', 'there is nothing at this path; /docs/reference lists all paths')
    : invalid('request/malformed', 'the path is not valid percent-encoding; encode it as UTF-8')
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Sends the errors of all requests. A fault of the server is logged once, and never sent to a client. */
function answerError(
  error: unknown,
  { method }: IncomingMessage,
  response: ServedResponse,
  { log, quotas }: RouterOptions,
): void {
  const { requestId, route } = response.locals
  if (error instanceof ClientDisconnectedError) return
  reportLimit(quotas, error, response)
  const answer = toApiError(error)
  // An INTERNAL error that the operation itself has thrown (`answer` is `error`) is not a fault of the
  // server, and is not logged.
  if (answer === null || (answer.status === 'INTERNAL' && answer !== error))
    log.error({ err: error, requestId, method, route }, 'request failed')
  if (response.headersSent) response.destroy()
  else
    sendError(response, answer ?? new ApiError('server/internal', `internal error; request id ${requestId}`))
}

/**
 * Sets the id of a request and measures the request. The log contains the known route only, never the path or
 * the query.
 */
function beginRequest(
  request: IncomingMessage,
  plain: ServerResponse,
  { metrics, slowCalls, log }: Pick<RouterOptions, 'metrics' | 'slowCalls' | 'log'>,
): ServedResponse {
  const requestId = setCommonHeaders(request, plain)
  const response: ServedResponse = Object.assign(plain, { locals: { requestId, route: 'unknown' } })
  const startedAt = performance.now()
  response.once('close', () => {
    const durationMs = performance.now() - startedAt
    const seconds = durationMs / 1000
    const { route, called } = response.locals
    if (called !== undefined)
      slowCalls.note({ path: route, ...called, httpCode: response.statusCode, durationMs, requestId })
    metrics.httpRequestDurationSeconds.observe({ route, status: response.statusCode }, seconds)
    const fields = { requestId, method: request.method, route, status: response.statusCode, seconds }
    inTrace(response, () => log.debug(fields, 'request'))
  })
  return response
}

/**
 * Rejects requests that a page of another site may have sent. Used without authentication.
 * @throws ApiError PERMISSION_DENIED
 */
function requireLoopback({ headers }: IncomingMessage): void {
  const problem = loopbackViolation(headers)
  if (problem !== null) throw new ApiError('auth/loopback-only', problem)
}
