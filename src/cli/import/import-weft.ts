import type { Command } from 'commander'
import { locationName } from '../../capabilities/backups/storage/offline-store.ts'
import { type ExportImportResult, importExport } from '../../capabilities/transfer/import/import-export.ts'
import { ConfigError } from '../../core/config/read-config.ts'
import { threadJobMsOf } from '../../server/limits-from-config.ts'
import { configOf, printResult } from '../command-line/command-io.ts'
import { showProgress } from '../command-line/progress.ts'
import { exitCodes } from '../command-line/run-command.ts'
import { storeLocation } from '../location/store-location.ts'

interface Flags {
  readonly dataDir?: string
  readonly workspace?: string
  readonly apiKey?: string
  readonly dryRun?: true
  readonly json?: true
}

/**
 * Adds the subcommand `weft` to `import`. It imports all accepted documents; its exit code is 1 if a document
 * was rejected.
 */
export function addWeftImport(command: Command): void {
  command
    .command('weft')
    .description('Import the output of `weft export` into the store of a stopped server.')
    .argument('<directory>', 'The export.')
    .option(
      '--data-dir <directory>',
      'Data directory, created if missing (default: the configured store, which may be a database).',
    )
    .option('--workspace <id>', 'Workspace that will own the documents, for exports of documents only.')
    .option('--api-key <key>', 'API key that will own the documents; required with --workspace.')
    .option('--dry-run', 'Check everything, and write nothing.')
    .option('--json', 'Print JSON.')
    .action(async (directory: string, flags: Flags) => {
      const progress = showProgress('import', flags.json ? 'json' : 'text')
      const { config } = configOf({})
      const options = {
        run: flags.dryRun ? 'dry' : 'real',
        tenant: tenantOf(flags),
        defaultAccess: config.defaultAccess,
        documentMsMax: threadJobMsOf(config),
      } as const
      const target = storeLocation(flags.dataDir)
      const done = await importExport(directory, target, options, progress.at).finally(progress.end)
      const ok = done.problems.length === 0
      printResult(flags.json ? JSON.stringify({ ok, ...done }) : asText(locationName(target), flags, done))
      if (!ok) process.exitCode = exitCodes.fault
    })
}

function tenantOf({ workspace, apiKey }: Flags): { workspaceId: string; apiKey: string } | null {
  if (workspace === undefined && apiKey === undefined) return null
  if (workspace === undefined || apiKey === undefined)
    throw new ConfigError('--workspace and --api-key go together')
  return { workspaceId: workspace, apiKey }
}

function asText(
  target: string,
  { dryRun }: Flags,
  { documents, deleted, records, problems }: ExportImportResult,
): string {
  const { added, merged, there } = documents
  const left = problems.map((sentence) => `left out: ${sentence}`)
  const done =
    `${dryRun ? 'dry run, nothing was written; ' : ''}${target}: ${added} documents created, ` +
    `${merged} merged into existing ones, ${there} unchanged, ${deleted} kept as deleted; ` +
    `other records: ${records.added} created, ${records.there} unchanged`
  return [...left, done].join('\n')
}
