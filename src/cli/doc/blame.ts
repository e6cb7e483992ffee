import { Command } from 'commander'
import { blameOnline } from '../../capabilities/transfer/documents/authorship-online.ts'
import { parsePath } from '../../capabilities/transfer/documents/document-offline.ts'
import { lineOfMembers, printRows } from '../command-line/command-io.ts'
import { addressHelp } from './content.ts'
import { requireServer, type ServerFlags, withContentKey, withServerFlags } from './location.ts'

interface Flags extends ServerFlags {
  readonly contentKey?: string
  readonly json?: true
}

export function docBlameCommand(): Command {
  return withServerFlags(withContentKey(new Command('blame')))
    .description('Print the content of a document with the author of each part, from a running server.')
    .argument('<address>', addressHelp)
    .option('--json', 'Print a line of JSON for each part.')
    .action(async (address: string, flags: Flags) => {
      const server = await requireServer(flags)
      const { attribution, attributionTruncated } = await blameOnline(
        server,
        parsePath(address),
        flags.contentKey,
      )
      const line = flags.json ? null : lineOfMembers
      await printRows(attribution, { line, none: 'there is no content yet' })
      if (attributionTruncated) process.stderr.write('there is more content than one response contains\n')
    })
}
