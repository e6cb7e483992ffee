import { Command } from 'commander'
import { parsePath } from '../../capabilities/transfer/documents/catalog.ts'
import { callOnline, pagesOnline } from '../../capabilities/transfer/documents/rest-client.ts'
import * as s from '../../core/base/schema.ts'
import { publicUrlOf } from '../../core/config/public-url.ts'
import { ConfigError } from '../../core/config/read-config.ts'
import type { DocumentPath } from '../../core/model/address.ts'
import { configOf, lineOfMembers, printResult, printRows } from '../command-line/command-io.ts'
import {
  type LocationFlags,
  onlineServerOf,
  requireServer,
  withCatalog,
  withLocationFlags,
} from '../location/location.ts'
import { type ChangeFlags, selectionOf, withFilterFlags } from './change-options.ts'
import { addressHelp } from './content.ts'

interface Flags extends LocationFlags, ChangeFlags {
  readonly json?: true
}

const restoredSchema = s.object({ previousVersionId: s.orNull(s.string) })
const changesSchema = s.object({ changes: s.array(s.object({})) })

export function docHistoryCommand(): Command {
  return withFilterFlags(withLocationFlags(new Command('history')))
    .description(
      'List the versions of a document, the newest first. With --from, list the changes since a version, with their authors.',
    )
    .argument('<address>', addressHelp)
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
        // Otherwise, an unknown document would be shown as an empty list of versions.
        await catalog.content(path, { format: 'update' })
        const line = flags.json ? null : lineOfMembers
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
      const query = { ...path, versionId: version }
      const { data } = await callOnline(server, '/v2/crdt/versions/restore', query, restoredSchema)
      const before = data.previousVersionId
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
  const query = { ...path, ...selectionOf(from, flags) }
  const pages = pagesOnline(await requireServer(flags), '/v2/crdt/changes', query, changesSchema)
  const line = flags.json ? null : lineOfMembers
  await printRows(itemsOf(pages), { line, none: 'there are no changes' })
}

async function* itemsOf(pages: AsyncGenerator<s.TypeOf<typeof changesSchema>>): AsyncGenerator<object> {
  for await (const { changes } of pages) yield* changes
}
