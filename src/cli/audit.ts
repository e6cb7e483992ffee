import { Command, Option } from 'commander'
import { openOfflineStore } from '../capabilities/backups/storage/offline-store.ts'
import { type AuditQuery, listRecords } from '../core/audit/listing.ts'
import {
  type AuditActor,
  type AuditRecord,
  type AuditScope,
  auditActors,
  auditPart,
} from '../core/audit/record.ts'
import { escapeControls } from '../core/base/text.ts'
import { listingPages, type PageRange } from '../core/directory/store/list-page.ts'
import { TenantStore } from '../core/directory/tenants/tenant-store.ts'
import type { Kv } from '../core/store/engine.ts'
import { toAuditRecordResponse } from '../rest/schemas/audit-schema.ts'
import { parseTimeOption, printWithBackpressure } from './command-line/command-io.ts'

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

export interface PlacedRecord {
  /** Workspace to whose log the record belongs; null for the log of the operator. */
  readonly workspaceId: AuditScope
  readonly record: AuditRecord
}

const pageSize = 250

/**
 * Yields the audit records of a stopped server, oldest first.
 * @param workspaceId workspace whose log is read; null: all logs are read
 * @throws StorageError, EngineOpenError
 */
export async function* readAuditLog(
  directory: string,
  query: AuditQuery,
  workspaceId: string | null,
): AsyncGenerator<PlacedRecord> {
  const engine = await openOfflineStore(directory, 'open')
  try {
    const places = workspaceId === null ? await placesIn(engine.kv) : [workspaceId]
    yield* merged(places.map((place) => recordsOf(engine.kv, place, query)))
  } finally {
    await engine.close()
  }
}

async function placesIn(kv: Kv): Promise<readonly AuditScope[]> {
  const tenants = new TenantStore(kv)
  const places: AuditScope[] = [null]
  for await (const id of tenants.workspaceIds()) places.push(id)
  return places
}

async function* recordsOf(kv: Kv, place: AuditScope, query: AuditQuery): AsyncGenerator<PlacedRecord> {
  const list = (range: PageRange) => listRecords(kv, auditPart(place), query, { order: 'asc', ...range })
  for await (const page of listingPages(list, pageSize))
    for (const record of page) yield { workspaceId: place, record }
}

/** Merges sorted lists into one sorted list. */
async function* merged(lists: readonly AsyncGenerator<PlacedRecord>[]): AsyncGenerator<PlacedRecord> {
  const heads = (await Promise.all(lists.map(headOf))).filter((head) => head !== null)
  while (heads.length > 0) {
    const first = heads.reduce((best, head) => (head.placed.record.id < best.placed.record.id ? head : best))
    yield first.placed
    const next = await headOf(first.list)
    if (next === null) heads.splice(heads.indexOf(first), 1)
    else heads.splice(heads.indexOf(first), 1, next)
  }
}

interface AuditHead {
  readonly list: AsyncGenerator<PlacedRecord>
  readonly placed: PlacedRecord
}

async function headOf(list: AsyncGenerator<PlacedRecord>): Promise<AuditHead | null> {
  const { value, done } = await list.next()
  return done ? null : { list, placed: value }
}
