import { asBuffer } from '../connection/arrays.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import type { NewSnapshot } from './document-change-set.ts'

const keepSnapshot = statement(
  'keep-snapshot',
  `insert into snapshot values ($1, $2, $3, $4, $5)
   on conflict (doc, epoch, seq) do update set crc = excluded.crc, bytes = excluded.bytes`,
)

/** Returns a statement that writes a snapshot. It replaces a snapshot with the same sequence number. */
export const upsertSnapshot =
  ({ doc, epoch, seq, crc, bytes }: NewSnapshot) =>
  (session: DatabaseSession): Promise<unknown> =>
    session.rows(keepSnapshot, [doc, epoch, seq, crc, asBuffer(bytes)])
