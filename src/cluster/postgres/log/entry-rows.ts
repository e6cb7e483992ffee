import { bytesArray, numberArray, packBytes, plainArray } from '../connection/arrays.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import type { NewEntry } from './document-change-set.ts'

const addEntries = statement(
  'add-entries',
  `insert into entry select u.doc, u.epoch, u.seq, u.at, u.by, u.crc, substr($9::bytea, u.start, u.size)
   from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[], $7::int[], $8::int[])
     as u(doc, epoch, seq, at, by, crc, start, size)`,
)

/** Returns a function that writes entries. */
export const insertEntries =
  (entries: readonly NewEntry[]) =>
  (session: DatabaseSession): Promise<unknown> =>
    session.rows(addEntries, entryValues(entries))

/** Returns the times, authors, checksums and bytes of entries, as parameters of a statement. */
export function contentColumns(entries: readonly NewEntry[]): unknown[] {
  const { bytes, starts, sizes } = packBytes(entries.map((entry) => entry.bytes))
  return [
    numberArray(entries.map(({ at }) => at)),
    bytesArray(entries.map(({ by }) => by)),
    numberArray(entries.map(({ crc }) => crc)),
    starts,
    sizes,
    bytes,
  ]
}

function entryValues(entries: readonly NewEntry[]): unknown[] {
  return [
    plainArray(entries.map(({ doc }) => doc)),
    numberArray(entries.map(({ epoch }) => epoch)),
    numberArray(entries.map(({ seq }) => seq)),
    ...contentColumns(entries),
  ]
}
