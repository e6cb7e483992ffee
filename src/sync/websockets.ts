import { type Server, WebSocketServer } from 'ws'
import { badHandshake, refuseUpgrade } from './refusal.ts'
import { SyncSocket } from './socket.ts'

/** What `ws` calls the error of a message that is larger than it takes. */
export const messageTooBig = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

/** Options that `ws` has and its types don't know yet. */
const socketLimits = {
  /** How long a client may take to answer our close frame, in milliseconds. */
  closeTimeout: 5_000,
  /** An ordinary client sends one message in one frame. */
  maxFragments: 1_024,
}

/** Makes websockets of connections, with messages up to one size; to those who have no proper handshake it says so. */
export function websockets(messageBytesMax: number): Server<typeof SyncSocket> {
  const server = new WebSocketServer<typeof SyncSocket>({
    noServer: true,
    clientTracking: false,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    WebSocket: SyncSocket,
    ...socketLimits,
  })
  // Without this `ws` answers with a page.
  return server.on('wsClientError', ({ message }, connection, request) =>
    refuseUpgrade(request, connection, badHandshake(message)),
  )
}
