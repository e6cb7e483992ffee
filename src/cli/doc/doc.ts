import { Command } from 'commander'
import { docBlameCommand } from './blame.ts'
import { docGetCommand, docPutCommand } from './content.ts'
import { docDiffCommand } from './diff.ts'
import { docHistoryCommand, docRestoreCommand } from './history.ts'
import { docListCommand } from './list.ts'
import { docUndoCommand } from './undo.ts'

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
