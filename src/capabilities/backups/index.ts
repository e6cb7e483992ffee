import { endsWithin, systemClock } from '../../core/base/clock.ts'
import { defineCapability } from '../../rest/capability.ts'
import type { BackupSchedule } from './backup-schedule.ts'
import type { ObjectSweeper } from './objects/object-engine.ts'
import type { SealedObjects } from './objects/sealed-objects.ts'

interface Added {
  /** Makes backups at an interval; null if none are configured. */
  readonly backups: BackupSchedule | null
  /** Object storage of the contents of saved versions; null if none is configured. */
  readonly objects: SealedObjects | null
  readonly sweeper: ObjectSweeper | null
}

declare module '../../rest/services.ts' {
  interface Services extends Added {}
}

/** Backups at an interval, and the object storage of saved versions. */
export const backups = defineCapability({
  name: 'backups',
  start({ backups, sweeper }) {
    backups?.start()
    sweeper?.start()
  },
  /** An interrupted backup ends at its next chunk, unless its place does not respond. */
  leave: async ({ backups }, ms) => backups !== null && endsWithin(systemClock, ms, backups.stop()),
  async stop({ objects, sweeper }) {
    objects?.interrupt()
    await sweeper?.stop()
  },
})
