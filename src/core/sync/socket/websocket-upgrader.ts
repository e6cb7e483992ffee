import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Server, WebSocketServer } from 'ws'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { closeCodes } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { LimitName } from '../../quota/limits.ts'
import { invalidHandshake, rejectUpgrade } from '../admission/http-rejection.ts'
import { messageTooEarly, tooMuchAfterClose, transferTooSlow } from './incomplete-message.ts'
import { SyncSocket } from './sync-socket.ts'

export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
  readonly address: string
}

/** Upgrades connections to websockets, and limits the size of their messages. */
export class WebsocketUpgrader {
  readonly #sockets: Server<typeof SyncSocket>
  readonly #messageBytesMax: number
  readonly #closeReporter: CloseReporter
  readonly #onClose = (code: number): void => this.#closeReporter.closed(code)

  /** @param messageBytesMax maximum size of a message in bytes */
  constructor(messageBytesMax: number, closeReporter: CloseReporter) {
    this.#sockets = createWebsocketServer(messageBytesMax)
    this.#messageBytesMax = messageBytesMax
    this.#closeReporter = closeReporter
  }

  /**
   * Upgrades a connection, and calls `then` with the websocket.
   * @param limitKey key for the limit report, if a message is too large
   */
  accept(
    { request, connection, head }: UpgradeRequest,
    limitKey: string,
    then: (socket: SyncSocket) => void,
  ): void {
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.messageBytesMax = this.#messageBytesMax
      this.#watch(socket, limitKey)
      then(socket)
    })
  }

  /**
   * Adds the listeners for errors and closes. This is a separate method, so that the listeners do not keep
   * the request in memory.
   */
  #watch(socket: SyncSocket, limitKey: string): void {
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#closeReporter.failed(error.code ?? '', error, limitKey),
    )
    socket.on('close', this.#onClose)
  }
}

/** Options of `ws` that its type declarations lack. */
const socketLimits = {
  /** Maximum milliseconds that a client may take to reply to a close frame. */
  closeTimeout: 5_000,
  /** Maximum number of fragments of a message. An ordinary client sends each message in one frame. */
  maxFragments: 1_024,
}

/**
 * Creates a websocket server without an HTTP server. @param messageBytesMax maximum size of a message in
 * bytes
 */
function createWebsocketServer(messageBytesMax: number): Server<typeof SyncSocket> {
  const server = new WebSocketServer<typeof SyncSocket>({
    noServer: true,
    clientTracking: false,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    // `SyncSocket` answers pings.
    autoPong: false,
    WebSocket: SyncSocket,
    ...socketLimits,
  })
  // `handshakeError` has already checked the request, so an error is rare. Without this listener, `ws` would
  // respond with an HTML page.
  return server.on('wsClientError', ({ message }, connection, request) =>
    rejectUpgrade(request, connection, invalidHandshake(message)),
  )
}

/** Error code of `ws` for a message that is larger than the websocket server accepts. */
const messageTooLarge = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

/** Reports errors and closes of websockets. */
export class CloseReporter {
  readonly #limit: LimitName
  readonly #logger: Log
  readonly #metrics: Metrics
  readonly #reports: LimitReports

  /** @param limit name of the limit that a message exceeds if it is too large */
  constructor(limit: LimitName, logger: Log, metrics: Metrics, reports: LimitReports) {
    this.#limit = limit
    this.#logger = logger
    this.#metrics = metrics
    this.#reports = reports
  }

  /**
   * Reports an error.
   * @param code error code of `ws`
   * @param limitKey key for the limit report
   */
  failed(code: string, err: { readonly message: string }, limitKey: string): void {
    this.#logger.debug({ err, code }, 'websocket error')
    if (code === messageTooLarge) this.#reports.exceeded(this.#limit, limitKey)
    if (code === messageTooEarly) this.#reports.exceeded('incompleteMessageBytes', limitKey)
    if (code === tooMuchAfterClose) this.#reports.exceeded('unauthenticatedBytes', limitKey)
    if (code === transferTooSlow) this.#reports.exceeded('transferTimeoutSeconds', limitKey)
  }

  /** Counts a close in a metric. @param code close code, or the code that represents a missing close frame */
  closed(code: number): void {
    this.#metrics.connectionsClosed.inc({ code: codeLabel(code) })
  }
}

const ownCodes = new Set<number>(Object.values(closeCodes))

/** Returns the metric label of a close code. Arbitrary codes of clients must not create metric series. */
const codeLabel = (code: number): string =>
  ownCodes.has(code) || (code >= 1000 && code < 1016) ? String(code) : 'other'
