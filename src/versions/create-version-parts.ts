import type { Clock } from '../clock.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { Engine } from '../engine/engine.ts'
import { decodeUserEdit } from '../events/edit-windows.ts'
import { JobConsumer } from '../jobs/job-consumer.ts'
import type { Log } from '../log.ts'
import { VersionAuthorTracker } from './version-author-tracker.ts'
import { authorQueue } from './version-jobs.ts'
import { VersionStore } from './version-store.ts'

/** Authors that are noted at the same time. */
const atOnce = 64

/** What stands below rooms, and is told by them who edits. */
export interface VersionDependencies {
  readonly store: VersionStore
  readonly notes: VersionAuthorTracker
  /** Notes authors. To be started by `Versions`. */
  readonly authors: JobConsumer
}

/** @param everyMs an automatic version is made when there was an edit in so long; 0: none is */
export function createVersionParts(
  engine: Engine,
  {
    organizations,
    clock,
    log,
    everyMs,
  }: { organizations: OrganizationStore; clock: Clock; log: Log; everyMs: number },
): VersionDependencies {
  const store = new VersionStore(engine, organizations, clock)
  const authors = new JobConsumer({
    queue: engine.queue,
    name: authorQueue,
    clock,
    log,
    atOnce,
    carryOut: async ({ payload }) => {
      const { address, user, at } = decodeUserEdit(payload)
      await store.noteAuthor(address, { ...user, at })
      return 'done'
    },
  })
  return {
    store,
    authors,
    notes: new VersionAuthorTracker({
      clock,
      everyMs,
      bus: engine.bus,
      node: engine.cluster.self,
      begun: () => authors.wake(),
    }),
  }
}
