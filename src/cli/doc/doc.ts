import { Command } from 'commander'
import { docGetCommand, docPutCommand } from './content.ts'
import { docListCommand } from './list.ts'

/** Creates the command `weft doc`, for documents of a stopped or a running server. */
export const docCommand = (): Command =>
  new Command('doc')
    .description('List, read and write documents, of a stopped server or of a running one (--url).')
    .addCommand(docListCommand())
    .addCommand(docGetCommand())
    .addCommand(docPutCommand())
