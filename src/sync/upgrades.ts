import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { closeCodes } from '../model/close.ts'
import type { LimitName } from '../quota/limits.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { Knock } from './knock.ts'
import { badHandshake, refuseUpgrade } from './refusal.ts'
import { SyncSocket } from './socket.ts'

export interface UpgradesParts {
  readonly logger: Log
  readonly metrics: Metrics
  readonly reports: LimitReports
}

/** What `ws` calls the error of a message that is larger than it takes. */
const messageTooBig = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

/** Options that `ws` has and its types don't know yet. */
const socketLimits = {
  /** How long a client may take to answer our close frame, in milliseconds. */
  closeTimeout: 5_000,
  /** An ordinary client sends one message in one frame. */
  maxFragments: 1_024,
}

/** Makes websockets of connections, with messages up to one size. */
export class Upgrades {
  readonly #sockets: WebSocketServer
  readonly #limit: LimitName
  readonly #parts: UpgradesParts

  /** @param limit what has acted when a message is larger */
  constructor(messageBytesMax: number, limit: LimitName, parts: UpgradesParts) {
    this.#sockets = socketServer(messageBytesMax)
    this.#limit = limit
    this.#parts = parts
  }

  /** @param who is told of when a message is too large */
  accept({ request, connection, head }: Knock, who: string, then: (socket: WebSocket) => void): void {
    const { logger, metrics, reports } = this.#parts
    this.#sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.on('error', (error: NodeJS.ErrnoException) => {
        logger.debug({ err: error }, 'websocket error')
        if (error.code === messageTooBig) reports.acted(this.#limit, who)
      })
      socket.once('close', (code) => metrics.connectionsClosed.inc({ code: codeLabel(code) }))
      then(socket)
    })
  }
}

function socketServer(maxPayload: number): WebSocketServer {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload,
    perMessageDeflate: false,
    WebSocket: SyncSocket,
    ...socketLimits,
  })
  // Without this `ws` answers with a page.
  return server.on('wsClientError', ({ message }, connection, request) =>
    refuseUpgrade(request, connection, badHandshake(message)),
  )
}

const ownCodes = new Set<number>(Object.values(closeCodes))

/** Codes that clients make up must not make up series. */
const codeLabel = (code: number): string =>
  ownCodes.has(code) || (code >= 1000 && code < 1016) ? String(code) : 'other'
