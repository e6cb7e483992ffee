import { Command, Option } from 'commander'
import { type PlacedRecord, readAuditLog } from '../capabilities/backups/storage/read-audit-log.ts'
import type { AuditQuery } from '../core/audit/listing.ts'
import { type AuditActor, auditActors } from '../core/audit/record.ts'
import { escapeControls } from '../core/base/text.ts'
import { toAuditRecordResponse } from '../rest/schemas/audit-schema.ts'
import { printWithBackpressure } from './command-line/command-io.ts'
import { parseTimeOption } from './command-line/time-option.ts'

interface Flags {
  readonly since?: number
  readonly until?: number
  readonly workspace?: string
  readonly operation?: string
  readonly apiKey?: string
  readonly actor?: AuditActor
  readonly json?: true
}

/**
 * Creates the command `weft audit`. It prints one line per record, the oldest first; with `--json`, one line
 * of JSON per record.
 */
export function auditCommand(): Command {
  return new Command('audit')
    .description('Show the audit log from the store of a stopped server.')
    .argument('<directory>', 'Data directory.')
    .option('--since <time>', 'Only later records: a date, or an age (30m, 24h, 7d).', parseTimeOption)
    .option('--until <time>', 'Only earlier records.', parseTimeOption)
    .option('--workspace <id>', 'Only records of this workspace.')
    .option('--operation <path>', 'Only records of this operation.')
    .option('--api-key <key>', 'Only records of this API key, or records that name it.')
    .addOption(new Option('--actor <actor>', 'Only records of this actor type.').choices(auditActors))
    .option('--json', 'Print JSON.')
    .action(async (directory: string, flags: Flags) => {
      for await (const placed of readAuditLog(directory, queryOf(flags), flags.workspace ?? null))
        await printWithBackpressure(flags.json ? asJson(placed) : asText(placed))
    })
}

const queryOf = ({ since, until, operation, apiKey, actor }: Flags): AuditQuery => ({
  ...(since !== undefined && { after: since }),
  ...(until !== undefined && { before: until }),
  ...(operation !== undefined && { operation }),
  ...(apiKey !== undefined && { apiKey }),
  ...(actor !== undefined && { actor }),
})

const asJson = ({ workspaceId, record }: PlacedRecord): string =>
  JSON.stringify({ ...(workspaceId !== null && { workspaceId }), ...toAuditRecordResponse(record) })

function asText({ workspaceId, record }: PlacedRecord): string {
  const { at, actor, apiKey, operation, outcome, clientAddress, ids, refusals } = record
  const who = [workspaceId, apiKey].filter((id) => id !== null).join('/')
  const parts = [
    new Date(at).toISOString(),
    outcome,
    operation,
    who === '' ? actor : `${actor} ${who}`,
    clientAddress === null ? '' : `from ${clientAddress}`,
    refusals === null ? '' : `${refusals.count} times since ${new Date(refusals.since).toISOString()}`,
    Object.keys(ids).length === 0 ? '' : JSON.stringify(ids),
  ]
  return parts
    .filter((part) => part !== '')
    .map(escapeControls)
    .join('  ')
}
