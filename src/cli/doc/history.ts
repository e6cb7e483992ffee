import { Command } from 'commander'
import { publicUrlOf } from '../../config/public-url.ts'
import { ConfigError } from '../../config/read-config.ts'
import type { RootListing } from '../../content/roots.ts'
import type { DocumentPath } from '../../model/address.ts'
import { escapeControls } from '../../text.ts'
import { listChangesOnline } from '../../transfer/documents/authorship-online.ts'
import type { Catalog, CatalogVersion } from '../../transfer/documents/catalog.ts'
import { restoreOnline } from '../../transfer/documents/catalog-online.ts'
import { type DocumentRoot, parsePath } from '../../transfer/documents/document-offline.ts'
import { configOf, printResult, printRows, printWithBackpressure } from '../command-line/command-io.ts'
import { type ChangeFlags, selectionOf, withFilterFlags } from './change-options.ts'
import { describeChange } from './changes.ts'
import { addressHelp } from './content.ts'
import { colored, lineDiff } from './line-diff.ts'
import {
  type LocationFlags,
  onlineServerOf,
  type ReadingFlags,
  requireServer,
  withCatalog,
  withLocationFlags,
  withReadFlags,
} from './location.ts'

interface Flags extends LocationFlags, ReadingFlags, ChangeFlags {
  readonly diff?: string
  readonly json?: true
}

export function docHistoryCommand(): Command {
  return withFilterFlags(withLocationFlags(withReadFlags(new Command('history'))))
    .description(
      'List the versions of a document, the newest first. With --from, list the changes since a version, with their authors.',
    )
    .argument('<address>', addressHelp)
    .option('--diff <version>', 'Show the lines of its content that differ from now.')
    .option(
      '--from <version>',
      'Version, or id of a saved version: list the changes since then (running server).',
    )
    .option('--to <version>', 'With --from: only the changes up to this version.')
    .option('--json', 'Print a line of JSON for each.')
    .action(async (address: string, flags: Flags) => {
      const path = parsePath(address)
      if (flags.from !== undefined) return listChanges(path, flags.from, flags)
      await withCatalog(flags, async (catalog) => {
        if (flags.diff !== undefined) return showDiff(catalog, path, flags.diff, flags)
        await requireThere(catalog, path)
        const line = flags.json ? null : lineOf
        await printRows(catalog.versions(path), { line, none: 'there are no versions yet' })
      })
    })
}

export function docRestoreCommand(): Command {
  return withLocationFlags(new Command('restore'))
    .description('Restore the content of a version; the replaced content becomes a version.')
    .argument('<address>', addressHelp)
    .argument('<version>', 'Id of the version, see `doc history`.')
    .option('--json', 'Print JSON.')
    .action(async (address: string, version: string, flags: Flags) => {
      const path = parsePath(address)
      const server = await onlineServerOf(flags)
      if (server === null)
        throw new ConfigError('the server is needed to restore a version', {
          hint: `start it, and name it: --url ${publicUrlOf(configOf({ dataDir: flags.dataDir }).config)}`,
        })
      const before = await restoreOnline(server, path, version)
      if (flags.json)
        return printResult(JSON.stringify({ ok: true, changed: before !== null, previousVersionId: before }))
      printResult(
        before === null
          ? 'the document already has this content'
          : `restored; the earlier content is now version ${before}`,
      )
    })
}

async function listChanges(path: DocumentPath, from: string, flags: Flags): Promise<void> {
  const changes = listChangesOnline(await requireServer(flags), path, selectionOf(from, flags))
  const line = flags.json ? null : describeChange
  await printRows(changes, { line, none: 'there are no changes' })
}

/**
 * Checks that the document exists. Otherwise, an unknown document would be shown as an empty list of
 * versions.
 */
async function requireThere(catalog: Catalog, path: DocumentPath): Promise<void> {
  await catalog.content(path, null, { format: 'update' })
}

function lineOf({
  versionId,
  kind,
  label,
  createdAt,
  createdBy,
  sizeBytes,
  authors,
}: CatalogVersion): string {
  const names = authors.map(({ userId, name }) => name ?? userId).join(', ')
  const parts = [
    `${createdAt.slice(0, 19)}  ${versionId}  ${kind.padEnd(9)}`,
    `${sizeBytes} bytes`,
    label === '' ? '' : JSON.stringify(label),
    createdBy === '' ? '' : `by ${createdBy}`,
    names === '' ? '' : `edited by ${names}`,
  ]
  return escapeControls(parts.filter((part) => part !== '').join('  '))
}

async function showDiff(
  catalog: Catalog,
  path: DocumentPath,
  versionId: string,
  { format, contentKey, json }: Flags,
): Promise<void> {
  if (format === 'update')
    throw new ConfigError('a Yjs update has no lines to compare', {
      hint: 'choose --format json, text, markdown or xml',
    })
  const now = await catalog.content(path, null, { format, contentKey })
  const { data: roots } = await catalog.content(path, versionId, { format: 'roots' })
  // Checks whether the root exists in the version, because the version may be older than the root.
  const isThere = (roots as readonly RootListing[]).some((root) => root.contentKey === now.contentKey)
  const reading = { format, contentKey: now.contentKey }
  const then = isThere ? linesOf(await catalog.content(path, versionId, reading)) : []
  const lines = lineDiff(then, linesOf(now))
  if (json) return printResult(JSON.stringify({ versionId, same: lines.length === 0, lines }))
  if (lines.length === 0) return printResult('nothing differs')
  for (const line of lines) await printWithBackpressure(colored(line))
}

function linesOf({ data }: DocumentRoot): readonly string[] {
  const text = typeof data === 'string' ? data : JSON.stringify(data, null, 2)
  return text === '' ? [] : text.split('\n')
}
