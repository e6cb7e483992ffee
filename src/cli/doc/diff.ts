import { Command, Option } from 'commander'
import { diffOnline } from '../../capabilities/transfer/documents/authorship-online.ts'
import { parsePath } from '../../capabilities/transfer/documents/document-offline.ts'
import { diffFormats } from '../../core/content/history/diff/diff-formats.ts'
import { printResult } from '../command-line/command-io.ts'
import { requireServer, type ServerFlags, withContentKey, withServerFlags } from '../location/location.ts'
import { withVersionFlags } from './change-options.ts'
import { addressHelp } from './content.ts'

interface Flags extends ServerFlags {
  readonly from: string
  readonly to?: string
  readonly format: string
  readonly contentKey?: string
  readonly json?: true
}

export function docDiffCommand(): Command {
  return withServerFlags(withContentKey(withVersionFlags(new Command('diff'))))
    .description('Print the difference of two versions of a document, from a running server.')
    .argument('<address>', addressHelp)
    .addOption(
      new Option('--format <format>', 'Form of the difference.').choices(diffFormats).default('runs'),
    )
    .option('--json', 'Print one line of JSON, with both versions.')
    .action(async (address: string, { from, to, format, contentKey, ...flags }: Flags) => {
      const server = await requireServer(flags)
      const found = await diffOnline(server, parsePath(address), { from, to, format, contentKey })
      if (flags.json) return printResult(JSON.stringify(found))
      const { diff } = found
      printResult(typeof diff === 'string' ? diff : JSON.stringify(diff, null, 2))
    })
}
