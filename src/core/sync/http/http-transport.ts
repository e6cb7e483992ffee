import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { clientAddress } from '../../access/client-address.ts'
import { timingSafeEqualText } from '../../access/credentials/timing-safe.ts'
import { forwardedRequests } from '../../access/forwarded-requests.ts'
import type { Identity } from '../../access/identity.ts'
import { TokenRejectedError } from '../../access/tokens/realtime-tokens.ts'
import { ApiError } from '../../base/errors.ts'
import { TtlCache } from '../../base/ttl-cache.ts'
import { ForwardError } from '../../forwarding/forwarder.ts'
import { goneSignal, passBody, passResponse } from '../../forwarding/pass-bytes.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { documentAddress, documentPrefix, type Tenant } from '../../model/address.ts'
import { type Close, close, closeCodes } from '../../model/close.ts'
import { errorEnvelope } from '../../model/raw-response.ts'
import { timedRequests } from '../../quota/slow-transfers.ts'
import type { Key } from '../../store/engine.ts'
import { type AdmissionTicket, countedAddress } from '../admission/admission.ts'
import type { Requested } from '../admission/rejection-log.ts'
import type { DocumentRequest, MultiplexedRequest } from '../admission/sync-request.ts'
import type { HocuspocusEndpoint } from '../connect/hocuspocus-endpoint.ts'
import type { SessionManager } from '../connect/session-manager.ts'
import { closeOfForward } from '../connect/websocket-forwarder.ts'
import { isUndetermined, type SocketAuthentication } from '../session/socket-authentication.ts'
import type { SocketOwner } from '../socket/socket-memory.ts'
import { CloseReporter } from '../socket/websocket-upgrader.ts'
import type { SyncDependencies } from '../sync-dependencies.ts'
import { sendClosed } from './event-response.ts'
import { HttpSocket, type PostOutcome } from './http-socket.ts'
import {
  invalidRequest,
  readSessionGet,
  readSessionPost,
  type SessionGet,
  type SessionRequest,
} from './session-request.ts'

interface HttpTransportDependencies extends SyncDependencies {
  readonly authentication: SocketAuthentication
  readonly sessionManager: SessionManager
  readonly hocuspocus: HocuspocusEndpoint
  /** Number of reverse proxies whose `X-Forwarded-For` header is trusted. */
  readonly proxies: number
}

/** Time in ms for which, and number of sessions of which a node remembers the document. */
const locatedMs = 60_000
const locatedMax = 20_000

/** A session over HTTP, with the data that its requests must match. */
interface HttpSession {
  readonly socket: HttpSocket
  /** Null if the tokens are in the messages. */
  readonly identity: Identity | null
  /** Secret of the requests: the token that was checked last, or a random text. Null if they contain none. */
  secret: string | null
}

/**
 * Serves clients that cannot open a websocket. A client chooses a random id for its session. GET requests carry the
 * messages to the client as server-sent events, and POST requests carry the messages of the client. Everything else
 * is the same as for websockets, because an `HttpSocket` is a `ClientSocket`.
 */
export class HttpTransport {
  readonly #dependencies: HttpTransportDependencies
  readonly #closeReporter: CloseReporter
  readonly #sessions = new Map<string, HttpSession>()
  /** Documents of sessions that other nodes have, by id of the session; null: the client has no valid token. */
  readonly #located: TtlCache<Key | null>
  /** Requests whose responses are being passed from other nodes. */
  readonly #passing = new Set<ClientRequest>()

  constructor(dependencies: HttpTransportDependencies) {
    const { logger, metrics, reports } = dependencies
    this.#dependencies = dependencies
    this.#located = new TtlCache(dependencies.clock, locatedMs, locatedMax)
    this.#closeReporter = new CloseReporter('maxMessageBytes', logger, metrics, reports)
  }

  /** Number of sessions, including those whose clients have not received the reason of their end. */
  get size(): number {
    return this.#sessions.size
  }

  /** Ends sessions whose clients have disconnected. Call it about twice a second. */
  check(): void {
    const time = this.#dependencies.time()
    for (const { socket } of this.#sessions.values()) socket.check(time)
  }

  /**
   * Returns one function for each forwarded response, which ends the response. Its session continues with the next
   * request of the client.
   */
  closersFor(): readonly (() => void)[] {
    return [...this.#passing].map((outgoing) => () => void outgoing.destroy())
  }

  /** Ends all sessions without a reason. */
  terminateAll(): void {
    for (const { socket } of this.#sessions.values()) socket.terminate()
  }

  /**
   * Answers a GET with the events of a session, and begins the session if it is new. A rejected client gets one event
   * with the reason.
   * @throws ApiError if the request is invalid
   */
  async get(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const events = readSessionGet(request)
    const session = this.#sessions.get(events.sessionId)
    if (session === undefined) return this.#getElsewhere(events, request, response)
    const problem = await this.#problemOf(session, events, request)
    if (response.destroyed) return
    if (problem !== null) {
      const code = problem.code === 'transport/other-user' ? closeCodes.forbidden : closeCodes.tryAgainLater
      return sendClosed(response, code, problem.message)
    }
    session.socket.attach(response, { position: events.position ?? 0, waitMs: events.waitMs })
  }

  /**
   * Receives the messages of a POST.
   * @throws ApiError if the request is invalid, or the server does not have the session
   */
  async post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const messages = readSessionPost(request)
    const session = this.#sessions.get(messages.sessionId)
    if (session === undefined) {
      if (await this.#forwardKnown(messages, request, response)) return
      throw new ApiError('transport/unknown-session', 'unknown session; connect again')
    }
    const problem = await this.#problemOf(session, messages, request)
    if (problem !== null) throw problem
    const outcome = await session.socket.receive(request, messages)
    if (outcome.kind === 'tooLarge') this.#reportTooLarge(session, request)
    this.#answer(response, outcome, messages.number ?? 1)
  }

  /** Answers a GET of a session that this node does not have: begins it, or forwards the request to its node. */
  async #getElsewhere(events: SessionGet, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!events.resumes) await this.#begin(events, request, response)
      else if (!(await this.#forwardKnown(events, request, response)))
        sendClosed(response, closeCodes.tryAgainLater, 'unknown session; connect again')
    } catch (error) {
      const isForClient = error instanceof ForwardError && !forwardedRequests.has(request)
      if (!isForClient || response.headersSent) throw error
      const { code, reason } = closeOfForward(error)
      sendClosed(response, code, reason)
    }
  }

  async #begin(events: SessionGet, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { admission } = this.#dependencies.authentication
    const { requested } = events
    const address = clientAddress(request, this.#dependencies.proxies)
    const counted = countedAddress(request, address)
    const problem = admission.problemOf(request.headers, counted, requested)
    if (problem !== null || requested.kind === 'invalid' || requested.kind === 'otherPath') {
      const path = requested.kind === 'document' ? requested.path : (request.url ?? '')
      return this.#reject(response, address, problem ?? close('badRequest', 'invalid address'), path)
    }
    const ticket: AdmissionTicket = { address: null, workspaceId: null }
    admission.countConnection(ticket, counted)
    if (requested.kind === 'multiplexed') this.#openMultiplexed(events, requested, address, ticket, response)
    else {
      const isOpen = await this.#openDocument(events, requested, address, ticket, request, response).catch(
        (error: unknown) => {
          admission.release(ticket)
          throw error
        },
      )
      if (!isOpen) admission.release(ticket)
    }
  }

  #openMultiplexed(
    events: SessionGet,
    requested: MultiplexedRequest,
    address: string,
    ticket: AdmissionTicket,
    response: ServerResponse,
  ): void {
    const { authentication, hocuspocus } = this.#dependencies
    const authenticated = authentication.admission.countUnauthenticated(address)
    const socket = this.#add(
      events,
      { address, workspaceId: null },
      { identity: null, secret: events.secret },
      ticket,
    )
    socket.onClosed(authenticated)
    socket.attach(response, { position: 0, waitMs: events.waitMs })
    hocuspocus.open(socket, address, requested, authenticated)
  }

  /** Returns false if the client is rejected or has disconnected, or if another node has the session. */
  async #openDocument(
    events: SessionGet,
    requested: DocumentRequest,
    address: string,
    ticket: AdmissionTicket,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    const { authentication, sessionManager, tracer } = this.#dependencies
    const { admission } = authentication
    const { path, token, origin } = requested
    tracer?.of(path)?.('connect', { clientAddress: address, protocol: 'y-websocket', transport: 'http' })
    const authenticated = admission.countUnauthenticated(countedAddress(request, address))
    const { withdrawals } = sessionManager
    const identity = await authentication.authenticate(token, origin).finally(authenticated)
    if (response.destroyed) return false
    if (identity instanceof TokenRejectedError) {
      const { code, reason } = authentication.reject(identity, address, path)
      sendClosed(response, code, reason)
      return false
    }
    const { workspaceId } = identity.tenant
    const full = admission.workspaceProblem(workspaceId)
    if (full !== null) {
      this.#reject(response, address, full, path, identity.tenant)
      return false
    }
    admission.countWorkspace(ticket, workspaceId)
    const document = documentPrefix(documentAddress(identity.tenant, path), path.documentId)
    if (await this.#forward(document, request, response)) return false
    if (response.destroyed) return false
    // A second GET may have begun the session while this one waited.
    if (this.#sessions.has(events.sessionId)) {
      sendClosed(response, closeCodes.tryAgainLater, 'the session begins with another request; connect again')
      return false
    }
    const socket = this.#add(events, { address, workspaceId }, { identity, secret: events.secret }, ticket)
    socket.attach(response, { position: 0, waitMs: events.waitMs })
    sessionManager.admitDocument(socket, requested, identity, address, withdrawals)
    return true
  }

  /** Forwards a request. Resolves with false, and does nothing, if this node owns the document. */
  async #forward(document: Key, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { forwarder, metrics, proxies } = this.#dependencies
    if (!forwarder.isElsewhere(document)) return false
    const body = request.method === 'POST' ? postedBody(request, metrics) : noBody
    const requestId = String(response.getHeader('x-request-id'))
    const client = { clientAddress: clientAddress(request, proxies), requestId }
    const options = { kind: 'session', ...client, ...body } as const
    const exchange = await forwarder.send(request, document, options, goneSignal(response))
    if (exchange === null) return false
    const { outgoing } = exchange
    this.#passing.add(outgoing)
    await passResponse(exchange.response, response, metrics).finally(() => this.#passing.delete(outgoing))
    return true
  }

  /**
   * Forwards a further request of a session that another node may have. Resolves with false, and does nothing, if no
   * other node can have it. The tokens of a session with several documents are in its messages, so that only the node
   * that began it knows the session.
   */
  async #forwardKnown(
    { sessionId, requested }: SessionRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    if (this.#dependencies.cluster.others().length === 0 || forwardedRequests.has(request)) return false
    if (requested.kind !== 'document') return false
    const document = await this.#located.get(sessionId, () => this.#locate(requested, request))
    return document !== null && this.#forward(document, request, response)
  }

  /** Returns the document of a request; null if its token is rejected. The node of the session checks each request. */
  async #locate({ token, origin, path }: DocumentRequest, request: IncomingMessage): Promise<Key | null> {
    const { authentication, proxies } = this.#dependencies
    if (authentication.admission.takeConnect(clientAddress(request, proxies)) !== null) throw uncheckable()
    const identity = await authentication.authenticate(token, origin)
    if (!(identity instanceof TokenRejectedError))
      return documentPrefix(documentAddress(identity.tenant, path), path.documentId)
    if (isUndetermined(identity)) throw uncheckable()
    return null
  }

  #add(
    { sessionId, requested }: SessionGet,
    owner: SocketOwner,
    credentials: Omit<HttpSession, 'socket'>,
    ticket: AdmissionTicket,
  ): HttpSocket {
    const { acceptor, time, authentication } = this.#dependencies
    const socket = new HttpSocket(owner, requested.kind === 'multiplexed', acceptor, time, () => {
      this.#sessions.delete(sessionId)
      authentication.admission.release(ticket)
    })
    socket.onClosed((code) => this.#closeReporter.closed(code))
    this.#sessions.set(sessionId, { socket, ...credentials })
    return socket
  }

  /** Returns the error if a request does not belong to the user of its session; otherwise null. */
  async #problemOf(
    session: HttpSession,
    { requested, secret }: SessionRequest,
    request: IncomingMessage,
  ): Promise<ApiError | null> {
    if (requested.kind === 'invalid' || requested.kind === 'otherPath')
      throw invalidRequest('the path is invalid')
    const { token, origin } = requested
    if (isSameSecret(session.secret, secret)) return null
    const { authentication, proxies } = this.#dependencies
    const otherUser = new ApiError(
      'transport/other-user',
      'the session belongs to another user; begin another session',
    )
    if (session.identity === null || token === null) return otherUser
    const counted = countedAddress(request, clientAddress(request, proxies))
    if (authentication.admission.takeConnect(counted) !== null) return uncheckable()
    const identity = await authentication.authenticate(token, origin)
    if (identity instanceof TokenRejectedError) return isUndetermined(identity) ? uncheckable() : otherUser
    if (!isSameUser(session.identity, identity)) return otherUser
    session.secret = secret
    return null
  }

  #reportTooLarge({ identity }: HttpSession, request: IncomingMessage): void {
    const { reports, proxies } = this.#dependencies
    reports.exceeded('maxMessageBytes', identity?.tenant.workspaceId ?? clientAddress(request, proxies))
  }

  #answer(response: ServerResponse, outcome: PostOutcome, number: number): void {
    if (outcome.kind === 'dropped') return void response.destroy()
    const { received } = outcome
    switch (outcome.kind) {
      case 'received':
        return sendJson(response, 200, { received })
      case 'gap': {
        const message = `the messages before number ${number} are missing; send them first`
        const error = new ApiError('transport/message-gap', message, { details: { received } })
        return sendJson(response, error.httpCode, { ...errorEnvelope(error), received })
      }
      case 'malformed':
        throw invalidRequest('the body must be messages, each with its length before it')
      case 'tooLarge': {
        const { messageBytesMax } = this.#dependencies.acceptor.options
        throw new ApiError(
          'transport/message-too-large',
          `the message is larger than ${messageBytesMax} bytes; split the change`,
        )
      }
    }
  }

  /** Sends the reason of a rejection, and logs the rejection. */
  #reject(
    response: ServerResponse,
    address: string,
    reason: Close,
    requested: Requested,
    tenant: Tenant | null = null,
  ): void {
    this.#dependencies.authentication.refuse(address, reason, requested, tenant)
    sendClosed(response, reason.code, reason.reason)
  }
}

const uncheckable = (): ApiError =>
  new ApiError('server/store-unavailable', 'the token could not be checked; try again', {
    retryAfterSeconds: 1,
  })

const noBody = { repeat: 'always', write: (outgoing: ClientRequest): void => void outgoing.end() } as const

/** Returns how the body of a POST is forwarded, at the speed of the other node, which limits its time and size. */
function postedBody(request: IncomingMessage, metrics: Metrics) {
  timedRequests.add(request)
  const { 'content-length': length } = request.headers
  return {
    repeat: 'never',
    ...(length !== undefined && { headers: { 'content-length': length } }),
    write: (outgoing: ClientRequest): void =>
      void passBody(request.iterator({ destroyOnReturn: false }), outgoing, metrics).catch(() =>
        outgoing.destroy(),
      ),
  } as const
}

function sendJson(response: ServerResponse, httpCode: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(httpCode, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': text.length,
  })
  response.end(text)
}

const isSameSecret = (a: string | null, b: string | null): boolean =>
  a === null || b === null ? a === b : timingSafeEqualText(a, b)

const isSameUser = (a: Identity, b: Identity): boolean =>
  a.userId === b.userId &&
  a.tenant.apiKey === b.tenant.apiKey &&
  a.tenant.workspaceId === b.tenant.workspaceId
