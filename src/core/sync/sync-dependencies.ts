import type { RealtimeAccess } from '../access/realtime-access.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { StorageQuota } from '../directory/storage-quota.ts'
import type { AttributionSetting } from '../directory/tenants/attribution-setting.ts'
import type { Forwarder } from '../forwarding/forwarder.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { LimitReports } from '../quota/limit-reports.ts'
import type { EditorLoader } from '../rooms/edits/editor-loader.ts'
import type { RoomRegistry } from '../rooms/registry/room-registry.ts'
import type { Cluster } from '../store/engine.ts'
import type { Tracer } from '../tracing/trace.ts'
import type { RejectionLog, ServerFaults } from './admission/rejection-log.ts'
import type { SocketAcceptor } from './socket/local-socket.ts'
import type { ReadBackpressure } from './socket/read-backpressure.ts'
import type { ReceiveRateLimit } from './socket/receive-rate-limit.ts'
import type { SharedFrameReceiver } from './socket/shared-frame-receiver.ts'

/** What the parts of the sync edge and all its sessions have in common. */
export interface SyncDependencies {
  /** Accepts the websockets of admitted clients. */
  readonly acceptor: SocketAcceptor
  readonly rooms: RoomRegistry
  readonly forwarder: Forwarder
  /** Receives the frames that several forwarded websockets share. */
  readonly frameReceiver: SharedFrameReceiver
  readonly cluster: Pick<Cluster, 'others' | 'on'>
  /** Loads documents that do not exist. */
  readonly loader: EditorLoader
  readonly access: RealtimeAccess
  readonly attribution: Pick<AttributionSetting, 'isEnabled'>
  readonly storage: StorageQuota
  readonly clock: Clock
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly time: () => number
  readonly logger: Log
  readonly metrics: Metrics
  readonly reports: LimitReports
  readonly rejections: RejectionLog
  readonly faults: ServerFaults
  /** Writes traces; undefined if nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly backpressure: ReadBackpressure
  readonly receiveRate: ReceiveRateLimit
  readonly documentBytesMax: number
  readonly messageBytesMax: number
  /** Called with the address of each client whose token was rejected. Must not throw. */
  readonly onRejected: (clientAddress: string) => void
}
