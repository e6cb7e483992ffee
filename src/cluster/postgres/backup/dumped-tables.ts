import { encodeKey, encodeNumber } from '../../../core/store/key-encoding.ts'
import { attributionNumber, baseSnapshot, type LogState, noSnapshots } from '../../../core/store/log-state.ts'
import { encodeJob } from '../../../core/store/pairs/job-records.ts'
import { DocumentKeyspace, inKeyspace, keyspaces, under } from '../../../core/store/pairs/keyspaces.ts'
import {
  addChecksum,
  encodeAttributionRecord,
  encodeFormat,
  encodeHead,
  encodeSnapshot,
  encodeUpdates,
  formatKey,
} from '../../../core/store/pairs/record-codec.ts'
import { unpackAuthor } from '../../../core/store/stored-author.ts'
import { blobCrc } from '../blobs.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import { jobColumns, jobRecordOf, type StoredJob } from '../jobs/job-rows.ts'
import { isNotFence } from '../kv/fences.ts'
import { entryCrc, snapshotCrc } from '../log/document-change-set.ts'
import { columns, type HeadRow, readableRow } from '../log/document-rows.ts'

type StoredPair = readonly [key: Buffer, value: Buffer]

/** One kind of pairs: the query that reads their rows in the order of their keys, and their encoding. */
export interface DumpedTable {
  readonly query: string
  /** Yields the pairs of some rows. A large value is a page of its own. */
  readonly pairs: (
    session: DatabaseSession,
    rows: readonly unknown[],
  ) => AsyncGenerator<readonly StoredPair[]>
}

/** Bytes of a column that the query reads together with the other columns. Longer ones are read one by one. */
const inlineBytesMax = 16_384

const inline = (column: string): string =>
  `case when octet_length(${column}) <= ${inlineBytesMax} then ${column} end as bytes`

/** The bytes of a row. Null if they are longer than `inlineBytesMax`. */
interface WithBytes {
  readonly bytes: Buffer | null
}

type Complete<Row extends WithBytes> = Row & { readonly bytes: Buffer }

interface TableOptions<Row extends WithBytes> {
  readonly query: string
  /** Selects the bytes of one row by its key. */
  readonly large: {
    readonly name: string
    readonly text: string
    readonly key: (row: Row) => readonly unknown[]
  }
  /** Returns null for a row that nothing reads any more. */
  readonly pairOf: (row: Complete<Row>) => StoredPair | null
}

function dumpedTable<Row extends WithBytes>({ query, large, pairOf }: TableOptions<Row>): DumpedTable {
  const readLarge = statement<{ bytes: Buffer }>(large.name, large.text)
  return {
    query,
    async *pairs(session, rows) {
      let page: StoredPair[] = []
      for (const row of rows as readonly Row[]) {
        const bytes = row.bytes ?? (await session.rows(readLarge, large.key(row)))[0]?.bytes
        const pair = bytes === undefined ? null : pairOf({ ...row, bytes })
        if (pair !== null) page.push(pair)
        if (row.bytes !== null) continue
        yield page
        page = []
      }
      yield page
    },
  }
}

interface SmallTable<Row> {
  readonly query: string
  readonly pairOf: (row: Row) => StoredPair
}

/** Like `dumpedTable`, for rows that are small. */
function smallTable<Row>({ query, pairOf }: SmallTable<Row>): DumpedTable {
  return {
    query,
    async *pairs(_, rows) {
      yield (rows as readonly Row[]).map(pairOf)
    },
  }
}

/**
 * Returns a value with a wrong checksum. A damaged row becomes a damaged record, which a check of the restored data
 * reports. With a right checksum, the damage would no longer be found.
 */
function spoiled(value: Buffer): Buffer {
  value.writeUInt32BE(~value.readUInt32BE(0) >>> 0, 0)
  return value
}

const checked = (isIntact: boolean, value: Buffer): Buffer => (isIntact ? value : spoiled(value))

const blobs = dumpedTable<WithBytes & { readonly key: Buffer; readonly crc: number }>({
  query: `select key, crc, ${inline('bytes')} from blob order by key`,
  large: { name: 'dump-blob', text: 'select bytes from blob where key = $1', key: ({ key }) => [key] },
  pairOf({ key, crc, bytes }) {
    const stored = inKeyspace(keyspaces.blobs, key)
    return [stored, checked(blobCrc(key, bytes) === crc, addChecksum(stored, bytes))]
  },
})

const nothing = Buffer.alloc(0)

const dueTimes = smallTable<{ readonly key: Buffer; readonly due: number; readonly id: Buffer }>({
  query: 'select queue as key, due, id from job order by queue, due, id',
  pairOf: ({ key, due, id }) => [Buffer.concat([under(keyspaces.due, key), encodeNumber(due), id]), nothing],
})

const heads = smallTable<HeadRow>({
  query: `select ${columns} from document d order by d.key`,
  pairOf(stored) {
    const { row, damage } = readableRow(stored)
    const key = new DocumentKeyspace(stored.key).head
    const { standing } = row
    const head = standing.state === 'absent' ? { state: 'deleted' as const, epoch: 0 } : standing
    return [key, checked(damage === null, encodeHead(key, head))]
  },
})

const values = dumpedTable<WithBytes & { readonly part: Buffer; readonly key: Buffer }>({
  query: `select part, key, ${inline('value')} from kv where ${isNotFence} order by part, key`,
  large: {
    name: 'dump-value',
    text: 'select value as bytes from kv where part = $1 and key = $2',
    key: ({ part, key }) => [part, key],
  },
  pairOf({ part, key, bytes }) {
    const stored = Buffer.concat([under(keyspaces.kv, part), key])
    return [stored, addChecksum(stored, bytes)]
  },
})

const format: DumpedTable = {
  query: 'select 1',
  async *pairs() {
    yield [[formatKey, encodeFormat()]]
  },
}

const jobs = dumpedTable<WithBytes & Omit<StoredJob, 'payload'>>({
  query: `select ${jobColumns.replace('payload', inline('payload'))} from job order by queue, id`,
  large: {
    name: 'dump-job',
    text: 'select payload as bytes from job where queue = $1 and id = $2',
    key: ({ queue, id }) => [queue, id],
  },
  pairOf({ bytes, ...row }) {
    const key = inKeyspace(keyspaces.jobs, Buffer.concat([row.queue, row.id]))
    return [key, encodeJob(key, jobRecordOf({ ...row, payload: bytes }))]
  },
})

/** A row of a log, together with the row of its document. */
type LogRow = WithBytes & HeadRow & { readonly seq: number; readonly crc: number }

/** Columns of a document `d`, joined with a table of the logs. Leaves out what an earlier life of a document left. */
const liveLog = (table: string, alias: string): string =>
  `from document d join ${table} ${alias} on ${alias}.doc = d.id and ${alias}.epoch = d.epoch
   where d.state = 'live' order by d.key, ${alias}.seq`

const largeLogRow = (table: string) => ({
  name: `dump-${table}`,
  text: `select bytes from ${table} where doc = $1 and epoch = $2 and seq = $3`,
  key: ({ id, epoch, seq }: LogRow) => [id, epoch, seq],
})

const snapshots = dumpedTable<LogRow>({
  query: `select ${columns}, s.seq, s.crc, ${inline('s.bytes')} ${liveLog('snapshot', 's')}`,
  large: largeLogRow('snapshot'),
  pairOf(stored) {
    const { key, epoch, seq, crc, bytes } = stored
    const { row, damage } = readableRow(stored)
    const isIntact = snapshotCrc(key, epoch, seq, bytes) === crc
    const { marks, head } = liveState(row.standing)
    const base = baseSnapshot(marks).seq
    const keys = new DocumentKeyspace(key)
    if (seq === attributionNumber)
      return [keys.attribution, checked(isIntact, encodeAttributionRecord(keys, base, bytes))]
    const mark = marks.find((each) => each.seq === seq)
    if (mark === undefined && damage === null) return null
    // The last change is stored only once, with the head. Nothing reads the changes of older snapshots.
    const changed = seq === head ? row.changed : { at: mark?.at ?? 0, by: '' }
    const at = keys.snapshot(seq)
    return [at, checked(isIntact, encodeSnapshot(at, { seq, changed, bytes }))]
  },
})

const liveState = (standing: LogState) =>
  standing.state === 'live' ? standing : { marks: noSnapshots, head: 0 }

const updates = dumpedTable<LogRow & { readonly at: number; readonly by: Buffer }>({
  query: `select ${columns}, e.seq, e.at, e.by, e.crc, ${inline('e.bytes')} ${liveLog('entry', 'e')}`,
  large: largeLogRow('entry'),
  pairOf({ key, epoch, seq, at, by, crc, bytes }) {
    const keys = new DocumentKeyspace(key)
    const isIntact = entryCrc(key, { epoch, seq, at, by, bytes }) === crc
    const update = { bytes, ...unpackAuthor(by.toString()) }
    return [keys.update(seq), checked(isIntact, encodeUpdates(keys.updatesCrc, seq, at, [update]))]
  },
})

interface StoredDeadLetter extends WithBytes {
  readonly queue: Buffer
  readonly id: Buffer
  readonly at: number
  readonly error: Buffer
}

/** The key of a dead letter ends with the id of its last lease, which PostgreSQL does not store. */
const noLease = encodeKey([''])

const deadLetters = dumpedTable<StoredDeadLetter>({
  query: `select queue, id, at, error, ${inline('payload')} from buried order by queue, id`,
  large: {
    name: 'dump-dead-letter',
    text: 'select payload as bytes from buried where queue = $1 and id = $2',
    key: ({ queue, id }) => [queue, id],
  },
  pairOf({ queue, id, at, error, bytes }) {
    const key = inKeyspace(keyspaces.deadLetters, Buffer.concat([queue, id, noLease]))
    const record = { at, attempt: 0, lease: '', payload: bytes, error: error.toString(), next: null }
    return [key, encodeJob(key, record)]
  },
})

/** All kinds of pairs, in the order of their keys. */
export const dumpedTables: readonly DumpedTable[] = [
  blobs,
  dueTimes,
  heads,
  values,
  format,
  jobs,
  snapshots,
  updates,
  deadLetters,
]
