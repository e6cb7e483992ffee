import { Command } from 'commander'
import { backupOffline, backupOnline, writeBackup } from '../../capabilities/backups/storage/backup.ts'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { systemClock } from '../../core/base/clock.ts'
import { printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'
import { resolveConfigured, storeOf } from '../location/store-location.ts'
import { backUpToRepository, type RepositoryFlags } from './repository-backup.ts'

interface Flags extends Partial<RepositoryFlags> {
  readonly tokenFile?: string
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
    .option('--token-file <file>', 'File with the admin token of the server.')
    .option('--to <repository>', 'Backup repository instead of a file: a folder, or s3://bucket/prefix.')
    .option('--key-file <file>', 'Key of the repository; weft backups key creates one.')
    .option('--keep <rule>', 'Backups to keep, such as 7d,4w,12m; deletes the others (default: all).')
    .option('--verify <chunks>', 'Chunks to read again: all or new (default: all).')
    .option('--other-store', 'Accept that the newest backup is of another store.')
    .option('--json', 'Print JSON.')
    .action(async (source: string, file: string | undefined, flags: Flags) => {
      const { to } = flags
      if (to !== undefined && file === undefined)
        return backUpToRepository(() => sourceOf(source, flags), { ...flags, to })
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
  if (!/^https?:\/\//.test(source)) return backupOffline(storeOf(source), systemClock, resolveConfigured)
  if (tokenFile === undefined)
    throw new StorageError('the backup of a running server needs its admin token: --token-file')
  return backupOnline(source, tokenFile)
}
