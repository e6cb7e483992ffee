import { Command } from 'commander'
import { escapeControls } from '../../text.ts'
import { blameOnline, type OnlineRun } from '../../transfer/documents/authorship-online.ts'
import { parsePath } from '../../transfer/documents/document-offline.ts'
import { printResult, printWithBackpressure } from '../command-line/command-io.ts'
import { describeOrigin } from './changes.ts'
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
      for (const run of attribution)
        await printWithBackpressure(flags.json ? JSON.stringify(run) : lineOf(run))
      if (attribution.length === 0 && !flags.json) printResult('there is no content yet')
      if (attributionTruncated) process.stderr.write('there is more content than one response contains\n')
    })
}

function lineOf(run: OnlineRun): string {
  const { at, text, node, path, length } = run
  const content =
    text === undefined ? (node === undefined ? placeOf(path, length) : `<${node}>`) : JSON.stringify(text)
  return `${at?.slice(0, 19) ?? '-'.padEnd(19)}  ${describeOrigin(run)}  ${escapeControls(content)}`
}

const placeOf = (path: readonly unknown[], length: number): string =>
  `/${path.join('/')}${length === 1 ? '' : ` (${length} values)`}`
