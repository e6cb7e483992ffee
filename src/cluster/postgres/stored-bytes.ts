import type { StoredUnder } from '../../core/store/engine.ts'
import { keyRange } from '../../core/store/key-encoding.ts'
import type { PostgresDatabase } from './connection/database.ts'
import { type DatabaseSession, statement } from './connection/database-session.ts'
import type { Statement } from './connection/statement-batch.ts'

interface Sum {
  readonly bytes: number
}

const ofLogs = (table: 'entry' | 'snapshot') =>
  statement<Sum>(
    `size-${table}`,
    `select coalesce(sum(octet_length(t.bytes)), 0)::float8 as bytes
     from document d join ${table} t on t.doc = d.id where d.key >= $1 and d.key < $2`,
  )
const ofEntries = ofLogs('entry')
const ofSnapshots = ofLogs('snapshot')
const ofBlobs = statement<Sum>(
  'size-blobs',
  `select coalesce(sum(octet_length(key) + octet_length(bytes)), 0)::float8 as bytes
   from blob where key >= $1 and key < $2`,
)
const ofParts = statement<Sum>(
  'size-kv',
  `select coalesce(sum(octet_length(key) + octet_length(value)), 0)::float8 as bytes
   from kv where part >= $1 and part < $2`,
)

/**
 * Implements `Engine.storedBytes` for PostgreSQL. Counts the bytes of the stored data itself, without the
 * overhead of tables and indexes.
 */
export function measurePostgresBytes(
  database: PostgresDatabase,
  { logs, blobs, parts }: StoredUnder,
): Promise<number> {
  const sums = [
    ...logs.flatMap((prefix) => [ofEntries, ofSnapshots].map((sum) => ({ sum, prefix }))),
    ...blobs.map((prefix) => ({ sum: ofBlobs, prefix })),
    ...parts.map((prefix) => ({ sum: ofParts, prefix })),
  ]
  return database.read(async (session) => {
    let bytes = 0
    for (const { sum, prefix } of sums) bytes += await sumOf(session, sum, keyRange(noSpace, { prefix }))
    return bytes
  })
}

const noSpace = Buffer.alloc(0)

async function sumOf(
  session: DatabaseSession,
  sum: Statement<Sum>,
  { gte, lt }: { readonly gte: Buffer; readonly lt: Buffer },
): Promise<number> {
  const [row] = await session.rows(sum, [gte, lt])
  return row?.bytes ?? 0
}
