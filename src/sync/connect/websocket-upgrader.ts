import { type Server, WebSocketServer } from 'ws'
import type { LimitName } from '../../quota/limits.ts'
import { CloseReporter, type CloseReporterDependencies } from '../socket/close-reporter.ts'
import { SyncSocket } from '../socket/sync-socket.ts'
import { invalidHandshake, rejectUpgrade } from './http-rejection.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

/** Upgrades connections to websockets, with a maximum message size. */
export class WebsocketUpgrader {
  readonly #sockets: Server<typeof SyncSocket>
  readonly #closeReporter: CloseReporter
  readonly #onClose = (code: number): void => this.#closeReporter.closed(code)

  /** @param limit exceeded by messages that are larger */
  constructor(messageBytesMax: number, limit: LimitName, dependencies: CloseReporterDependencies) {
    this.#sockets = createWebsocketServer(messageBytesMax)
    this.#closeReporter = new CloseReporter(limit, dependencies)
  }

  /** @param limitKey key for the limit report when a message is too large */
  accept(
    { request, connection, head }: UpgradeRequest,
    limitKey: string,
    then: (socket: SyncSocket) => void,
  ): void {
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      this.#watch(socket, limitKey)
      then(socket)
    })
  }

  /** A separate method, so that the listeners do not retain the request. */
  #watch(socket: SyncSocket, limitKey: string): void {
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#closeReporter.failed(error.code ?? '', error, limitKey),
    )
    socket.on('close', this.#onClose)
  }
}

/** Options of `ws` that its types do not have yet. */
const socketLimits = {
  /** Maximum time of a client to answer a close frame, in ms. */
  closeTimeout: 5_000,
  /** An ordinary client sends one message in one frame. */
  maxFragments: 1_024,
}

/** @param messageBytesMax size of a message, at most */
function createWebsocketServer(messageBytesMax: number): Server<typeof SyncSocket> {
  const server = new WebSocketServer<typeof SyncSocket>({
    noServer: true,
    clientTracking: false,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    WebSocket: SyncSocket,
    ...socketLimits,
  })
  // `handshakeError` has checked the request before. Without this listener, `ws` responds with a page.
  return server.on('wsClientError', ({ message }, connection, request) =>
    rejectUpgrade(request, connection, invalidHandshake(message)),
  )
}
