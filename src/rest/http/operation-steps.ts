import type { ClientRequest, IncomingMessage, RequestListener } from 'node:http'
import type { NextFunction } from 'express'
import {
  type AnyCaller,
  type Authenticator,
  isInTenant,
  type TenantCaller,
} from '../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../core/base/errors.ts'
import { goneSignal, passResponse } from '../../core/forwarding/pass-bytes.ts'
import type { CallDurations } from '../../core/metrics/call-durations.ts'
import { documentPrefix, idBytesMax } from '../../core/model/address.ts'
import { encodedBytes } from '../../core/model/json-pieces.ts'
import type { Health, Key } from '../../core/store/engine.ts'
import { applyAgentRule } from '../agents/agent-members.ts'
import { authorizeAgent, requireAgentRule, toAgentError } from '../agents/authorize-agent.ts'
import { requestValidatorOf, withRemoved } from '../batches.ts'
import type { IdempotencyService } from '../idempotency/idempotency-service.ts'
import { idempotencyKeyOf, parseIdempotentCall, replayedHeader } from '../idempotency/idempotent-call.ts'
import type { DocumentIds } from '../list-editors.ts'
import { checkMembers, ignoredHeader } from '../members.ts'
import { type Effect, type Operation, warningsOf } from '../operation.ts'
import { SeededIds } from '../seeded-ids.ts'
import type { Services } from '../services.ts'
import type { CallAuditor } from './call-auditor.ts'
import { callerOf } from './caller-of.ts'
import { acceptMethods } from './cors.ts'
import { successBody } from './envelope.ts'
import { toolOf } from './in-process-call.ts'
import { type ApiLimits, chargeCalls, countGrowth, limitCaller } from './rate-limits.ts'
import { ClientDisconnectedError, checkContentType, readRequestData } from './request-body.ts'
import { sendBody, sendSmall } from './sending.ts'
import {
  type CalledDocument,
  type ErrorMiddleware,
  type Middleware,
  type ResponseLocals,
  requestPath,
  type ServedResponse,
} from './served-response.ts'
import { trace } from './served-route.ts'
import { setCaller } from './traced-request.ts'
import { countUnread } from './unread-responses.ts'

/** The HTTP side of a server. Paths of capabilities use it to answer requests as operations do. */
export interface Edge {
  readonly services: Services
  readonly authenticator: Authenticator
  readonly auditor: CallAuditor
  readonly idempotentCalls: IdempotencyService
  readonly quotas: ApiLimits
  readonly slowCalls: CallDurations
  /**
   * Returns the readiness of the server. The server is not ready while the store is not available, and from
   * the start of the shutdown. All calls are then rejected with the reason.
   */
  readonly readiness: () => Health
  /** Answers a request to REST. */
  readonly handle: RequestListener
}

/** The response to a call. Each step uses what the steps before it have set. */
type CallResponse = ServedResponse & {
  readonly weftLocals: Required<
    Pick<ResponseLocals, 'operation' | 'validator' | 'meter' | 'sent' | 'members' | 'removed' | 'answer'>
  > & { readonly caller: AnyCaller }
}

type CallStep = (request: IncomingMessage, response: CallResponse, next: NextFunction) => unknown

/** Returns the steps of a call, in their order. All operations have the same ones. */
export function operationSteps(operations: readonly Operation[], edge: Edge): readonly Middleware[] {
  const steps: readonly (CallStep | ErrorMiddleware)[] = [
    findOperation(operations),
    acceptMethods(['POST']),
    trace(edge.services.spans),
    requireReady(edge),
    requireJson,
    authenticate(edge),
    limitCalls(edge),
    readBody(edge),
    readMembers(edge),
    putAgent,
    validate,
    forward(edge),
    perform(edge),
    send(edge),
    noteError(edge),
  ]
  return steps as readonly Middleware[]
}

/** Finds the operation of a path. A path without an operation may be another route. */
function findOperation(operations: readonly Operation[]): CallStep {
  const found = new Map(
    operations.map((operation) => [
      operation.path as string,
      { operation, validator: requestValidatorOf(operation) },
    ]),
  )
  return (request, { weftLocals }, next) => {
    const call = found.get(requestPath(request))
    if (call === undefined) return next('route')
    weftLocals.operation = call.operation
    weftLocals.validator = call.validator
    weftLocals.route = call.operation.path
    next()
  }
}

/** @throws ApiError UNAVAILABLE */
function requireReady({ readiness }: Edge): CallStep {
  return (_request, _response, next) => {
    const ready = readiness()
    if (!ready.ok) throw new ApiError('server/not-ready', ready.reason, { retryAfterSeconds: 1 })
    next()
  }
}

/** @throws ApiError INVALID_ARGUMENT */
const requireJson: CallStep = (request, _response, next) => {
  checkContentType(request)
  next()
}

/** @throws ApiError as for `callerOf`; PERMISSION_DENIED for an agent, unless the operation is open to agents */
function authenticate(edge: Edge): CallStep {
  return async (request, response, next) => {
    const { operation } = response.weftLocals
    const caller = await callerOf(operation.auth, request, edge.services, edge)
    setCaller(response, caller)
    if (caller.level === 'agent') requireAgentRule(operation)
    next()
  }
}

/** @throws ApiError RESOURCE_EXHAUSTED */
function limitCalls({ quotas, services: { config } }: Edge): CallStep {
  return async (request, response, next) => {
    const { weftLocals } = response
    weftLocals.meter = await limitCaller(quotas, weftLocals.caller, request, response, config.maxBodyBytes)
    next()
  }
}

/** @throws as for `readRequestData` */
function readBody({ services: { config } }: Edge): CallStep {
  return async (request, { weftLocals }, next) => {
    weftLocals.sent = await readRequestData(request, config.maxBodyBytes, weftLocals.meter)
    next()
  }
}

/** @throws ApiError INVALID_ARGUMENT */
function readMembers({ services: { config } }: Edge): CallStep {
  return (request, response, next) => {
    const { weftLocals } = response
    const { operation, sent } = weftLocals
    const call = { body: sent.body, target: request.url ?? '' }
    const members = checkMembers(operation, call, config.unknownMembers)
    if (members.ignored !== null) response.setHeader(ignoredHeader, members.ignored)
    weftLocals.members = members
    next()
  }
}

/** @throws ApiError as for `applyAgentRule` */
const putAgent: CallStep = (_request, { weftLocals: { operation, caller, sent } }, next) => {
  if (caller.level === 'agent') applyAgentRule(requireAgentRule(operation), sent.data, caller.identity)
  next()
}

/** @throws ApiError INVALID_ARGUMENT */
const validate: CallStep = (_request, { weftLocals }, next) => {
  const { operation, validator, sent, members } = weftLocals
  if (operation.waits !== true) weftLocals.called = calledDocument(sent.data)
  weftLocals.removed = validator(sent.data, sent.text.length, members.unknown)
  next()
}

/** Returns the document of a request that is not validated yet. */
function calledDocument(data: object): CalledDocument {
  const idOf = (name: string): string | null => {
    const id: unknown = Object.hasOwn(data, name) ? Reflect.get(data, name) : null
    return typeof id === 'string' && id.length <= idBytesMax ? id : null
  }
  return { organizationId: idOf('organizationId'), documentId: idOf('documentId') }
}

/** Forwards a call to the node that owns its document. That node takes the further steps, and sends the response. */
function forward(edge: Edge): CallStep {
  return (request, response, next) => {
    const { operation, caller, sent } = response.weftLocals
    const document = operation.runsAt === 'owner' && isInTenant(caller) ? documentOf(caller, sent.data) : null
    if (document === null || !edge.services.forwarder.isElsewhere(document)) return next()
    const forwardOrGoOn = async (): Promise<void> => {
      const { data, text } = sent
      if (!(await forwardCall(document, data, edge, request, response, text, operation.effect))) next()
    }
    return forwardOrGoOn()
  }
}

/**
 * Forwards a request to the node that owns a document, and sends the response. Resolves with false, and has no effect,
 * if this node owns the document.
 * @param data the members that name the document
 */
export async function forwardCall(
  document: Key,
  data: object,
  { services: { forwarder, metrics }, quotas }: Edge,
  request: IncomingMessage,
  response: ServedResponse,
  body: string | Uint8Array,
  effect: Effect,
): Promise<boolean> {
  if (!forwarder.isElsewhere(document)) return false
  const { requestId, address = '', call, caller } = response.weftLocals
  const length = Buffer.byteLength(body)
  const options = {
    kind: 'call',
    clientAddress: address,
    requestId,
    tool: toolOf(request),
    headers: { 'content-length': length },
    repeat: effect === 'reads' ? 'always' : 'ifUndone',
    write: (outgoing: ClientRequest) => void outgoing.end(body),
  } as const
  const exchange = await forwarder
    .send(request, document, options, goneSignal(response))
    .catch((cause: unknown) => {
      throw response.destroyed ? new ClientDisconnectedError('the client disconnected', { cause }) : cause
    })
  if (exchange === null) return false
  metrics.forwarded.bytes.request += length
  if (exchange.response.statusCode === 200 && caller !== undefined) call?.succeeded(caller, data)
  await passResponse(exchange.response, response, metrics, (bytes) =>
    countUnread(quotas.unread, response, bytes),
  )
  return true
}

/** Returns the document of a call. @param data valid data of an operation with `runsAt: 'owner'` */
function documentOf(caller: TenantCaller, data: object): Key {
  const { organizationId, documentId } = data as DocumentIds
  return documentPrefix({ ...caller.tenant, organizationId }, documentId)
}

/** Runs the handler. The audit log records the call, and a repeated call gets the stored response. */
function perform(edge: Edge): CallStep {
  const { services, auditor, idempotentCalls } = edge
  return async (request, { weftLocals }, next) => {
    const { operation, caller, requestId } = weftLocals
    const { data, text } = weftLocals.sent
    const key = operation.effect === 'reads' ? null : idempotencyKeyOf(request.headers)
    const handle = (ids: SeededIds): Promise<object> => runHandler(ids, weftLocals, edge)
    weftLocals.answer = await auditor.run({ operation, caller, data, request, requestId }, async () => {
      if (caller.level === 'agent') await authorizeAgent(requireAgentRule(operation), data, caller, services)
      return key === null
        ? { httpCode: 200, body: await handle(new SeededIds()), replayed: false }
        : idempotentCalls.run(parseIdempotentCall(caller, operation, key, text), handle)
    })
    // The credentials may have ended while the call has waited.
    if (operation.waits === true) await callerOf(operation.auth, request, services, edge)
    weftLocals.call?.succeeded(caller, data)
    next()
  }
}

async function runHandler(
  ids: SeededIds,
  { operation, caller, sent: { data, text }, members, removed }: CallResponse['weftLocals'],
  { services, quotas }: Edge,
): Promise<object> {
  const { grows } = operation
  const counted = grows === 'records' || grows === 'grants' ? text.length : 0
  const full = grows ? await countGrowth(services, caller, counted) : null
  if (full !== null && (grows === 'records' || grows === 'editors')) throw full
  const charge = (calls: number): void => void chargeCalls(quotas, caller, calls)
  const answer = await operation
    .run(data, { caller, services, ids, text, full, charge })
    .catch(async (error: unknown) => {
      throw caller.level === 'agent' ? await toAgentError(error, data, caller, services) : error
    })
  const warnings = [...members.warnings, ...(answer.warnings ?? [])]
  return successBody({ ...withRemoved(answer, removed), ...warningsOf(warnings) }, operation.bare)
}

function send({ auditor, quotas }: Edge): CallStep {
  return async (request, response) => {
    const { operation, caller, requestId, answer } = response.weftLocals
    const { httpCode, body, replayed } = answer
    if (replayed) response.setHeader(replayedHeader, 'true')
    if (typeof body === 'string') sendSmall(response, httpCode, body)
    else
      await sendBody(response, httpCode, body, () => countUnread(quotas.unread, response, encodedBytes(body)))
    auditor.answered(operation.path, { caller, request, requestId }, answer)
  }
}

/** Adds a rejected call to the recent requests of its API key. Requests with another method are not calls. */
function noteError({ auditor }: Edge): ErrorMiddleware {
  return (error, request, response, next) => {
    const { operation, caller = null, requestId } = response.weftLocals
    const isCall = request.method === 'POST' && !(error instanceof ClientDisconnectedError)
    if (isCall && operation !== undefined && (caller !== null || operation.auth === 'key'))
      auditor.answered(operation.path, { caller, request, requestId }, { error })
    next(error)
  }
}
