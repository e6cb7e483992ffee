import { Command } from 'commander'
import { parsePath } from '../../capabilities/transfer/documents/catalog.ts'
import { callOnline } from '../../capabilities/transfer/documents/rest-client.ts'
import * as s from '../../core/base/schema.ts'
import { lineOfMembers, printRows } from '../command-line/command-io.ts'
import { requireServer, type ServerFlags, withContentKey, withServerFlags } from '../location/location.ts'
import { addressHelp, docGetCommand, docPutCommand } from './content.ts'
import { docDiffCommand } from './diff.ts'
import { docHistoryCommand, docRestoreCommand } from './history.ts'
import { docListCommand } from './list.ts'
import { docUndoCommand } from './undo.ts'

interface Flags extends ServerFlags {
  readonly contentKey?: string
  readonly json?: true
}

const attributedSchema = s.tuple([
  s.object({ attribution: s.array(s.object({})), attributionTruncated: s.boolean }),
])

function docBlameCommand(): Command {
  return withServerFlags(withContentKey(new Command('blame')))
    .description('Print the content of a document with the author of each part, from a running server.')
    .argument('<address>', addressHelp)
    .option('--json', 'Print a line of JSON for each part.')
    .action(async (address: string, flags: Flags) => {
      const query = { ...parsePath(address), contentKey: flags.contentKey, attribution: true }
      const { data } = await callOnline(await requireServer(flags), '/v2/crdt/get', query, attributedSchema)
      const [{ attribution, attributionTruncated }] = data
      const line = flags.json ? null : lineOfMembers
      await printRows(attribution, { line, none: 'there is no content yet' })
      if (attributionTruncated) process.stderr.write('there is more content than one response contains\n')
    })
}

/** Creates the command `weft doc`, for documents of a stopped or a running server. */
export const docCommand = (): Command =>
  new Command('doc')
    .description(
      'List, read, write and compare documents, and undo changes, of a stopped server or of a running one (--url).',
    )
    .addCommand(docListCommand())
    .addCommand(docGetCommand())
    .addCommand(docPutCommand())
    .addCommand(docHistoryCommand())
    .addCommand(docRestoreCommand())
    .addCommand(docBlameCommand())
    .addCommand(docDiffCommand())
    .addCommand(docUndoCommand())
