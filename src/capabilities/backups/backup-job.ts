import type { Clock } from '../../core/base/clock.ts'
import { errorMessage } from '../../core/base/errors.ts'
import type { KeepRule } from '../../core/config/backup-options.ts'
import type { BackupKey } from './object-sealer.ts'
import { openObjectStore } from './open-object-store.ts'
import { type Pruned, pruneRepository } from './prune.ts'
import { openRepository, type Repository } from './repository.ts'
import type { BackupPart } from './storage/backup-file.ts'
import type { Progress } from './storage/storage-error.ts'
import { type RepositoryBackup, writeToRepository } from './write-backup.ts'

/** A backup that is made once or at intervals. */
export interface BackupJob {
  /** Path of a folder, or `s3://bucket/prefix`. */
  readonly to: string
  readonly key: BackupKey
  /** Backups to keep; null: all. */
  readonly keep: KeepRule | null
  readonly verify: 'all' | 'new'
  /** Whether to accept that the newest backup is of another store (default: false). */
  readonly otherStore?: boolean
  /** Version of Weft. */
  readonly version: string
  readonly clock: Clock
}

export interface BackupJobResult {
  readonly backup: RepositoryBackup
  /** Whether the repository had no backup before. */
  readonly isFirst: boolean
  /** Result of the prune; null without a rule, or if the prune has failed. */
  readonly pruned: Pruned | null
  /** Reason for which old backups could not be deleted; null if there was no failure. */
  readonly pruneFailure: string | null
}

/**
 * Makes one backup, then deletes the backups that the rule does not keep. Creates the repository if it is
 * missing. A prune that fails is a part of the result, because the backup is complete.
 * @throws StorageError; ConfigError if settings of the bucket are missing; the errors of `parts`
 */
export async function runBackupJob(
  job: BackupJob,
  parts: AsyncIterable<BackupPart>,
  onProgress: Progress,
  signal?: AbortSignal,
): Promise<BackupJobResult> {
  const repository = await repositoryOf(job, 'create')
  const isFirst = (await repository.list()).length === 0
  const { verify, version, keep, otherStore = false } = job
  const options = { verify, version, otherStore, onProgress, signal }
  const backup = await writeToRepository(repository, parts, options)
  if (keep === null) return { backup, isFirst, pruned: null, pruneFailure: null }
  try {
    const pruned = await pruneRepository(repository, { keep, dropDamaged: false, made: backup.id, signal })
    return { backup, isFirst, pruned, pruneFailure: null }
  } catch (error) {
    return { backup, isFirst, pruned: null, pruneFailure: errorMessage(error) }
  }
}

/** @throws StorageError, ConfigError */
export async function repositoryOf(
  { to, key, clock }: Pick<BackupJob, 'to' | 'key' | 'clock'>,
  missing: 'create' | 'refuse',
): Promise<Repository> {
  return openRepository(await openObjectStore(to, clock), key, clock, missing)
}

/**
 * Returns the time of the newest backup in the repository, in epoch milliseconds. Null if there is none, or if
 * the repository cannot be read: the backup then reports the error.
 */
export async function newestBackupAt(job: BackupJob): Promise<number | null> {
  try {
    const [newest] = await (await repositoryOf(job, 'refuse')).list()
    return newest?.at ?? null
  } catch {
    return null
  }
}
