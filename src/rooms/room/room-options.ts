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
  /** Maximum encoded size of a document. */
  readonly documentBytesMax: number
  /** Maximum bytes of updates in a room that wait for missing updates. */
  readonly heldBytesMax: number
  /** Minimum time in milliseconds between two awareness messages of a room. */
  readonly awarenessWindowMs: number
}

/** Counts the memory of rooms. */
export type RoomMemory = Pick<MemoryLedger, 'pendingUpdates' | 'queuedUpdates' | 'threadJobs'>

/** Identifies a room. */
export interface RoomName {
  readonly address: DocumentAddress
  readonly doc: Key
}

/** Gives a room access to the other nodes. */
export interface ReplicaDependencies {
  /** Sends a message to the nodes that have the document open. */
  readonly tell: (doc: Key, message: ReplicaMessage) => void
  /**
   * Returns whether this node is the home node of the document. The home node does the work that only one
   * node needs to do.
   */
  readonly isHome: (doc: Key) => boolean
}

/** The dependencies of a room. All rooms of a process have the same ones. */
export interface RoomDependencies {
  readonly log: DocumentLog
  /** Fences that check the permissions of members and callers. */
  readonly fences: Pick<FenceStore, 'isCurrent'>
  /**
   * Returns the health of the store. While the store cannot write, changes from REST are rejected
   * immediately.
   */
  readonly health: () => Health
  readonly tickScheduler: TickScheduler
  /** Threads that compute large changes. */
  readonly threads: ThreadPool
  readonly readers: ThreadPool
  /** Threads for the updates of other nodes. */
  readonly mergers: ThreadPool
  readonly presence: PresenceRegistry
  readonly clock: Clock
  readonly metrics: Metrics
  readonly memory: RoomMemory
  readonly logger: Log
  /** Undefined if nothing is traced. */
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
  /** Limits the event loop time that the expensive edits of each workspace take. */
  readonly work: WorkShares
  /** Called when the document turns out to be so expensive to read that a thread must read it. */
  readonly expensive: (room: RoomName) => void
  /** Called when the stored bytes of the document turn out to be unreadable. */
  readonly damaged: (room: RoomName, error: DocumentDamagedError) => void
  /**
   * Called once, when the room has ended. The registry must remove the room; the next client loads the
   * document again.
   */
  readonly ended: (room: RoomName) => void
}

/** Creates and checks the record of each document. */
export interface DocumentRegistry {
  /** Creates the record unless it exists. @throws ApiError ABORTED while the document is being deleted */
  ensure(scope: OrganizationScope, documentId: string): Promise<void>
  /**
   * Creates the record unless it exists, for an update from a websocket. @throws ApiError ABORTED as for
   * `ensure`; RESOURCE_EXHAUSTED
   */
  create(address: DocumentAddress): Promise<void>
  /** True while the document, or a folder or organization that contains it, is being deleted. */
  isGoing(scope: OrganizationScope, documentId: string): Promise<boolean>
}
