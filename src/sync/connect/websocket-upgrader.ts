import { type Server, WebSocketServer } from 'ws'
import type { LimitName } from '../../quota/limits.ts'
import { CloseReporter, type CloseReporterDependencies } from '../socket/close-reporter.ts'
import { SyncSocket } from '../socket/sync-socket.ts'
import { invalidHandshake, rejectUpgrade } from './http-rejection.ts'
import type { UpgradeRequest } from './upgrade-request.ts'

/** Makes websockets of connections, with messages up to one size. */
export class WebsocketUpgrader {
  readonly #sockets: Server<typeof SyncSocket>
  readonly #closeReporter: CloseReporter
  readonly #onClose = (code: number): void => this.#closeReporter.closed(code)

  /** @param limit exceeded by messages that are larger */
  constructor(messageBytesMax: number, limit: LimitName, dependencies: CloseReporterDependencies) {
    this.#sockets = createWebsocketServer(messageBytesMax)
    this.#closeReporter = new CloseReporter(limit, dependencies)
  }

  /** @param limitKey is told of when a message is too large */
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

  /** Apart from the above, so that what is kept for as long as the socket does not keep its request. */
  #watch(socket: SyncSocket, limitKey: string): void {
    socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#closeReporter.failed(error.code ?? '', error, limitKey),
    )
    socket.on('close', this.#onClose)
  }
}

/** Options that `ws` has and its types don't have yet. */
const socketLimits = {
  /** How long a client may take to answer our close frame, in milliseconds. */
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
  // `handshakeError` has checked the request before. Without this `ws` answers with a page.
  return server.on('wsClientError', ({ message }, connection, request) =>
    rejectUpgrade(request, connection, invalidHandshake(message)),
  )
}
