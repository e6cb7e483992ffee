import type { Blobs } from '../../../core/store/engine.ts'
import { decodeKey } from '../../../core/store/key-encoding.ts'
import type { StoredEntry } from '../../../core/store/stored-entry.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'
import type { Statement } from '../connection/statement-batch.ts'
import { isNotFence } from '../kv/fences.ts'

/** Maximum number of rows that one query returns. */
const rowsAtOnce = 500

interface StoredDocument {
  readonly key: Buffer
  readonly state: 'live' | 'deleted'
  readonly epoch: number
}

interface StoredJob {
  readonly queue: Buffer
  readonly id: Buffer
  readonly at: number
  readonly payload: Buffer
  readonly error: Buffer
}

const start = Buffer.alloc(0)

const documents = statement<StoredDocument>(
  'all-documents',
  `select key, state, epoch from document where key > $1 order by key limit ${rowsAtOnce}`,
)
const values = statement<{ readonly part: Buffer; readonly key: Buffer; readonly value: Buffer }>(
  'all-values',
  `select part, key, value from kv where (part, key) > ($1, $2) and ${isNotFence}
   order by part, key limit ${rowsAtOnce}`,
)
const blobs = statement<{ key: Buffer }>(
  'all-blobs',
  `select key from blob where key > $1 order by key limit ${rowsAtOnce}`,
)
const allOf = (table: 'job' | 'buried', at: string) =>
  statement<StoredJob>(
    `all-of-${table}`,
    `select queue, id, ${at} as at, payload, error from ${table} where (queue, id) > ($1, $2)
     order by queue, id limit ${rowsAtOnce}`,
  )
/** Statement that reads all waiting and leased jobs. The due time of a leased job is the end of its lease. */
const jobs = allOf('job', 'due')
const deadLetters = allOf('buried', 'at')

/**
 * Yields all stored entries of a schema that no server uses, without the counters of fences. Does not read the contents
 * of documents.
 * @throws CorruptRecordError, StoreUnavailableError
 */
export async function* storedEntries(database: PostgresDatabase, stored: Blobs): AsyncGenerator<StoredEntry> {
  for await (const { key, state, epoch } of rows(database, documents, ({ key }) => [key], 1))
    yield { is: 'document', key: decodeKey(key), state, epoch }
  for await (const { part, key, value } of rows(database, values, ({ part, key }) => [part, key], 2))
    yield { is: 'value', part: decodeKey(part), key: decodeKey(key), value }
  for await (const row of rows(database, blobs, ({ key }) => [key], 1)) {
    const key = decodeKey(row.key)
    const value = await stored.get(key)
    if (value !== null) yield { is: 'blob', key, value }
  }
  for (const [is, table] of [
    ['job', jobs],
    ['buried', deadLetters],
  ] as const)
    for await (const job of rows(database, table, ({ queue, id }) => [queue, id], 2)) yield jobOf(is, job)
}

function jobOf(is: 'job' | 'buried', { queue, id, at, payload, error }: StoredJob): StoredEntry {
  const [[name = ''], [job = '']] = [decodeKey(queue), decodeKey(id)]
  return { is, queue: name, id: job, at, payload, error: error.toString() }
}

/**
 * Yields all rows of a table in key order, page by page.
 * @param parts number of columns of the key
 */
async function* rows<R>(
  database: PostgresDatabase,
  page: Statement<R>,
  keyOf: (row: R) => readonly Buffer[],
  parts: number,
): AsyncGenerator<R> {
  let after: readonly Buffer[] = Array.from({ length: parts }, () => start)
  for (;;) {
    const found = await database.read((session) => session.rows(page, after))
    yield* found
    const last = found.at(-1)
    if (last === undefined || found.length < rowsAtOnce) return
    after = keyOf(last)
  }
}
