import { Command, Option } from 'commander'
import { parsePath } from '../../capabilities/transfer/documents/catalog.ts'
import { callOnline } from '../../capabilities/transfer/documents/rest-client.ts'
import * as s from '../../core/base/schema.ts'
import { type OverlapPolicy, overlapPolicies } from '../../core/content/merge/overlap.ts'
import { lineOfMembers, printResult } from '../command-line/command-io.ts'
import { requireServer, type ServerFlags, withServerFlags } from '../location/location.ts'
import { type ChangeFlags, selectionOf, withFilterFlags, withVersionFlags } from './change-options.ts'
import { addressHelp } from './content.ts'

interface Flags extends ServerFlags, ChangeFlags {
  readonly from: string
  readonly change?: readonly string[]
  readonly user?: string
  readonly onOverlap?: OverlapPolicy
  readonly dryRun?: true
  readonly json?: true
}

const undoSchema = s.object(
  {
    version: s.string,
    changed: s.boolean,
    undone: s.number,
    notUndone: s.array(s.object({ changeId: s.string, hunk: s.orNull(s.number), reason: s.string })),
  },
  {
    overlaps: s.array(
      s.object({ path: s.string, kept: s.string }, { base: s.unknown, theirs: s.unknown, mine: s.unknown }),
    ),
    overlapCount: s.number,
  },
)

export function docUndoCommand(): Command {
  return withServerFlags(withFilterFlags(withVersionFlags(new Command('undo'))))
    .description('Undo changes between two versions of a document, on a running server. Other changes stay.')
    .argument('<address>', addressHelp)
    .option('--change <id...>', 'Only these change sets, see `doc history --from`.')
    .option('--user <id>', 'Author of the undo.')
    .addOption(
      new Option(
        '--on-overlap <effect>',
        'Effect if others have changed the same words (default: report; they stay).',
      ).choices(overlapPolicies),
    )
    .option('--dry-run', 'Change nothing; print what would be undone.')
    .option('--json', 'Print JSON.')
    .action(async (address: string, flags: Flags) => {
      const server = await requireServer(flags)
      const { change: changeIds, user: userId, onOverlap, dryRun } = flags
      const selection = selectionOf(flags.from, flags)
      const query = { ...parsePath(address), ...selection, changeIds, userId, onOverlap, dryRun }
      const { data } = await callOnline(server, '/v2/crdt/undo', query, undoSchema)
      printResult(flags.json ? JSON.stringify({ ok: true, ...data }) : lineOfMembers(data))
    })
}
