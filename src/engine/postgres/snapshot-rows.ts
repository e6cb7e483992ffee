import { asBuffer } from './arrays.ts'
import type { NewSnapshot } from './document-change.ts'
import { type Session, statement } from './session.ts'

const keepSnapshot = statement(
  'keep-snapshot',
  `insert into snapshot values ($1, $2, $3, $4, $5)
   on conflict (doc, epoch, seq) do update set crc = excluded.crc, bytes = excluded.bytes`,
)

/** Writes a snapshot, in the place of one of the same number. */
export const keeping =
  ({ doc, epoch, seq, crc, bytes }: NewSnapshot) =>
  (session: Session): Promise<unknown> =>
    session.rows(keepSnapshot, [doc, epoch, seq, crc, asBuffer(bytes)])
