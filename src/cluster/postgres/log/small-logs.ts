import type { LoadedLog } from '../../../core/store/engine.ts'
import { baseSnapshot } from '../../../core/store/log-state.ts'
import { bytesArray } from '../connection/arrays.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import {
  allSettled,
  commit,
  type DatabaseSession,
  rollback,
  statement,
} from '../connection/database-session.ts'
import { GroupedReads } from '../connection/grouped-reads.ts'
import { endsConnection } from '../connection/postgres-errors.ts'
import { snapshotCrc } from './document-change-set.ts'
import { columns, type HeadRow, readableRow } from './document-rows.ts'
import { type EntryRow, isIntact, logEntryOf } from './read-entries.ts'

/** Maximum bytes of the snapshot of a small log, and of its entries. */
export const smallBytesMax = 262_144
/** Maximum number of these entries. */
const entriesMax = 500
/** Maximum number of logs in one group. */
const logsMax = 16

/** The head row of the `n`th log, with its newest snapshot. `bytes` is null if the snapshot is not small. */
interface LoadedHead extends HeadRow {
  readonly n: number
  readonly base: number | null
  readonly crc: number
  readonly bytes: Buffer | null
}

const beginReads = statement('begin-reads', 'begin isolation level repeatable read read only')
const readHeads = statement<LoadedHead>(
  'load-heads',
  `select k.n::int, ${columns}, s.seq as base, s.crc,
     case when octet_length(s.bytes) <= $2 then s.bytes end as bytes
   from unnest($1::bytea[]) with ordinality as k(key, n) join document d on d.key = k.key
   left join lateral (
     select seq, crc, bytes from snapshot where doc = d.id and epoch = d.epoch order by seq desc limit 1
   ) s on true`,
)
const readTails = statement<EntryRow & { n: number }>(
  'load-tails',
  `select k.n::int, e.seq, e.at, e.by, e.crc, e.bytes
   from unnest($1::bytea[]) with ordinality as k(key, n) join document d on d.key = k.key and d.state = 'live'
   cross join lateral (
     select t.*, sum(octet_length(t.bytes)) over (order by t.seq) as size from (
       select seq, at, by, crc, bytes from entry where doc = d.id and epoch = d.epoch and seq > coalesce(
         (select seq from snapshot where doc = d.id and epoch = d.epoch order by seq desc limit 1), 0)
       order by seq limit $3
     ) t
   ) e
   where e.size <= $2 order by k.n, e.seq`,
)

/** Small logs by their keys; null if a log is not small, or possibly damaged. */
export type SmallLogs = GroupedReads<Buffer, LoadedLog | null>

/**
 * Loads small logs. Loads all logs that are requested in one tick in one round trip, with the data of the
 * same moment.
 */
export const smallLogsIn = (database: PostgresDatabase): SmallLogs =>
  new GroupedReads(database, readLogs, logsMax)

async function readLogs(
  session: DatabaseSession,
  keys: readonly Buffer[],
): Promise<readonly (LoadedLog | null)[]> {
  const wanted = bytesArray(keys)
  const reading = allSettled([
    session.rows(beginReads),
    session.rows(readHeads, [wanted, smallBytesMax]),
    session.rows(readTails, [wanted, smallBytesMax, entriesMax]),
    session.rows(commit),
  ])
  const [, heads, tails] = await reading.catch(async (error: unknown) => {
    if (!endsConnection(error)) await session.rows(rollback).catch(() => undefined)
    throw error
  })
  const entries = keys.map((): EntryRow[] => [])
  for (const entry of tails) entries[entry.n - 1]?.push(entry)
  const logs: (LoadedLog | null)[] = keys.map(() => ({ state: 'absent' }))
  for (const head of heads) logs[head.n - 1] = logOf(head, entries[head.n - 1] ?? [])
  return logs
}

function logOf(stored: LoadedHead, tail: readonly EntryRow[]): LoadedLog | null {
  const { key } = stored
  const { row, damage } = readableRow(stored)
  if (damage !== null) return null
  const { standing, changed } = row
  if (standing.state !== 'live') return standing
  const { epoch, head, marks } = standing
  const { seq: base, at: basedAt } = baseSnapshot(marks)
  if (base !== (stored.base ?? 0) || tail.length !== head - base) return null
  const snapshot = base === 0 ? null : stored.bytes
  if (base > 0 && (snapshot === null || snapshotCrc(key, epoch, base, snapshot) !== stored.crc)) return null
  const isWhole = tail.every((row, index) => row.seq === base + 1 + index && isIntact({ key, epoch }, row))
  if (!isWhole) return null
  const entries = tail.map(logEntryOf)
  return { state: 'live', epoch, base, basedAt, head, snapshot, entries, changed, more: false }
}
