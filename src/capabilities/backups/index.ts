import { endsWithin, systemClock } from '../../core/base/clock.ts'
import type { JobConsumer } from '../../core/jobs/job-consumer.ts'
import { defineCapability } from '../../rest/capability.ts'
import type { BackupSchedule } from './backup-schedule.ts'
import type { SealedObjects } from './objects/sealed-objects.ts'

interface Added {
  /** Makes backups at an interval; null if none are configured. */
  readonly backups: BackupSchedule | null
  /** Object storage of the contents of saved versions; null if none is configured. */
  readonly objects: SealedObjects | null
  /** Deletes objects to which no blob refers. While the object storage cannot be used, its jobs wait. */
  readonly sweeper: JobConsumer | null
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Backups at an interval, and the object storage of saved versions. */
export const backups = defineCapability({
  name: 'backups',
  start({ backups, objects, sweeper }) {
    backups?.start()
    // The log has the problem of the place before the first call needs it.
    void objects?.check().catch(() => undefined)
    sweeper?.start()
  },
  /** An interrupted backup ends at its next chunk, unless its place does not respond. */
  leave: async ({ backups }, ms) => backups !== null && endsWithin(systemClock, ms, backups.stop()),
  async stop({ objects, sweeper }) {
    objects?.interrupt()
    await sweeper?.stop()
  },
})
