import type { LogEntry } from '../../../core/store/engine.ts'
import { attributionNumber } from '../../../core/store/log-state.ts'
import { unpackAuthor } from '../../../core/store/stored-author.ts'
import { DamagedRecordError } from '../../../core/store/stored-record.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import { entryCrc, snapshotCrc } from './document-change-set.ts'

/** Identifies the log to read. */
interface LogRequest {
  readonly key: Buffer
  readonly id: string
  readonly epoch: number
}

interface EntryRequest {
  readonly after: number
  readonly upTo: number
  readonly bytesMax: number | undefined
}

export interface EntryRow {
  readonly seq: number
  readonly at: number
  readonly by: Buffer
  readonly crc: number
  readonly bytes: Buffer
}

/** Maximum number of entries that one query returns, and their maximum total size in bytes. */
const chunk = { entries: 2000, bytes: 8 * 1024 * 1024 }

/**
 * Statement that reads the next entries, up to a total size of $6 bytes. PostgreSQL computes the sizes
 * without reading the content.
 */
const readChunk = statement<EntryRow>(
  'read-entries',
  `select seq, at, by, crc, bytes from entry
   where doc = $1 and epoch = $2 and seq > $3 and seq <= (
     select max(seq) from (
       select seq, sum(octet_length(bytes)) over (order by seq) - octet_length(bytes) as before
       from (select seq, bytes from entry where doc = $1 and epoch = $2 and seq > $3 and seq <= $4
             order by seq limit $5) first
     ) sized where before < $6
   ) order by seq`,
)
const readSnapshot = statement<{ crc: number; bytes: Buffer }>(
  'read-snapshot',
  'select crc, bytes from snapshot where doc = $1 and epoch = $2 and seq = $3',
)

/**
 * Reads the entries after the number `after`. Ends with the entry `upTo`, or earlier when the entries exceed
 * `bytesMax`. The entry `upTo` must exist.
 * @throws DamagedRecordError, also if an entry is missing
 */
export async function readPostgresEntries(
  session: DatabaseSession,
  log: LogRequest,
  { after, upTo, bytesMax = Number.POSITIVE_INFINITY }: EntryRequest,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  let bytes = 0
  for (let expected = after + 1; expected <= upTo; ) {
    // Requests one byte more than allowed, so that the entry that exceeds the limit is also read. The loop
    // below then detects that the limit is exceeded.
    const chunkBytes = Math.min(chunk.bytes, Math.max(0, bytesMax - bytes) + 1)
    const values = [log.id, log.epoch, expected - 1, upTo, chunk.entries, chunkBytes]
    const stored = await session.rows(readChunk, values)
    if (stored[0]?.seq !== expected) throw new DamagedRecordError(`update ${expected} is missing`)
    for (const row of stored) {
      if (row.seq !== expected) throw new DamagedRecordError(`update ${expected} is missing`)
      bytes += row.bytes.length
      if (entries.length > 0 && bytes > bytesMax) return entries
      entries.push(checked(log, row))
      expected += 1
    }
  }
  return entries
}

/** Returns whether the checksum of an entry is right. */
export const isIntact = ({ key, epoch }: Pick<LogRequest, 'key' | 'epoch'>, row: EntryRow): boolean =>
  entryCrc(key, { ...row, epoch }) === row.crc

function checked(log: LogRequest, row: EntryRow): LogEntry {
  if (!isIntact(log, row)) {
    throw new DamagedRecordError(`the checksum of update ${row.seq} is wrong`)
  }
  return logEntryOf(row)
}

export const logEntryOf = ({ seq, at, by, bytes }: EntryRow): LogEntry => ({
  seq,
  at,
  ...unpackAuthor(by.toString()),
  bytes,
})

/** Reads the stored attribution of a log. Returns null if there is none, or if it is damaged. */
export async function readAttributionRow(
  session: DatabaseSession,
  { key, id, epoch }: LogRequest,
): Promise<Uint8Array | null> {
  const [row] = await session.rows(readSnapshot, [id, epoch, attributionNumber])
  const isDamaged = row !== undefined && snapshotCrc(key, epoch, attributionNumber, row.bytes) !== row.crc
  return row === undefined || isDamaged ? null : row.bytes
}

/** Reads a snapshot. @throws DamagedRecordError, also if the snapshot is missing */
export async function readSnapshotAt(
  session: DatabaseSession,
  { key, id, epoch }: LogRequest,
  seq: number,
): Promise<Uint8Array> {
  const [row] = await session.rows(readSnapshot, [id, epoch, seq])
  if (row === undefined) throw new DamagedRecordError(`the snapshot at ${seq} is missing`)
  if (snapshotCrc(key, epoch, seq, row.bytes) !== row.crc) {
    throw new DamagedRecordError(`the checksum of the snapshot at ${seq} is wrong`)
  }
  return row.bytes
}
