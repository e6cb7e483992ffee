import { pauseAfter } from '../../core/base/backoff.ts'
import type { Clock } from '../../core/base/clock.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { type KeepRule, readInterval } from '../../core/config/backup-options.ts'
import type { BackupKey } from './backup-key.ts'
import { openObjectStore } from './open-object-store.ts'
import { type Pruned, pruneRepository } from './prune.ts'
import { openRepository, type Repository } from './repository.ts'
import type { BackupPart } from './storage/backup-file.ts'
import { type Progress, StorageError } from './storage/storage-error.ts'
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

interface BackupRunOptions {
  readonly onProgress: Progress
  readonly signal?: AbortSignal
}

/** Pauses after failures. */
const pauses = { firstMs: 60_000, maxMs: 3_600_000, jitter: 0 }

/**
 * Makes one backup, then deletes the backups that the rule does not keep. Creates the repository if it is
 * missing. A prune that fails is a part of the result, because the backup is complete.
 * @throws StorageError; ConfigError if settings of the bucket are missing; the errors of `parts`
 */
export async function runBackupJob(
  job: BackupJob,
  parts: AsyncIterable<BackupPart>,
  { onProgress, signal }: BackupRunOptions,
): Promise<BackupJobResult> {
  const repository = await repositoryOf(job, 'create')
  const isFirst = (await repository.list()).length === 0
  const { verify, version, keep, otherStore = false } = job
  const options = { verify, version, otherStore, onProgress, ...(signal !== undefined && { signal }) }
  const backup = await writeToRepository(repository, parts, options)
  if (keep === null) return { backup, isFirst, pruned: null, pruneFailure: null }
  try {
    const pruned = await pruneRepository(repository, {
      keep,
      dropDamaged: false,
      made: backup.id,
      ...(signal !== undefined && { signal }),
    })
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

/**
 * Returns the time of the first backup of a process that makes them at an interval: one interval after the
 * newest backup, or now. Times are epoch milliseconds.
 */
export const firstBackupAt = (newestAt: number | null, now: number, everyMs: number): number =>
  // A backup in the future was made with a wrong clock.
  newestAt === null || newestAt > now ? now : newestAt + everyMs

/** The end of an attempt. Times are epoch milliseconds. */
interface EndedAttempt {
  readonly startedAt: number
  readonly endedAt: number
  /** Number of attempts that have failed since the last success, this one included; 0: this one succeeded. */
  readonly failures: number
}

/** Returns the time of the next attempt, in epoch milliseconds. */
export function nextBackupAt({ startedAt, endedAt, failures }: EndedAttempt, everyMs: number): number {
  if (failures === 0) return startedAt + everyMs
  return endedAt + Math.min(everyMs, pauseAfter(pauses, failures))
}

/**
 * Maximum time in ms of one timer that waits for a backup. The timers of Node have a maximum of 24 days, and a
 * shorter time lets a corrected clock take effect soon.
 */
export const backupTimerMsMax = 3_600_000

/**
 * Returns the time of a planned backup, at most one interval from now: a later time was planned with a wrong clock.
 * Times are epoch milliseconds.
 */
export const withinInterval = (plannedAt: number, now: number, everyMs: number): number =>
  Math.min(plannedAt, now + everyMs)

/** Parses an interval such as `30m`, `24h` or `7d`. Returns milliseconds. @throws StorageError */
export function parseEvery(text: string): number {
  const ms = readInterval(text)
  if (ms !== undefined) return ms
  throw new StorageError(
    `${JSON.stringify(text)} is not an interval of backups; expected minutes, hours or days, such as 24h`,
  )
}
