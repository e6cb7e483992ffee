import { randomUUID } from 'node:crypto'
import { MalformedJsonError, readJson } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import { CorruptRecordError } from '../../../core/store/engine.ts'
import { decodeKey } from '../../../core/store/key-encoding.ts'
import { absentLog, type LogState, noSnapshots, type SnapshotList } from '../../../core/store/log-state.ts'
import { bytesArray, numberArray, plainArray } from '../connection/arrays.ts'
import { statement } from '../connection/database-session.ts'

/** The head row of a document. `isStored` is false if the database has no row for the document. */
export interface DocumentRow {
  /** Id that identifies the document in other tables. */
  readonly id: string
  readonly isStored: boolean
  readonly standing: LogState
  readonly changed: { readonly at: number; readonly by: string }
}

export interface HeadRow {
  readonly key: Buffer
  readonly id: string
  readonly epoch: number
  readonly state: 'live' | 'deleted'
  readonly head: number
  readonly marks: string
  readonly changed_at: number
  readonly changed_by: Buffer
}

/** Lists the columns by name, so that a query ignores the columns that a newer version has added. */
const names = 'key, id, epoch, state, head, marks, changed_at, changed_by'
/** The columns of the table `d`. */
export const columns = names.replaceAll(/\w+/g, (name) => `d.${name}`)

/**
 * Statement that locks rows in the order of the given keys. This order must be the same in all transactions.
 */
export const lockHeads = statement<HeadRow>(
  'lock-heads',
  `select ${columns} from unnest($1::bytea[]) with ordinality as k(key, at)
   cross join lateral (select ${names} from document where document.key = k.key for update) d`,
)
export const readHead = statement<HeadRow>('read-head', `select ${columns} from document d where d.key = $1`)
export const readHeads = statement<HeadRow>(
  'read-heads',
  `select ${columns} from unnest($1::bytea[]) as k(key) join document d on d.key = k.key`,
)
export type ListedHead = Pick<HeadRow, 'key' | 'epoch'>

export const listHeads = statement<ListedHead>(
  'list-heads',
  `select key, epoch from document where key >= $1 and key < $2 and state = 'live' order by key limit $3`,
)

const given =
  'unnest($1::bytea[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::bytea[])'
export const makeHeads = statement('make-heads', `insert into document (${names}) select * from ${given}`)
export const moveHeads = statement(
  'move-heads',
  `update document d set epoch = u.epoch, state = u.state, head = u.head, marks = u.marks,
     changed_at = u.changed_at, changed_by = u.changed_by
   from ${given} as u(${names}) where d.key = u.key`,
)

/** Converts a stored row. If `stored` is undefined, the document has no row. @throws CorruptRecordError */
export function rowOf(stored: HeadRow | undefined): DocumentRow {
  if (stored === undefined) {
    return { id: randomUUID(), isStored: false, standing: absentLog, changed: { at: 0, by: '' } }
  }
  const { id, epoch, state, head } = stored
  const changed = { at: stored.changed_at, by: stored.changed_by.toString() }
  const standing: LogState =
    state === 'live' ? { state, epoch, head, marks: marksOf(stored) } : { state: 'deleted', epoch }
  return { id, isStored: true, standing, changed }
}

/**
 * Like `rowOf`, but does not throw if the list of snapshots is unreadable. It then returns the error with a
 * row that has no snapshots.
 */
export function readableRow(stored: HeadRow | undefined): {
  readonly row: DocumentRow
  readonly damage: CorruptRecordError | null
} {
  try {
    return { row: rowOf(stored), damage: null }
  } catch (error) {
    if (stored === undefined || !(error instanceof CorruptRecordError)) throw error
    return { row: rowOf({ ...stored, marks: '[]' }), damage: error }
  }
}

/** Returns the parameters of the statements `makeHeads` and `moveHeads`. */
export function headValues(rows: readonly (readonly [key: Buffer, row: DocumentRow])[]): unknown[] {
  const standings = rows.map(([, { standing }]) => standing)
  return [
    bytesArray(rows.map(([key]) => key)),
    plainArray(rows.map(([, { id }]) => id)),
    numberArray(standings.map((standing) => (standing.state === 'absent' ? 0 : standing.epoch))),
    plainArray(standings.map(({ state }) => state)),
    numberArray(standings.map((standing) => (standing.state === 'live' ? standing.head : 0))),
    plainArray(standings.map((standing) => (standing.state === 'live' ? marksText(standing.marks) : '[]'))),
    numberArray(rows.map(([, { changed }]) => changed.at)),
    bytesArray(rows.map(([, { changed }]) => Buffer.from(changed.by))),
  ]
}

/** Encodes the sequence number and time of each snapshot, oldest first. */
const marksText = (marks: SnapshotList): string => JSON.stringify(marks.map(({ seq, at }) => [seq, at]))

const marksSchema = s.array(s.tuple([s.number, s.number]))

/** Parses the list of snapshots in a row. @throws CorruptRecordError */
function readMarks({ key, marks }: HeadRow): readonly (readonly [seq: number, at: number])[] {
  try {
    return readJson(marksSchema, marks)
  } catch (cause) {
    if (!(cause instanceof MalformedJsonError)) throw cause
    const name = `document ${JSON.stringify(decodeKey(key))}`
    throw new CorruptRecordError(`${name} is damaged: its list of snapshots: ${cause.message}`, { cause })
  }
}

function marksOf(stored: HeadRow): SnapshotList {
  const pairs = readMarks(stored)
  const [anchor, ...later] = pairs.map(([seq, at]) => ({ seq, at }))
  return anchor === undefined ? noSnapshots : [anchor, ...later]
}
