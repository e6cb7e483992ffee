import { asBuffer } from '../../../core/base/bytes.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import type { NewSnapshot } from './document-change-set.ts'

const keepSnapshot = statement(
  'keep-snapshot',
  `insert into snapshot values ($1, $2, $3, $4, $5)
   on conflict (doc, epoch, seq) do update set crc = excluded.crc, bytes = excluded.bytes`,
)

/**
 * Returns a function that writes a snapshot. An existing snapshot with the same sequence number is replaced.
 */
export const upsertSnapshot =
  ({ doc, epoch, seq, crc, bytes }: NewSnapshot) =>
  (session: DatabaseSession): Promise<unknown> =>
    session.rows(keepSnapshot, [doc, epoch, seq, crc, asBuffer(bytes)])
