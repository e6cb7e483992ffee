import { damageText } from '../../capabilities/backups/backup-damage.ts'
import { type BackupJobResult, runBackupJob } from '../../capabilities/backups/backup-job.ts'
import { readBackupKey } from '../../capabilities/backups/backup-key.ts'
import { parseKeep } from '../../capabilities/backups/prune.ts'
import { readBackupParts } from '../../capabilities/backups/storage/backup-file.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import { readPackageVersion } from '../../core/base/package-version.ts'
import { printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'

export interface RepositoryFlags {
  readonly to: string
  readonly keyFile?: string
  readonly keep?: string
  readonly verify?: string
  readonly otherStore?: true
  readonly json?: true
}

/**
 * Makes a backup in a repository. SIGINT and SIGTERM end it with an error.
 * @param source returns the bytes of a new backup
 * @throws StorageError also if the backup is complete, but old backups are damaged or could not be deleted
 */
export async function backUpToRepository(
  source: () => AsyncIterable<Uint8Array>,
  { to, keyFile, keep, verify = 'all', otherStore, json }: RepositoryFlags,
): Promise<void> {
  if (verify !== 'all' && verify !== 'new') throw new StorageError('--verify must be all or new')
  const job = {
    to,
    key: await readBackupKey(requiredKeyFile(keyFile)),
    keep: keep === undefined ? null : parseKeep(keep),
    verify,
    otherStore: otherStore === true,
    version: readPackageVersion(),
    clock: systemClock,
  }
  const stop = new AbortController()
  const onSignal = (): void => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const progress = showProgress('backup', json ? 'json' : 'text')
  try {
    const options = { onProgress: progress.at, signal: stop.signal }
    const done = await runBackupJob(job, readBackupParts(source()), options).finally(progress.end)
    const problem = problemOf(done)
    printResult(json ? JSON.stringify({ ok: problem === null, to, ...done }) : asText(to, done))
    if (problem !== null) throw new StorageError(problem)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

/** @throws StorageError */
export function requiredKeyFile(keyFile: string | undefined): string {
  if (keyFile !== undefined) return keyFile
  throw new StorageError('a backup repository needs its key: --key-file', {
    hint: 'create one with weft backups key <file>',
  })
}

/** Returns the problem that remains although the backup is complete; null if there is none. */
function problemOf({ backup, pruned, pruneFailure }: BackupJobResult): string | null {
  if (pruneFailure !== null)
    return `the backup ${backup.id} is complete, but old backups could not be deleted: ${pruneFailure}`
  return pruned === null || pruned.damages.length === 0
    ? null
    : 'backups are damaged; run weft backups verify'
}

function asText(to: string, { backup, isFirst, pruned }: BackupJobResult): string {
  const { id, pairs, bytes, chunks, newChunks, newBytes, repairedChunks } = backup
  const repaired = repairedChunks > 0 ? `, ${repairedChunks} damaged chunks written again` : ''
  const lines = [
    `${to} has the backup ${id}: ${pairs} records (${bytes} bytes); new: ${newChunks} of ${chunks} chunks (${newBytes} bytes)${repaired}; verified`,
  ]
  if (isFirst) lines.push(`${to} had no backup before; if you expected some, check that its disk is mounted`)
  if (pruned !== null)
    lines.push(
      `kept ${pruned.kept.length} backups, deleted ${pruned.removed.length} backups and ${pruned.removedChunks} chunks (${pruned.removedBytes} bytes)`,
      ...pruned.damages.map(damageText),
    )
  return lines.join('\n')
}
