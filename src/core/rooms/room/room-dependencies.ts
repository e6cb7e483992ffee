import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { SpanSource } from '../../base/span.ts'
import type { BranchOverlap } from '../../content/branches/branch-overlaps.ts'
import type { OrganizationScope } from '../../directory/organizations/organization-keys.ts'
import type { UsageCounts } from '../../directory/usage-counts.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import type { EditListener } from '../../events/debounce-windows.ts'
import type { VisitListener } from '../../events/visit-tracker.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { MemoryLedger } from '../../quota/memory-bounds.ts'
import type { DocumentLog, FenceStore, Health, Key } from '../../store/engine.ts'
import type { Tracer } from '../../tracing/trace.ts'
import type { LoopSlices } from '../document/loop-slices.ts'
import type { ExpensiveDocuments, Quarantine } from '../document/unreadable-documents.ts'
import type { BackgroundCompaction } from '../log/background-compaction.ts'
import type { AppendBacklog } from '../log/commit-queue.ts'
import type { KeepsAttribution } from '../log/compaction-policy.ts'
import type { GenerationStore } from '../log/generation-store.ts'
import type { CompactionLimits } from '../log/room-compaction.ts'
import type { PresenceRegistry } from '../presence/presence-registry.ts'
import type { ThreadPoolSet } from '../threads/thread-pool.ts'
import type { MemberUser } from '../updates/change.ts'
import type { WorkShares } from '../updates/work-shares.ts'
import type { TickScheduler } from './tick-scheduler.ts'

export interface RoomLimits extends CompactionLimits {
  /** Maximum encoded size of a document in bytes. */
  readonly documentBytesMax: number
  /** Maximum total bytes of the pending updates of a room, which wait for missing dependencies. */
  readonly pendingUpdateBytesMax: number
  /** Minimum time in milliseconds between two awareness messages of a room. */
  readonly awarenessWindowMs: number
}

/** The counters for the memory that rooms take. */
type RoomMemory = Pick<MemoryLedger, 'pendingUpdates' | 'queuedUpdates' | 'threadJobs'>

/** What the server gives to its rooms. */
export interface RoomRegistryOptions {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly memory: RoomMemory
  readonly logger: Log
  /** Writes traces; undefined if nothing is traced. */
  readonly tracer?: Tracer | undefined
  readonly spans?: SpanSource | null
  readonly records: DocumentRegistry
  /** Receives the authors of edits. */
  readonly edits: EditListener
  readonly visits: VisitListener
  /** Called when a workspace has exceeded its share of the event loop. */
  readonly overspent: (workspaceId: string) => void
  /** Returns whether a workspace keeps the authors of changes. Default: each workspace keeps them. */
  readonly keepsAttribution?: (workspaceId: string) => Promise<boolean>
  /** Returns the counts of an organization. Default: the usage is not counted. */
  readonly usage?: (scope: OrganizationScope) => UsageCounts
}

/** The dependencies of a room. All rooms of a process use the same object. */
export interface RoomDependencies
  extends Pick<
      RoomRegistryOptions,
      'clock' | 'metrics' | 'memory' | 'logger' | 'tracer' | 'records' | 'edits'
    >,
    ThreadPoolSet {
  readonly log: DocumentLog
  readonly generationStore: GenerationStore
  /** The fences that show whether the permissions of members and callers are current. */
  readonly fences: Pick<FenceStore, 'isCurrent'>
  /**
   * Returns the health of the store. Changes from REST are rejected immediately while the store cannot write.
   */
  readonly health: () => Health
  readonly tickScheduler: TickScheduler
  readonly presence: PresenceRegistry
  /** Creates the spans of commits; null if no exporter is configured. */
  readonly spans: SpanSource | null
  readonly limits: RoomLimits
  /** Counts the bytes of updates that wait to be appended. */
  readonly backlog: AppendBacklog
  /** Returns the counts of an organization. The room must release them. */
  readonly usage: (scope: OrganizationScope) => UsageCounts
  /** Returns whether the workspace of a document keeps the authors of changes. */
  readonly keepsAttribution: KeepsAttribution
  /** Compacts the logs that have entries that a compaction can remove when their documents are idle. */
  readonly upkeep: BackgroundCompaction
  /** Limits the event loop time that the expensive edits of each workspace take. */
  readonly work: WorkShares
  /** Runs the slices in which large documents are opened and large updates are vetted. */
  readonly slices: LoopSlices
  readonly expensive: ExpensiveDocuments
  readonly quarantine: Quarantine
  /**
   * Called once for each room, when the room has ended. The registry must remove the room, so that the next
   * client loads the document again.
   */
  readonly ended: (room: { readonly doc: Key }) => void
}

/** Creates and checks the record of each document. */
export interface DocumentRegistry {
  /**
   * Creates the record of a document unless it exists. @throws ApiError ABORTED while the document is being
   * deleted
   */
  ensure(scope: OrganizationScope, documentId: string): Promise<void>
  /**
   * Creates the record of a document unless it exists, for an update from a websocket.
   * @throws ApiError ABORTED as for `ensure`; RESOURCE_EXHAUSTED if the rate limit for new documents is
   * exceeded
   * @param decided called, if at all, when the record is certain, see `KvCommit`
   */
  create(address: DocumentAddress, decided: () => void): Promise<unknown>
  /**
   * Resolves with true while the document, or a folder or organization that contains the document, is being
   * deleted.
   */
  isGoing(scope: OrganizationScope, documentId: string): Promise<boolean>
  /** Returns the address of the editor that a branch follows; null if the editor is not an open branch. */
  mainOf(address: DocumentAddress): Promise<DocumentAddress | null>
  /** Stores that a branch and its main editor have changed the same words. Does nothing if the branch is decided. */
  recordOverlaps(branch: DocumentAddress, overlaps: readonly BranchOverlap[]): Promise<void>
  /**
   * Adds the record of a branch for an edit, which a user must decide, unless it exists. Returns the address of its content.
   * @throws ApiError FAILED_PRECONDITION if the document has too many branches
   */
  addBranch(
    main: DocumentAddress,
    user: MemberUser,
    edit: Uint8Array,
    baseVersion: string,
  ): Promise<DocumentAddress>
  /**
   * Returns the permission to change an editor without a user.
   * @throws ApiError FAILED_PRECONDITION if the document is disabled or the branch is decided; ABORTED if the
   * document is being deleted
   */
  rightToChange(address: DocumentAddress): Promise<WriteRight>
}
