import type { Clock } from '../../core/base/clock.ts'
import type { Log } from '../../core/base/log.ts'
import type { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import { decodeUserEdit } from '../../core/events/edit-windows.ts'
import { JobConsumer } from '../../core/jobs/job-consumer.ts'
import { organizationPrefix } from '../../core/model/address.ts'
import type { Engine } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { VersionAuthorTracker } from './version-author-tracker.ts'
import { authorQueue } from './version-jobs.ts'
import { VersionStore } from './version-store.ts'

/** Maximum number of authors that are recorded in one transaction, or in parallel. */
const atOnce = 64

/** The services of versions that rooms need, because rooms report edits to them. */
export interface VersionDependencies {
  readonly store: VersionStore
  readonly notes: VersionAuthorTracker
  /** Consumer that records authors. `VersionService` starts and stops this consumer. */
  readonly authors: JobConsumer
}

/**
 * Creates the services of versions that rooms need.
 * @param everyMs interval in ms at which edited documents get automatic versions; 0 for no automatic versions
 */
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
      await store.noteAuthors([{ address, author: { ...user, at } }])
      return 'done'
    },
    groups: {
      nameOf: ({ payload }) => keyName(organizationPrefix(decodeUserEdit(payload).address)),
      carryOut: (jobs) =>
        store.noteAuthors(
          jobs
            .map(({ payload }) => decodeUserEdit(payload))
            .sort((a, b) => a.at - b.at)
            .map(({ address, user, at }) => ({ address, author: { ...user, at } })),
        ),
    },
  })
  return {
    store,
    authors,
    notes: new VersionAuthorTracker({
      clock,
      everyMs,
      bus: engine.bus,
      begun: () => authors.wake(),
    }),
  }
}
