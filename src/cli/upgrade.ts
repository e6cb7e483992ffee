import { Command } from 'commander'
import { upgradeStopped } from '../storage/stopped.ts'
import { print } from './options.ts'
import { showProgress } from './progress.ts'

/** `weft upgrade`: what the server does at its start, too; it may be stopped and called again. */
export function upgradeCommand(): Command {
  return new Command('upgrade')
    .description(
      'Bring the store of a stopped server to the format of this version, where it is: make a backup before.',
    )
    .argument('<directory>', 'Data directory.')
    .option('--json', 'Print for machines.')
    .action(async (directory: string, { json }: { json?: true }) => {
      const progress = showProgress('upgrade', json ? 'json' : 'text')
      const { from, to } = await upgradeStopped(directory, (formats, share) =>
        progress.at(`format ${formats.from} to ${formats.to}`, share),
      ).finally(progress.end)
      if (json) return print(JSON.stringify({ ok: true, from, to }))
      print(from === to ? `${directory} has format ${to} already` : `${directory} has format ${to} now`)
    })
}
