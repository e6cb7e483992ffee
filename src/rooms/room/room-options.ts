import type { Clock } from '../../clock.ts'
import type { DocumentLog, FenceStore, Health, Key } from '../../engine/engine.ts'
import type { EditListener } from '../../events/debounce-windows.ts'
import type { Log } from '../../log.ts'
import type { Metrics } from '../../metrics.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'
import type { AppendBacklog } from '../log/append-backlog.ts'
import type { CompactionLimits } from '../log/room-compaction.ts'
import type { PresenceRegistry } from '../presence/presence-registry.ts'
import type { ReplicaMessage } from '../replication/replica-messages.ts'
import type { ThreadPool } from '../threads/thread-pool.ts'
import type { DocumentRegistry } from './document-registry.ts'
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
  /** Sends a message to those that have the document open. */
  readonly tell: (doc: Key, message: ReplicaMessage) => void
  /** Is this the node that should have the document? One node then does what one is enough for. */
  readonly isHome: (doc: Key) => boolean
}

/** What a room works with; the same for all rooms of a process. */
export interface RoomDependencies {
  readonly log: DocumentLog
  /** Permissions of members and callers are checked by these. */
  readonly fences: Pick<FenceStore, 'isCurrent'>
  /** Can the store write? Changes by REST are refused while it can't, instead of waiting for it. */
  readonly health: () => Health
  readonly turns: TickScheduler
  /** Where large changes are computed. */
  readonly threads: ThreadPool
  readonly readers: ThreadPool
  /** For updates of other nodes. */
  readonly mergers: ThreadPool
  readonly presence: PresenceRegistry
  readonly clock: Clock
  readonly metrics: Metrics
  readonly memory: RoomMemory
  readonly logger: Log
  readonly limits: RoomLimits
  readonly replicas: ReplicaDependencies
  /** Bytes of updates that wait until the appends before them have ended. */
  readonly queued: AppendBacklog
  readonly records: DocumentRegistry
  /** Bytes of first updates that wait for the records of their documents. */
  readonly unrecorded: AppendBacklog
  /** Who edits is noted here. */
  readonly edits: EditListener
  /** Called when there is something in the log of a document that goes once it is at rest. */
  readonly left: (doc: Key) => void
  /** Shares the event loop among workspaces. */
  readonly work: WorkShares
  /** The document must be read on a thread. */
  readonly expensive: (room: RoomName) => void
  /** What is stored of the document has turned out to be unreadable. */
  readonly damaged: (room: RoomName, error: DocumentDamagedError) => void
  /** Called once, when the room can't go on: it must be forgotten, the next visitor loads it anew. */
  readonly ended: (room: RoomName) => void
}
