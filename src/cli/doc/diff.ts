import { Command, Option } from 'commander'
import { parsePath } from '../../capabilities/transfer/documents/catalog.ts'
import { callOnline } from '../../capabilities/transfer/documents/rest-client.ts'
import * as s from '../../core/base/schema.ts'
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

const diffSchema = s.object({ from: s.string, to: s.string, diff: s.unknown })

export function docDiffCommand(): Command {
  return withServerFlags(withContentKey(withVersionFlags(new Command('diff'))))
    .description('Print the difference of two versions of a document, from a running server.')
    .argument('<address>', addressHelp)
    .addOption(
      new Option('--format <format>', 'Form of the difference.').choices(diffFormats).default('runs'),
    )
    .option('--json', 'Print one line of JSON, with both versions.')
    .action(async (address: string, { from, to, format, contentKey, ...flags }: Flags) => {
      const query = { ...parsePath(address), from, to, format, contentKey }
      const server = await requireServer(flags)
      const { data } = await callOnline(server, '/v2/crdt/versions/diff', query, diffSchema)
      if (flags.json) return printResult(JSON.stringify(data))
      const { diff } = data
      printResult(typeof diff === 'string' ? diff : JSON.stringify(diff, null, 2))
    })
}
