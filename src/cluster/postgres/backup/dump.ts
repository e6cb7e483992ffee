import type { StoredPage } from '../../../core/store/engine.ts'
import type { OpenCalls } from '../../../core/store/open-calls.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { type DatabaseSession, statement } from '../connection/database-session.ts'
import { toPublicError } from '../connection/postgres-errors.ts'
import { type DumpedTable, dumpedTables } from './dumped-tables.ts'

/**
 * Maximum number of rows that one query returns. Together with `inlineBytesMax`, it limits the memory that a page
 * needs.
 */
const rowsAtOnce = 200

/**
 * Maximum time in ms for which the reader of a backup may pause. Longer than the time that a running server gives
 * its readers. After that time, PostgreSQL ends the transaction, so that it can remove old rows again.
 */
const pauseMsMax = 10 * 60_000

/**
 * Statements that begin the transaction of a dump. All its queries see the data of one moment. A full sort would
 * write the whole table to the disk of the database, so the queries read their rows in the order of an index.
 */
const beginDump = `
  begin isolation level repeatable read read only;
  set local enable_sort = off;
  set local idle_in_transaction_session_timeout = ${pauseMsMax}`

const fetchRows = statement('', `fetch ${rowsAtOnce} from dumped`)

/**
 * Yields all data of a schema as pairs, in the order of their keys, and in the layout that all engines share. The
 * pairs are those of the moment at which the caller requests the first page. Leaves out the state of processes:
 * nodes, leases of the schema, and fences.
 * @param open opens a connection of its own, so that a backup takes no connection from the server
 * @throws StoreUnavailableError
 */
export async function* dumpPostgres(
  gate: OpenCalls,
  open: () => PostgresDatabase,
): AsyncGenerator<StoredPage> {
  gate.pass()
  const database = open()
  try {
    const { session, release } = await borrowSession(database)
    try {
      await session.command(beginDump)
      for (const table of dumpedTables) yield* pagesOf(gate, session, table)
      await session.command('commit')
    } finally {
      release()
    }
  } catch (error) {
    throw toPublicError(error)
  } finally {
    await database.close()
  }
}

interface BorrowedSession {
  readonly session: DatabaseSession
  readonly release: () => void
}

/** Takes a connection out of the pool until `release` is called. */
const borrowSession = (database: PostgresDatabase): Promise<BorrowedSession> =>
  new Promise((resolve, reject) => {
    const lend = (session: DatabaseSession) =>
      new Promise<void>((release) => {
        resolve({ session, release })
      })
    database.once(lend).catch(reject)
  })

async function* pagesOf(
  gate: OpenCalls,
  session: DatabaseSession,
  { query, pairs }: DumpedTable,
): AsyncGenerator<StoredPage> {
  await session.command(`declare dumped no scroll cursor for ${query}`)
  for (;;) {
    gate.pass()
    const rows = await session.rows(fetchRows)
    yield* pairs(session, rows)
    if (rows.length < rowsAtOnce) break
  }
  await session.command('close dumped')
}
