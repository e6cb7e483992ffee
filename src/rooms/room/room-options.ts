import type { Clock } from '../../clock.ts'
import type { OrganizationScope } from '../../directory/organizations/organization-keys.ts'
import type { DocumentLog, FenceStore, Health, Key } from '../../engine/engine.ts'
import type { EditListener } from '../../events/debounce-windows.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'
import type { Tracer } from '../../trace.ts'
import type { AppendBacklog } from '../log/append-backlog.ts'
import type { CompactionLimits } from '../log/room-compaction.ts'
import type { PresenceRegistry } from '../presence/presence-registry.ts'
import type { ReplicaMessage } from '../replication/replica-messages.ts'
import type { ThreadPool } from '../threads/thread-pool.ts'
import type { DocumentDamagedError } from './quarantine.ts'
import type { TickScheduler } from './tick-scheduler.ts'
import type { WorkShares } from './work-shares.ts'

export interface RoomLimits extends CompactionLimits {
  /** Encoded size a document may reach. */
  readonly documentBytesMax: number
  /** Bytes of updates that wait for missing ones, a room. */
  readonly heldBytesMax: number
  /** Shortest time between two awareness messages of a room. */
  readonly awarenessWindowMs: number
}

/** Counts the memory of rooms. */
export type RoomMemory = Pick<MemoryLedger, 'pendingUpdates' | 'queuedUpdates' | 'threadJobs'>

/** Which room it is. */
export interface RoomName {
  readonly address: DocumentAddress
  readonly doc: Key
}

/** The other nodes, as a room knows of them. */
export interface ReplicaDependencies {
  /** Sends a message to the nodes that have the document open. */
  readonly tell: (doc: Key, message: ReplicaMessage) => void
  /** Returns whether this is the home node of the document. The home node does work that only one node needs to do. */
  readonly isHome: (doc: Key) => boolean
}

/** The dependencies of a room; the same for all rooms of a process. */
export interface RoomDependencies {
  readonly log: DocumentLog
  /** Fences that check the permissions of members and callers. */
  readonly fences: Pick<FenceStore, 'isCurrent'>
  /** The health of the store. Changes by REST are rejected, and do not wait, while the store cannot write. */
  readonly health: () => Health
  readonly tickScheduler: TickScheduler
  /** Threads that compute large changes. */
  readonly threads: ThreadPool
  readonly readers: ThreadPool
  /** For updates of other nodes. */
  readonly mergers: ThreadPool
  readonly presence: PresenceRegistry
  readonly clock: Clock
  readonly metrics: Metrics
  readonly memory: RoomMemory
  readonly logger: Log
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly limits: RoomLimits
  readonly replicas: ReplicaDependencies
  /** Bytes of updates that wait until the appends before them have ended. */
  readonly queued: AppendBacklog
  readonly records: DocumentRegistry
  /** Bytes of first updates that wait for the records of their documents. */
  readonly unrecorded: AppendBacklog
  /** Receives the authors of edits. */
  readonly edits: EditListener
  /** Called when the log of a document has entries that can be removed once the document is idle. */
  readonly compactLater: (doc: Key) => void
  /** Shares the event loop among workspaces. */
  readonly work: WorkShares
  /** The document must be read on a thread. */
  readonly expensive: (room: RoomName) => void
  /** Called when the stored bytes of the document turn out to be unreadable. */
  readonly damaged: (room: RoomName, error: DocumentDamagedError) => void
  /**
   * Called once, when the room cannot continue. The registry must remove it; the next client loads the document again.
   */
  readonly ended: (room: RoomName) => void
}

/** Keeps the record of each document. */
export interface DocumentRegistry {
  /** Makes the record unless there is one. @throws ApiError ABORTED while the document is being deleted */
  ensure(scope: OrganizationScope, documentId: string): Promise<void>
  /** Likewise, for an update of a websocket. @throws ApiError also RESOURCE_EXHAUSTED */
  create(address: DocumentAddress): Promise<void>
  /** True while the document, or a folder or organization that contains it, is being deleted. */
  isGoing(scope: OrganizationScope, documentId: string): Promise<boolean>
}
