import type { IncomingMessage } from 'node:http'
import type { Duplex, Writable } from 'node:stream'
import { type RawData, type Server, WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../../base/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { closeCodes } from '../../model/close.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { LimitName } from '../../quota/limits.ts'
import { invalidHandshake, rejectUpgrade } from '../admission/http-rejection.ts'
import type { SocketListener } from './client-socket.ts'
import {
  limitClosing,
  messageTooEarly,
  rejectedBytesMax,
  tooMuchAfterClose,
  transferTooSlow,
} from './incomplete-message.ts'
import type { MessageCutter } from './message-cutter.ts'

export interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly connection: Duplex
  readonly head: Buffer
  readonly address: string
}

/**
 * Close code that `ws` uses for a message that is too large (RFC 6455 7.4.1). Clients treat this code as
 * transient and reconnect.
 */
const messageTooBigCode = 1009

/**
 * A websocket with one listener. After a message that is too large, the websocket closes with a permanent
 * code instead of the code of `ws`, because the client would reconnect and only repeat the message.
 */
export class SyncSocket extends WebSocket {
  #listener: SocketListener | null = null
  /** Maximum size of a message in bytes, for the text of the close reason. */
  messageBytesMax = 0
  /** Cuts messages that are too large; null if they close the websocket. */
  #cutter: MessageCutter | null = null
  #isAdmitted = false

  /** Records that the client is authenticated. A large message of it may be on its way when the server closes. */
  admit(): void {
    this.#isAdmitted = true
  }

  /**
   * Sets the listener. Call it once. All sockets register the same function with `ws`, because separate
   * functions would take memory for each socket.
   */
  listen(listener: SocketListener): void {
    this.#listener = listener
    this.on('message', onMessage)
  }

  /**
   * Reports messages that are too large to the listener, instead of closing the websocket. Call it before the
   * first message is read.
   */
  cutLargeMessages(cutter: MessageCutter): void {
    this.#cutter = cutter
    // `ws` has no option for this: its receiver ends a websocket at the header of a frame that is too large.
    const receiver = Reflect.get(this, '_receiver') as Writable
    const write = receiver.write.bind(receiver) as (chunk: Buffer) => boolean
    receiver.write = (chunk: Buffer): boolean =>
      cutter.pass(chunk).reduce((isEmpty, part) => write(part) && isEmpty, true)
  }

  received(data: Buffer, isBinary: boolean): void {
    const cutBytes = this.#cutter?.nextCutBytes() ?? null
    if (cutBytes === null) this.#listener?.message(data, isBinary)
    else this.#listener?.messageTooLarge(data, cutBytes)
  }

  static listenerOf(socket: WebSocket): SocketListener | null {
    return socket instanceof SyncSocket ? socket.#listener : null
  }

  /** Closes the websocket. Nothing else limits the bytes that the client sends until it has replied. */
  override close(code?: number, data?: string | Buffer): void {
    // `ws` calls this method after an error of the client, and again to reply to a close frame.
    if (this.readyState === WebSocket.OPEN)
      limitClosing(
        this,
        Reflect.get(this, '_socket') as Duplex,
        rejectedBytesMax + (this.#isAdmitted ? this.messageBytesMax : 0),
      )
    if (code === messageTooBigCode)
      super.close(closeCodes.tooLarge, `message larger than ${this.messageBytesMax} bytes`)
    else super.close(code, data)
  }
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  if (this instanceof SyncSocket) this.received(data as Buffer, isBinary)
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
