import { type AuditQuery, listRecords } from '../../../core/audit/listing.ts'
import { type AuditRecord, type AuditScope, auditPart } from '../../../core/audit/record.ts'
import { TenantStore } from '../../../core/directory/tenants/tenant-store.ts'
import type { Kv } from '../../../core/store/engine.ts'
import { openOfflineStore } from './offline-store.ts'

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
  for (
    let next = await tenants.workspaceAfter(null);
    next !== null;
    next = await tenants.workspaceAfter(next)
  )
    places.push(next)
  return places
}

async function* recordsOf(kv: Kv, place: AuditScope, query: AuditQuery): AsyncGenerator<PlacedRecord> {
  let after: string | undefined
  do {
    const range = { order: 'asc', after, limit: pageSize } as const
    const { items, next } = await listRecords(kv, auditPart(place), query, range)
    for (const record of items) yield { workspaceId: place, record }
    after = next ?? undefined
  } while (after !== undefined)
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
