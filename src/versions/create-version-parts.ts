import type { Clock } from '../clock.ts'
import type { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { Engine } from '../engine/engine.ts'
import { decodeUserEdit } from '../events/edit-windows.ts'
import { JobConsumer } from '../jobs/job-consumer.ts'
import type { Log } from '../log.ts'
import { VersionAuthorTracker } from './version-author-tracker.ts'
import { authorQueue } from './version-jobs.ts'
import { VersionStore } from './version-store.ts'

/** Authors that are recorded at the same time. */
const atOnce = 64

/** Parts of versions that rooms use to report edits. */
export interface VersionDependencies {
  readonly store: VersionStore
  readonly notes: VersionAuthorTracker
  /** Records authors. `VersionService` starts it. */
  readonly authors: JobConsumer
}

/** Creates the parts. @param everyMs interval of automatic versions of edited documents; 0 for none */
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
