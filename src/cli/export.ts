import { Command, Option } from 'commander'
import { type RichTextFormat, richTextFormats } from '../capabilities/transfer/export/document-files.ts'
import { type Exported, exportStore } from '../capabilities/transfer/export/export.ts'
import { printResult, showProgress } from './command-line/command-io.ts'
import { exitCodes } from './command-line/run-command.ts'
import { storeLocation } from './location/store-location.ts'

interface Flags {
  readonly dataDir?: string
  readonly organization?: string
  readonly format: RichTextFormat
  readonly json?: true
}

/** Creates the command `weft export`. It skips damaged documents, and its exit code is then 1. */
export function exportCommand(): Command {
  return new Command('export')
    .description(
      'Write the documents of a stopped server as files for people and other programs. `weft backup` makes backups.',
    )
    .argument('<directory>', 'New or empty directory; only its owner can read it.')
    .option(
      '--data-dir <directory>',
      'Data directory (default: the configured store, which may be a database).',
    )
    .option('--organization <id>', 'Only this organization.')
    .addOption(
      new Option('--format <format>', 'Format of the files with rich text.')
        .choices([...richTextFormats])
        .default('xml'),
    )
    .option('--json', 'Print JSON.')
    .action(async (directory: string, { dataDir, organization, format, json }: Flags) => {
      const progress = showProgress('export', json ? 'json' : 'text')
      const options = { organizationId: organization ?? null, format }
      const done = await exportStore(storeLocation(dataDir), directory, options, progress.at).finally(
        progress.end,
      )
      printResult(json ? JSON.stringify({ ok: done.damaged.length === 0, ...done }) : asText(directory, done))
      if (done.damaged.length > 0) process.exitCode = exitCodes.fault
    })
}

function asText(directory: string, { documents, bytes, damaged }: Exported): string {
  const left = damaged.map((sentence) => `left out: ${sentence}`)
  const all = `${directory} holds ${documents} documents (${bytes} bytes)`
  return [...left, all].join('\n')
}
