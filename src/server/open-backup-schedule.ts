import { BackupSchedule } from '../capabilities/backups/backup-schedule.ts'
import { parseBackupKey } from '../capabilities/backups/object-sealer.ts'
import { openObjectStore } from '../capabilities/backups/open-object-store.ts'
import { parseKeep } from '../capabilities/backups/prune.ts'
import { backupParts } from '../capabilities/backups/storage/backup.ts'
import type { BackupPart } from '../capabilities/backups/storage/backup-file.ts'
import { lastBackupOf } from '../capabilities/backups/storage/last-backup.ts'
import { StorageError } from '../capabilities/backups/storage/storage-error.ts'
import { readPackageVersion } from '../core/base/package-version.ts'
import { readInterval } from '../core/config/backup-options.ts'
import { environmentOf } from '../core/config/config.ts'
import type { BaseServices } from '../rest/services.ts'

/**
 * Creates the schedule of backups; null if none is configured. Checks the settings of the place, but does not
 * connect to it, so that a server starts while the place is not available.
 * @throws StorageError, ConfigError
 */
export async function openBackupSchedule(
  services: Pick<BaseServices, 'clock' | 'config' | 'engine' | 'log' | 'metrics'>,
): Promise<BackupSchedule | null> {
  const { config, engine, clock } = services
  const { backupTo: to, backupKey, dataDir: directory } = config
  if (to === null) return null
  await openObjectStore(to, clock)
  const source = (): AsyncIterable<BackupPart> => {
    const dump = engine.dump()
    if (dump === null) throw new StorageError('this server stores nothing that it can back up')
    return backupParts(dump, { directory, kv: engine.kv, lastBackup: lastBackupOf(config, engine.kv), clock })
  }
  const job = {
    to,
    key: parseBackupKey(backupKey ?? '', environmentOf('backupKey')),
    keep: parseKeep(config.backupKeep),
    verify: config.backupVerify,
    version: readPackageVersion(),
    clock,
  }
  // The configuration was validated.
  const everyMs = readInterval(config.backupEvery) as number
  return new BackupSchedule({ ...services, job, everyMs, source })
}
