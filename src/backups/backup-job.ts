import type { Clock } from '../clock.ts'
import { errorMessage } from '../errors.ts'
import type { BackupPart } from '../storage/backup-file.ts'
import { type Progress, StorageError } from '../storage/storage-error.ts'
import type { BackupKey } from './backup-key.ts'
import { openObjectStore } from './open-object-store.ts'
import { type Pruned, pruneRepository } from './prune.ts'
import { openRepository, type Repository } from './repository.ts'
import type { KeepRule } from './retention.ts'
import { type RepositoryBackup, writeToRepository } from './write-backup.ts'

/** A backup that is made once or at intervals. */
export interface BackupJob {
  /** Path of a folder, or `s3://bucket/prefix`. */
  readonly to: string
  readonly key: BackupKey
  /** Backups to keep; null: all. */
  readonly keep: KeepRule | null
  readonly verify: 'all' | 'new'
  /** Version of Weft. */
  readonly version: string
  readonly clock: Clock
}

export interface BackupJobResult {
  readonly backup: RepositoryBackup
  /** Result of the prune; null without a rule. */
  readonly pruned: Pruned | null
}

export interface BackupRunOptions {
  readonly onProgress: Progress
  readonly signal?: AbortSignal
}

/** Time in ms until the next attempt after a failure, unless the interval is shorter. */
const retryMs = 900_000

/**
 * Makes one backup, then deletes the backups that the rule does not keep. Creates the repository if it is
 * missing.
 * @throws StorageError; ConfigError if settings of the bucket are missing; the errors of `parts`
 */
export async function runBackupJob(
  job: BackupJob,
  parts: AsyncIterable<BackupPart>,
  { onProgress, signal }: BackupRunOptions,
): Promise<BackupJobResult> {
  const repository = await repositoryOf(job, 'create')
  const { verify, version, keep } = job
  const options = { verify, version, onProgress, ...(signal !== undefined && { signal }) }
  const backup = await writeToRepository(repository, parts, options)
  if (keep === null) return { backup, pruned: null }
  try {
    return { backup, pruned: await pruneRepository(repository, { keep, dropDamaged: false }) }
  } catch (cause) {
    throw new StorageError(
      `the backup ${backup.id} is complete, but old backups could not be deleted: ${errorMessage(cause)}`,
      { cause },
    )
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
 * Returns the time of the first backup of a process that makes them at an interval, in epoch milliseconds: one
 * interval after the newest backup in the repository, or now.
 */
export async function firstBackupAt(job: BackupJob, everyMs: number): Promise<number> {
  const now = job.clock.now()
  try {
    const [newest] = await (await repositoryOf(job, 'create')).list()
    // A backup in the future was made with a wrong clock.
    return newest === undefined || newest.at > now ? now : newest.at + everyMs
  } catch {
    // The backup reports the error.
    return now
  }
}

/** Returns the time of the next attempt, in epoch milliseconds. */
export const nextBackupAt = (
  {
    startedAt,
    endedAt,
    failed,
  }: { readonly startedAt: number; readonly endedAt: number; readonly failed: boolean },
  everyMs: number,
): number => (failed ? endedAt + Math.min(everyMs, retryMs) : startedAt + everyMs)

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const everyMsMax = 366 * unitMs.d

/** Parses an interval such as `30m`, `24h` or `7d`. Returns milliseconds. @throws StorageError */
export function parseEvery(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? []
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs]
  if (ms <= everyMsMax) return ms
  throw new StorageError(
    `${JSON.stringify(text)} is not an interval of backups; expected minutes, hours or days, such as 24h`,
  )
}
