import type { Identity } from '../../access/identity.ts'
import type { Permission } from '../../access/realtime-access.ts'
import type { Clock } from '../../clock.ts'
import type { StorageQuota } from '../../directory/storage-quota.ts'
import type { Metrics } from '../../metrics.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { LimitReports } from '../../quota/limit-reports.ts'
import type { LiveMessageHub } from '../../rooms/room/live-messages.ts'
import type { RoomHandle } from '../../rooms/room/room-registry.ts'
import type { RejectionLog } from '../connect/rejection-log.ts'
import type { Protocol } from '../protocols/message.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import type { ReadBackpressure } from '../socket/read-backpressure.ts'
import type { ReceiveRateLimit } from '../socket/receive-rate-limit.ts'
import type { SocketTokens } from './socket-tokens.ts'

/** What sessions work with; the same for all. */
export interface SessionDependencies {
  readonly clock: Clock
  /** Milliseconds that never go back, for what is measured. */
  readonly time: () => number
  readonly metrics: Metrics
  readonly backpressure: ReadBackpressure
  readonly receiveRate: ReceiveRateLimit
  readonly reports: LimitReports
  readonly rejections: RejectionLog
  readonly allowSubdocuments: boolean
  readonly documentBytesMax: number
  readonly storage: StorageQuota
  /** Where what clients say to each other goes. */
  readonly live: LiveMessageHub
}

/** What one session is made of. */
export interface SessionOptions {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly roomHandle: RoomHandle
  readonly identity: Identity
  readonly address: DocumentAddress
  /** Address of the client. */
  readonly clientAddress: string
  /** What the directory said about the user and the document when the client connected. */
  readonly permission: Permission
  /** Reads the permission from the directory and calls `changePermission` with it. @throws StoreUnavailableError */
  readonly recheck: () => Promise<void>
  /** The client asked to be told to reconnect, instead of being refused, when its token ends. */
  readonly renews: boolean
  /** Checks newer tokens; null: none come while the client is connected. */
  readonly tokens: SocketTokens | null
}
