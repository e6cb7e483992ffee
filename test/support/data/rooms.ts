import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { createLog } from '../../../src/core/base/log.ts'
import type { EditListener } from '../../../src/core/events/debounce-windows.ts'
import type { VisitListener } from '../../../src/core/events/visit-tracker.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { PresenceRegistry } from '../../../src/core/rooms/presence/presence-registry.ts'
import { RoomRegistry } from '../../../src/core/rooms/registry/room-registry.ts'
import type { DocumentRegistry, RoomRegistryOptions } from '../../../src/core/rooms/room/room-dependencies.ts'
import {
  type ThreadDependencies,
  type ThreadLimits,
  ThreadPool,
} from '../../../src/core/rooms/threads/thread-pool.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { LocalBus, SingleNode } from '../../../src/core/store/single-node.ts'
import { roomyAccounts } from '../servers/memory.ts'

/** Replacement for the records of documents, in tests that use only rooms. */
export const noRecords: DocumentRegistry = {
  ensure: () => Promise.resolve(),
  create: () => Promise.resolve(),
  isGoing: () => Promise.resolve(false),
  mainOf: () => Promise.resolve(null),
  recordOverlaps: () => Promise.resolve(),
  addBranch: (main) => Promise.resolve(main),
  rightToChange: () => Promise.resolve({ fence: [], recheck: () => Promise.resolve() }),
}

/** Replacement for the recording of editing users, in tests that use only rooms. */
const noEdits: EditListener = { noted: () => null }

/** Replacement for the recording of joins and leaves, in tests that use only rooms. */
const noVisits: VisitListener = { joined: () => {}, left: () => {} }

/** Returns the presence of a cluster with a single node. */
export const presenceAlone = (clock: Clock, visits = noVisits): PresenceRegistry =>
  new PresenceRegistry({ bus: new LocalBus(), cluster: new SingleNode() }, clock, visits)

/** Limits and times that a test reaches only if it sets its own. */
const roomLimits = {
  documentBytesMax: 2 ** 26,
  pendingUpdateBytesMax: 2 ** 20,
  awarenessWindowMs: 40,
  compactAfterUpdates: 1_000,
  idleMs: 2 ** 30,
  restMs: 2 ** 30,
  keepVersionsMs: 0,
  documentsPerWorkspaceMax: 0,
  computeThreads: 0,
  threadJobMs: 60_000,
}

/** Creates the rooms of an engine, without records of documents. The caller closes them. */
export const roomsOn = (
  engine: Engine,
  limits: Partial<typeof roomLimits> = {},
  parts: Partial<RoomRegistryOptions> = {},
): RoomRegistry =>
  new RoomRegistry(
    engine,
    { ...roomLimits, ...limits },
    {
      clock: systemClock,
      metrics: createMetrics(),
      logger: createLog('silent'),
      memory: roomyAccounts(),
      records: noRecords,
      edits: noEdits,
      visits: noVisits,
      overspent: () => {},
      ...parts,
    },
  )

/** Creates a pool with one thread. Its default limits are so high that no test reaches them. */
export const threadsOf = (
  limits: Partial<ThreadLimits>,
  parts: Partial<ThreadDependencies> = {},
): ThreadPool =>
  new ThreadPool(
    { threads: 1, waitingMax: 100, waitingPerWorkspaceMax: 100, jobMs: 60_000, ...limits },
    {
      purpose: 'change',
      clock: systemClock,
      metrics: createMetrics(),
      logger: createLog('silent'),
      memory: roomyAccounts().threadJobs,
      ...parts,
    },
  )
