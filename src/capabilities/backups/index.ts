import { endsWithin, systemClock } from '../../core/base/clock.ts'
import { defineCapability } from '../../rest/capability.ts'
import type { BackupSchedule } from './backup-schedule.ts'

declare module '../../rest/services.ts' {
  interface Services {
    /** Makes backups at an interval; null if none are configured. */
    readonly backups: BackupSchedule | null
  }
}

/** Backups at an interval. */
export const backups = defineCapability({
  name: 'backups',
  start: ({ backups }) => backups?.start(),
  /** An interrupted backup ends at its next chunk, unless its place does not respond. */
  leave: async ({ backups }, ms) => backups !== null && endsWithin(systemClock, ms, backups.stop()),
})
