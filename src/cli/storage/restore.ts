import { Command } from 'commander'
import { restore } from '../../storage/restore.ts'
import { printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'

/** Creates the command `weft restore`. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('Create a data directory from a backup.')
    .argument('<file>', 'The backup.')
    .argument('<directory>', 'New or empty data directory.')
    .option('--json', 'Print JSON.')
    .action(async (file: string, directory: string, { json }: { json?: true }) => {
      const progress = showProgress('restore', json ? 'json' : 'text')
      const done = await restore(file, directory, progress.at).finally(progress.end)
      const madeAt = new Date(done.madeAt).toISOString()
      if (json) return printResult(JSON.stringify({ ok: true, ...done, madeAt }))
      printResult(`restored ${done.records} records from the backup of ${madeAt} into ${directory}`)
    })
}
