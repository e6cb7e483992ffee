import { Command, Option } from 'commander'
import { type Exported, exportStore } from '../capabilities/transfer/export/export.ts'
import { type RichTextFormat, richTextFormats } from '../capabilities/transfer/export/manifest.ts'
import { systemClock } from '../core/base/clock.ts'
import { printResult } from './command-line/command-io.ts'
import { showProgress } from './command-line/progress.ts'
import { exitCodes } from './command-line/run-command.ts'
import { configuredObjects, storeLocation } from './location/store-location.ts'

interface Flags {
  readonly dataDir?: string
  readonly documentsOnly?: true
  readonly organization?: string
  readonly format: RichTextFormat
  readonly secrets?: true
  readonly json?: true
}

/** Creates the command `weft export`. It skips damaged documents, and its exit code is then 1. */
export function exportCommand(): Command {
  return new Command('export')
    .description('Export the store of a stopped server as files that other programs can read.')
    .argument('<directory>', 'New or empty directory; only its owner can read it.')
    .option(
      '--data-dir <directory>',
      'Data directory (default: the configured store, which may be a database).',
    )
    .option('--documents-only', 'Only the content of documents.')
    .option('--organization <id>', 'Only this organization.')
    .addOption(
      new Option('--format <format>', 'Format of the files with rich text.')
        .choices([...richTextFormats])
        .default('xml'),
    )
    .option('--secrets', 'Also tokens, signing secrets of webhooks, and the file with the credentials.')
    .option('--json', 'Print JSON.')
    .action(async (directory: string, flags: Flags) => {
      const { dataDir: data, documentsOnly, organization, format, secrets, json } = flags
      const progress = showProgress('export', json ? 'json' : 'text')
      const options = {
        holds: documentsOnly ? 'documents' : 'all',
        organizationId: organization ?? null,
        format,
        secrets: secrets ? 'included' : 'left out',
        objects: await configuredObjects(),
        clock: systemClock,
      } as const
      const done = await exportStore(storeLocation(data), directory, options, progress.at).finally(
        progress.end,
      )
      printResult(json ? JSON.stringify({ ok: done.damaged.length === 0, ...done }) : asText(directory, done))
      if (done.damaged.length > 0) process.exitCode = exitCodes.fault
    })
}

function asText(directory: string, { documents, deleted, records, bytes, damaged }: Exported): string {
  const left = damaged.map((sentence) => `left out: ${sentence}`)
  const all = `${directory} holds ${documents} documents (${bytes} bytes), ${deleted} that were deleted, ${records} other records`
  return [...left, all].join('\n')
}
