import type { Identity } from '../../access/identity.ts'
import type { Permission } from '../../access/realtime-access.ts'
import type { DocumentAddress, DocumentPath } from '../../model/address.ts'
import type { ChangeMeta } from '../../model/change-origin.ts'
import type { RoomHandle } from '../../rooms/registry/room-registry.ts'
import type { ConnectionTrace } from '../../tracing/trace.ts'
import type { Protocol } from '../protocols/message.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { SocketTokens } from './socket-tokens.ts'

/**
 * An authenticated client, and the websocket (or the channel of a multiplexed one) on which it opens a
 * document.
 */
export interface AuthenticatedClient {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly identity: Identity
  readonly path: DocumentPath
  readonly clientAddress: string
  /** Origin of the page; undefined if the client is not a page. */
  readonly origin: string | undefined
  /** Version of the schema that the client has; null if it announces none. */
  readonly schemaVersion: number | null
  /**
   * True if the server closes the socket with a transient code when the token expires, so that the client
   * reconnects with a newer token.
   */
  readonly renews: boolean
  /** Checks newer tokens of the client. */
  readonly tokens: SocketTokens
  /** True if the client is on a multiplexed websocket, which may carry several documents. */
  readonly isMultiplexed: boolean
  /** True if the client understands live messages. */
  readonly receivesLive: boolean
  /** True if the client has requested its own updates. */
  readonly echoes: boolean
  /**
   * Value of `SessionManager.withdrawals` before the token was checked; later withdrawals are applied when
   * the session starts.
   */
  readonly withdrawals: number
  /** The trace of the connection; undefined if the connection is not traced. */
  readonly trace: ConnectionTrace | undefined
}

/** The values that are read for a client before its session starts. */
export interface SessionStart {
  readonly roomHandle: RoomHandle
  readonly address: DocumentAddress
  /** The permission of the user on the document, which was read when the client connected. */
  readonly permission: Permission
  /** Data to store with the changes of an agent; null if there is none. */
  readonly meta: ChangeMeta | null
}
