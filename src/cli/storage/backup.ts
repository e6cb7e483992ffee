import { Command } from 'commander'
import { systemClock } from '../../clock.ts'
import { writeBackup } from '../../storage/backup.ts'
import { backupOffline, backupOnline } from '../../storage/backup-sources.ts'
import { StorageError } from '../../storage/storage-error.ts'
import { printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'

interface Flags {
  readonly tokenFile?: string
  readonly json?: true
}

/** Creates the command `weft backup`. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('Write all stored data of a running or stopped server to one file.')
    .argument('<source>', 'URL of the server, or data directory of a stopped one.')
    .argument('<file>', 'File to write; it contains secrets, and only its owner can read it.')
    .option('--token-file <file>', 'File with the admin token of the server.')
    .option('--json', 'Print JSON.')
    .action(async (source: string, file: string, flags: Flags) => {
      const progress = showProgress('backup', flags.json ? 'json' : 'text')
      const done = await writeBackup(sourceOf(source, flags), file, progress.at).finally(progress.end)
      if (flags.json) return printResult(JSON.stringify({ ok: true, file, ...done }))
      printResult(`${file} holds ${done.pairs} records (${done.bytes} bytes), checked`)
    })
}

function sourceOf(source: string, { tokenFile }: Flags): AsyncIterable<Uint8Array> {
  if (!/^https?:\/\//.test(source)) return backupOffline(source, systemClock)
  if (tokenFile === undefined)
    throw new StorageError('the backup of a running server needs its admin token: --token-file')
  return backupOnline(source, tokenFile)
}
