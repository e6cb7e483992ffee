import type { Identity } from '../../access/identity.ts'
import type { Permission } from '../../access/realtime-access.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { ChangeMeta } from '../../model/change-origin.ts'
import type { RoomHandle } from '../../rooms/room/room-registry.ts'
import type { ConnectionTrace } from '../../tracing/trace.ts'
import type { Protocol } from '../protocols/message.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { SocketTokens } from './socket-tokens.ts'

/** The values and dependencies of one session. */
export interface SessionOptions {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly roomHandle: RoomHandle
  readonly identity: Identity
  readonly address: DocumentAddress
  readonly clientAddress: string
  /** The permission of the user on the document, which was read when the client connected. */
  readonly permission: Permission
  /**
   * Reads the permission from the directory again and passes it to `changePermission`.
   * @throws StoreUnavailableError
   */
  readonly recheck: () => Promise<void>
  /**
   * True if the server closes the socket with a transient code when the token expires, so that the client
   * reconnects with a newer token.
   */
  readonly renews: boolean
  /** Checks newer tokens. */
  readonly tokens: SocketTokens
  /** True if the session is on a multiplexed websocket, which may carry several documents. */
  readonly isMultiplexed: boolean
  /** True if the client has requested its own updates. */
  readonly echoes?: boolean
  /** Data to store with the changes of an agent; null or undefined if there is none. */
  readonly meta?: ChangeMeta | null
  /** The trace of the connection; undefined if the connection is not traced. */
  readonly trace: ConnectionTrace | undefined
}
