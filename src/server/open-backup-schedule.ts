import { parseBackupKey } from '../capabilities/backups/backup-key.ts'
import { BackupSchedule } from '../capabilities/backups/backup-schedule.ts'
import { openObjectStore } from '../capabilities/backups/open-object-store.ts'
import { parseKeep } from '../capabilities/backups/prune.ts'
import { backupParts } from '../capabilities/backups/storage/backup.ts'
import type { BackupPart } from '../capabilities/backups/storage/backup-file.ts'
import { lastBackupOf } from '../capabilities/backups/storage/last-backup.ts'
import { StorageError } from '../capabilities/backups/storage/storage-error.ts'
import type { Clock } from '../core/base/clock.ts'
import type { Log } from '../core/base/log.ts'
import { readInterval } from '../core/config/backup-options.ts'
import { type Config, environmentOf } from '../core/config/config.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Engine } from '../core/store/engine.ts'

interface BackupDependencies {
  readonly config: Pick<
    Config,
    'backupTo' | 'backupEvery' | 'backupKeep' | 'backupVerify' | 'backupKey' | 'dataDir' | 'engine'
  >
  readonly engine: Engine
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Version of Weft. */
  readonly version: string
}

/**
 * Creates the schedule of backups; null if none is configured. Checks the settings of the place, but does not
 * connect to it, so that a server starts while the place is not available.
 * @throws StorageError, ConfigError
 */
export async function openBackupSchedule({
  config,
  engine,
  clock,
  log,
  metrics,
  version,
}: BackupDependencies): Promise<BackupSchedule | null> {
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
    version,
    clock,
  }
  // The configuration was validated.
  const everyMs = readInterval(config.backupEvery) as number
  return new BackupSchedule({ job, everyMs, source, engine, clock, log, metrics })
}
