import { Command } from 'commander'
import { damageText } from '../../capabilities/backups/backup-damage.ts'
import { type BackupJob, type BackupJobResult, runBackupJob } from '../../capabilities/backups/backup-job.ts'
import { readBackupKey } from '../../capabilities/backups/object-sealer.ts'
import { parseKeep } from '../../capabilities/backups/prune.ts'
import { backupOffline, backupOnline, writeBackup } from '../../capabilities/backups/storage/backup.ts'
import { readBackupParts } from '../../capabilities/backups/storage/backup-file.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import { readPackageVersion } from '../../core/base/package-version.ts'
import { printResult, showProgress } from '../command-line/command-io.ts'
import { requireAdminToken, storeOf, tokenFileOption } from '../location/store-location.ts'

interface Flags {
  readonly tokenFile?: string
  readonly to?: string
  readonly keyFile?: string
  readonly keep?: string
  readonly verify?: string
  readonly otherStore?: true
  readonly json?: true
}

export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'Write all stored data of a running or stopped server to one file, or to a backup repository.',
    )
    .argument(
      '<source>',
      'URL of the server, or data directory of a stopped one, also if its documents are in PostgreSQL.',
    )
    .argument('[file]', 'File to write; it contains secrets, and only its owner can read it.')
    .option(...tokenFileOption)
    .option('--to <repository>', 'Backup repository instead of a file: a folder, or s3://bucket/prefix.')
    .option('--key-file <file>', 'Key of the repository; weft backups key creates one.')
    .option('--keep <rule>', 'Backups to keep, such as 7d,4w,12m; deletes the others (default: all).')
    .option('--verify <chunks>', 'Chunks to read again: all or new (default: all).')
    .option('--other-store', 'Accept that the newest backup is of another store.')
    .option('--json', 'Print JSON.')
    .action(async (source: string, file: string | undefined, flags: Flags) => {
      const { to } = flags
      if (to !== undefined && file === undefined)
        return backUpToRepository(sourceOf(source, flags), to, flags)
      if (to !== undefined || file === undefined || repositoryOnly.some((name) => flags[name] !== undefined))
        throw new StorageError('name either a file, or a repository with --to and its other options')
      const progress = showProgress('backup', flags.json ? 'json' : 'text')
      const done = await writeBackup(sourceOf(source, flags), file, progress.at).finally(progress.end)
      if (flags.json) return printResult(JSON.stringify({ ok: true, file, ...done }))
      printResult(`${file} holds ${done.pairs} records (${done.bytes} bytes), checked`)
    })
}

/** Options that need `--to`. */
const repositoryOnly = ['keyFile', 'keep', 'verify', 'otherStore'] as const

function sourceOf(source: string, { tokenFile }: Flags): AsyncIterable<Uint8Array> {
  if (!/^https?:\/\//.test(source)) return backupOffline(storeOf(source), systemClock)
  return backupOnline(source, () => requireAdminToken(source, tokenFile))
}

/**
 * Makes a backup in a repository. SIGINT and SIGTERM end it with an error.
 * @throws StorageError also if the backup is complete, but old backups are damaged or could not be deleted
 */
async function backUpToRepository(
  source: AsyncIterable<Uint8Array>,
  to: string,
  { keyFile, keep, verify = 'all', otherStore, json }: Flags,
): Promise<void> {
  if (verify !== 'all' && verify !== 'new') throw new StorageError('--verify must be all or new')
  const job: BackupJob = {
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
    const made = runBackupJob(job, readBackupParts(source), progress.at, stop.signal)
    const done = await made.finally(progress.end)
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
