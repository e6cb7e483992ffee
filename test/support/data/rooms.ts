import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import { createLog } from '../../../src/core/base/log.ts'
import type { EditListener } from '../../../src/core/events/debounce-windows.ts'
import type { VisitListener } from '../../../src/core/events/visit-tracker.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { PresenceRegistry } from '../../../src/core/rooms/presence/presence-registry.ts'
import type { DocumentRegistry } from '../../../src/core/rooms/room/room-dependencies.ts'
import {
  type ThreadDependencies,
  type ThreadLimits,
  ThreadPool,
} from '../../../src/core/rooms/threads/thread-pool.ts'
import { LocalBus, SingleNode } from '../../../src/core/store/single-node.ts'
import { roomyAccounts } from '../servers/memory.ts'

/** Replacement for the records of documents, in tests that use only rooms. */
export const noRecords: DocumentRegistry = {
  ensure: () => Promise.resolve(),
  create: () => Promise.resolve(),
  isGoing: () => Promise.resolve(false),
  mainOf: () => Promise.resolve(null),
  recordOverlaps: () => Promise.resolve(),
  rightToChange: () => Promise.resolve({ fence: [], recheck: () => Promise.resolve() }),
}

/** Replacement for the recording of editing users, in tests that use only rooms. */
export const noEdits: EditListener = { noted: () => null }

/** Replacement for the recording of joins and leaves, in tests that use only rooms. */
export const noVisits: VisitListener = { joined: () => {}, left: () => {} }

/** Returns the presence of a cluster with a single node. */
export const presenceAlone = (clock: Clock, visits = noVisits): PresenceRegistry =>
  new PresenceRegistry({ bus: new LocalBus(), cluster: new SingleNode() }, clock, visits)

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
