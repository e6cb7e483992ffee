import type { DocumentAccess } from '../access/document-access.ts'
import type { Identity } from '../access/identity.ts'
import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import type { DocumentAddress } from '../model/address.ts'
import type { LimitReports } from '../quota/reports.ts'
import type { Live } from '../rooms/live.ts'
import type { Lease } from '../rooms/rooms.ts'
import type { ClientSocket } from './client-socket.ts'
import type { Inflow } from './inflow.ts'
import type { ReadPressure } from './pressure.ts'
import type { Protocol } from './protocols/message.ts'
import type { SocketTokens } from './socket-tokens.ts'

/** What sessions work with; the same for all. */
export interface SessionTools {
  readonly clock: Clock
  /** Milliseconds that never go back, for what is measured. */
  readonly time: () => number
  readonly metrics: Metrics
  readonly pressure: ReadPressure
  readonly inflow: Inflow
  readonly reports: LimitReports
  readonly allowSubdocuments: boolean
  readonly documentBytesMax: number
  /** Where what clients say to each other goes. */
  readonly live: Live
}

/** What one session is made of. */
export interface SessionParts {
  readonly socket: ClientSocket
  readonly protocol: Protocol
  readonly lease: Lease
  readonly identity: Identity
  readonly address: DocumentAddress
  /** What the directory said about the user and the document when the client connected. */
  readonly access: DocumentAccess
  /** The client asked to be told to reconnect, instead of being refused, when its token ends. */
  readonly renews: boolean
  /** Checks newer tokens; null: none come while the client is connected. */
  readonly tokens: SocketTokens | null
}
