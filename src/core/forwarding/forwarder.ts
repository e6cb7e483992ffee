import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ForwardedRequest, forwardedRequests } from '../access/forwarded-requests.ts'
import type { Clock } from '../base/clock.ts'
import { currentTrace, startSpan } from '../base/current-trace.ts'
import { ApiError } from '../base/errors.ts'
import { withoutTrailing } from '../base/text.ts'
import { toTraceHeaders } from '../base/trace-context.ts'
import type { ForwardKind, Metrics } from '../metrics/metrics.ts'
import { requestIdOf } from '../model/raw-response.ts'
import { KeyedCounter } from '../quota/keyed-counter.ts'
import type { Cluster, Key, NodeAddress } from '../store/engine.ts'
import { ForwardSigner, forwardedHeader } from './forward-signer.ts'
import { type NodeExchange, NodeNotReachedError, openExchange } from './node-connection.ts'
import { NodeDepartures } from './node-departures.ts'

/** Header of the response to a forwarded request of which nothing was done, because its document has moved. */
export const movedHeader = 'x-weft-moved'

/** Maximum number of connections to one node for calls. Further calls wait for a connection. */
const callSocketsMax = 256
/** Maximum number of calls to one node that are in progress, or wait for a connection. */
const callsMax = 4_096
/**
 * Time in ms after which a request is sent again, once. The nodes then have the same list of nodes, unless it changes
 * again.
 */
const retryMs = 100

/** Headers that belong to one connection, or that the forwarding node sets itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  forwardedHeader,
])

interface ForwardOptions {
  readonly kind: ForwardKind
  /** Address of the client, as limits count it. */
  readonly clientAddress: string
  /** Id of the request in logs and responses. Default: the one of the client. */
  readonly requestId?: string
  readonly tool?: string | null
  /** Number of the websocket, as in `ForwardedRequest`. */
  readonly websocket?: number | null
  /** Headers in addition to those of the client, such as the length of the body. */
  readonly headers?: OutgoingHttpHeaders
  /** Writes the body, or its start. Called again if the request is sent again. */
  readonly write: (outgoing: ClientRequest) => void
  /**
   * When the request may be sent again. `always`: it has no effect, so that the first node may also have received
   * it. `ifUndone` (default): the first node has done nothing. `never`: the body can be written only once.
   */
  readonly repeat?: 'always' | 'ifUndone' | 'never'
}

/** A websocket to another node. */
export interface NodeHandshake {
  /** Id of the node. */
  readonly node: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

interface ForwardedExchange extends NodeExchange {
  /** Id of the node. */
  readonly node: string
}

/** Parts of a server that the forwarder needs. */
interface Dependencies {
  readonly cluster: Pick<Cluster, 'self' | 'owner' | 'others' | 'on'>
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'forwarded'>
}

/**
 * Sends the requests of clients to the nodes that own their documents. Each request is forwarded at most once. The
 * owner checks the credentials again; it takes only the address of the client from the node that has forwarded the
 * request.
 */
export class Forwarder {
  readonly #cluster: Dependencies['cluster']
  readonly #metrics: Dependencies['metrics']
  readonly #signer: ForwardSigner
  readonly #calls = new Agent({ keepAlive: true, maxSockets: callSocketsMax })
  /** Connections of requests that may take long. The limits of clients bound their number. */
  readonly #streams = new Agent({ keepAlive: true })
  readonly #inProgress = new KeyedCounter(callsMax)
  /** Ends the connections to nodes that leave the list. Requests are watched; the user of a websocket must watch it. */
  readonly departures: NodeDepartures

  /**
   * @param secret a secret of all nodes
   * @param previousSecret also accepted, while the nodes replace their secret
   */
  constructor({ cluster, clock, metrics }: Dependencies, secret: string, previousSecret: string | null) {
    this.#cluster = cluster
    this.#metrics = metrics
    this.departures = new NodeDepartures(cluster)
    this.#signer = new ForwardSigner(secret, previousSecret, clock)
  }

  /** Recognizes a request that another node has forwarded. Call it before anything else uses the request. */
  receive(request: IncomingMessage): void {
    if (request.headers[forwardedHeader] === undefined) return
    const forwarded = this.#signer.verify(request)
    if (forwarded !== null) forwardedRequests.set(request, forwarded)
  }

  /** Returns whether another node owns the document. */
  isElsewhere(document: Key): boolean {
    return this.ownerOf(document) !== this.#cluster.self
  }

  /** Returns the id of the node that owns the document. */
  ownerOf(document: Key): string {
    return this.#cluster.owner(document).id
  }

  /**
   * Sends a request to the owner of a document. Resolves with the start of the response; null if this node owns the
   * document.
   * @param gone aborts when the client has disconnected
   * @throws ApiError UNAVAILABLE if the request was forwarded before, or if the owner cannot be reached
   */
  async send(
    request: IncomingMessage,
    document: Key,
    options: ForwardOptions,
    gone: AbortSignal,
  ): Promise<ForwardedExchange | null> {
    for (let isAgain = false; this.isElsewhere(document); isAgain = true) {
      if (forwardedRequests.has(request)) throw new DocumentMovedError()
      const attempt = await this.#attempt(request, this.#cluster.owner(document), options, gone)
      if (typeof attempt !== 'string') return attempt
      if (isAgain || options.repeat === 'never')
        throw attempt === 'moved' ? new DocumentMovedError() : new OwnerUnreachableError()
      await sleep(retryMs)
    }
    return null
  }

  /**
   * Returns how to open a websocket of this server's own to another node; null if the node has no address.
   * @param path path of the websocket, such as `/hocuspocus`
   */
  handshake(node: string, path: string, clientAddress: string, origin?: string): NodeHandshake | null {
    const { id, url } = this.#cluster.others().find(({ id }) => id === node) ?? { id: node, url: null }
    if (url === null) return null
    const statement = { node: this.#cluster.self, clientAddress, tool: null, websocket: null }
    const signature = this.#signer.sign({ method: 'GET', url: path, headers: {} }, statement)
    return {
      node: id,
      url: `${withoutTrailing('/', url.replace(/^http/i, 'ws'))}${path}`,
      headers: { [forwardedHeader]: signature, ...(origin !== undefined && { origin }) },
    }
  }

  /** Ends the connections to other nodes, except those of websockets. */
  close(): void {
    this.departures.close()
    this.#calls.destroy()
    this.#streams.destroy()
  }

  /**
   * Returns a text if the request can be sent again: the node does not own the document, or cannot be reached and has
   * done nothing.
   */
  async #attempt(
    request: IncomingMessage,
    owner: NodeAddress,
    options: ForwardOptions,
    gone: AbortSignal,
  ): Promise<ForwardedExchange | 'moved' | 'unreached'> {
    const isCall = options.kind === 'call'
    if (owner.url === null) return 'unreached'
    if (isCall && this.#inProgress.isFull(owner.id)) throw new OwnerUnreachableError()
    const leave = isCall ? this.#inProgress.enter(owner.id) : null
    const span = startSpan('forward', { 'weft.node': owner.id, 'weft.kind': options.kind }, 'client')
    try {
      const exchange = await openExchange(
        {
          ...destinationOf(owner.url, request.url ?? ''),
          method: request.method,
          headers: this.#headersOf(request, options, span?.context ?? currentTrace()?.context),
          agent: isCall ? this.#calls : options.kind === 'websocket' ? false : this.#streams,
          signal: gone,
        },
        options.write,
        (end) => this.departures.watch(owner.id, end),
      )
      span?.set({ 'http.response.status_code': exchange.response.statusCode ?? 0 })
      if (exchange.response.headers[movedHeader] !== undefined) {
        exchange.response.resume()
        return 'moved'
      }
      this.#metrics.forwarded.requests[options.kind] += 1
      return { ...exchange, node: owner.id }
    } catch (error) {
      if (error instanceof NodeNotReachedError || (options.repeat === 'always' && !gone.aborted))
        return 'unreached'
      throw new OwnerUnreachableError(error)
    } finally {
      leave?.()
      span?.end()
    }
  }

  #headersOf(
    request: IncomingMessage,
    { clientAddress, requestId, tool = null, websocket = null, headers: added }: ForwardOptions,
    trace: Parameters<typeof toTraceHeaders>[0] | undefined,
  ): OutgoingHttpHeaders {
    const kept = Object.entries(request.headers).filter(([name]) => !ownHeaders.has(name))
    const headers = {
      ...Object.fromEntries(kept),
      'x-request-id': requestId ?? requestIdOf(request.headers['x-request-id']),
      ...(trace !== undefined && toTraceHeaders(trace)),
      ...added,
    }
    const { method, url } = request
    const statement: ForwardedRequest = { node: this.#cluster.self, clientAddress, tool, websocket }
    const signed = { method, url, headers: { 'x-request-id': headers['x-request-id'] } }
    return { ...headers, [forwardedHeader]: this.#signer.sign(signed, statement) }
  }
}

function destinationOf(nodeUrl: string, path: string) {
  const { hostname, port, pathname } = new URL(nodeUrl)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 80 : Number(port),
    path: withoutTrailing('/', pathname) + path,
  }
}

/** The error of a request that could not be forwarded. */
export abstract class ForwardError extends ApiError {}

export const movedMessage = 'the document moves to another node; try again'

/** The document moves from one node to another. Nothing was done. */
export class DocumentMovedError extends ForwardError {
  constructor() {
    super('cluster/document-moved', movedMessage, { retryAfterSeconds: 1 })
  }
}

/** The owner of the document has not answered. The request may have taken effect. */
export class OwnerUnreachableError extends ForwardError {
  constructor(cause?: unknown) {
    const message = 'the node that has the document has not answered; try again'
    super('cluster/owner-unreachable', message, { retryAfterSeconds: 1, cause })
  }
}
