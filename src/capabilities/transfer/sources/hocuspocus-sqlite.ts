import { open, stat } from 'node:fs/promises'
import sqlite, { type Database as Connection } from 'node-sqlite3-wasm'
import { errorCode, errorMessage } from '../../../core/base/errors.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { ImportSource, StoredDocument } from '../import-documents.ts'
import { rejectPipe } from '../text-lines.ts'
import { tooLarge } from './updates.ts'

/**
 * Positions and values in the header of a SQLite file. The byte at `writtenWith` is the journal mode of the
 * last write.
 */
const header = { bytes: 20, magic: 'SQLite format 3\u0000', writtenWith: 18, writeAheadLog: 2 }
/** First bytes of a journal that SQLite must write back to the database file before the file can be read. */
const journalMagic = Buffer.from('d9d505f920a163d7', 'hex')
/** Maximum number of row ids in one read. */
const rowsAtOnce = 250
/** Maximum number of problems that a check of the pages lists. */
const quickCheckMax = 10_000

/**
 * Opens a database file of `@hocuspocus/extension-sqlite` in read-only mode. Its table `documents` has a
 * column `name` with the name of the document, and a column `data` with its state.
 * @param bytesMax maximum bytes of the state of one document
 * @throws StorageError
 */
export async function openHocuspocusSqlite(file: string, bytesMax: number): Promise<ImportSource> {
  await expectClosed(file)
  const database = reading(file, () => new sqlite.Database(file, { readOnly: true }))
  try {
    reading(file, () => expectReadable(database))
  } catch (error) {
    database.close()
    throw error
  }
  return {
    count: () =>
      Promise.resolve(Number(reading(file, () => one(database, 'SELECT count(*) AS value FROM documents')))),
    documents: () => documentsOf(file, database, bytesMax),
    close: () => Promise.resolve(database.close()),
  }
}

/**
 * Checks that the database has no journal file next to it. The import would miss changes that only the
 * journal contains.
 * @throws StorageError
 */
async function expectClosed(file: string): Promise<void> {
  const start = await startOf(file, header.bytes)
  if (start === null) throw new StorageError(`${file} cannot be read: there is no such file`)
  if (start.toString('latin1', 0, header.magic.length) !== header.magic)
    throw new StorageError(`${file} is not a SQLite database`)
  const log = await stat(`${file}-wal`).catch(() => null)
  if (start[header.writtenWith] === header.writeAheadLog || (log !== null && log.size > 0))
    throw new StorageError(
      `${file} has a write-ahead log, in which the newest changes may be: stop the old server, then put them into the file: sqlite3 ${file} 'PRAGMA journal_mode=DELETE'`,
    )
  const journal = await startOf(`${file}-journal`, journalMagic.length)
  if (journal?.equals(journalMagic))
    throw new StorageError(
      `${file} was being written: stop the old server; if it has crashed, have the file put right: sqlite3 ${file} 'PRAGMA integrity_check'`,
    )
}

/**
 * Checks that all reads of the table end. A view or a generated column can compute for ever, and so can a read of
 * a table whose pages contain each other.
 * @throws Error
 */
function expectReadable(database: Connection): void {
  database.get('SELECT name, data FROM documents LIMIT 0')
  const isTable = database.get("SELECT 1 FROM pragma_table_list('documents') WHERE type = 'table' AND wr = 0")
  const computed = database.get("SELECT 1 FROM pragma_table_xinfo('documents') WHERE hidden <> 0")
  if (isTable === null || computed !== null) throw new Error('its documents are not a table of stored values')
  // Without this, a check would evaluate the constraints of the tables.
  database.exec('PRAGMA ignore_check_constraints = ON')
  const problems = database.all(`PRAGMA quick_check(${quickCheckMax})`)
  if (
    problems.some((problem) =>
      Object.values(problem).some((text) => /2nd reference to page/.test(String(text))),
    )
  )
    throw new Error('its image is malformed: a page occurs twice')
}

/** Returns the first bytes of a file; null if the file does not exist. @throws StorageError */
async function startOf(file: string, bytes: number): Promise<Buffer | null> {
  try {
    await rejectPipe(file)
    const handle = await open(file, 'r')
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new StorageError(`${file} cannot be read: ${errorMessage(error)}`)
  }
}

/** Yields the documents, row by row. A damaged row is yielded with its problem, and the other rows follow. */
async function* documentsOf(
  file: string,
  database: Connection,
  bytesMax: number,
): AsyncGenerator<StoredDocument> {
  let ids: readonly RowId[]
  let last: RowId | null = null
  do {
    ids = rowIds(file, database, last)
    for (const id of ids) yield documentOf(database, id, bytesMax)
    last = ids.at(-1) ?? null
  } while (ids.length === rowsAtOnce)
}

type RowId = number | bigint

function rowIds(file: string, database: Connection, after: RowId | null): readonly RowId[] {
  const from = after === null ? '' : 'WHERE rowid > ?'
  const sql = `SELECT rowid AS value FROM documents ${from} ORDER BY rowid LIMIT ${rowsAtOnce}`
  const rows = reading(file, () => database.all(sql, after === null ? [] : [after]))
  return rows.map(({ value }) => value as RowId)
}

function documentOf(database: Connection, id: RowId, bytesMax: number): StoredDocument {
  let name: unknown = null
  try {
    name = one(database, 'SELECT name AS value FROM documents WHERE rowid = ?', id)
    if (typeof name !== 'string') return { name: `row ${id}`, problem: 'its name is not text' }
    const bytes = one(database, 'SELECT octet_length(data) AS value FROM documents WHERE rowid = ?', id)
    if (Number(bytes) > bytesMax) return { name, problem: tooLarge(bytesMax) }
    const data = one(database, 'SELECT data AS value FROM documents WHERE rowid = ?', id)
    if (data instanceof Uint8Array) return { name, updates: [data] }
    return { name, problem: 'its data are not bytes' }
  } catch (error) {
    return {
      name: typeof name === 'string' ? name : `row ${id}`,
      problem: `SQLite cannot read it: ${errorMessage(error)}`,
    }
  }
}

/** Returns the value of the column `value` in the first row of the result. */
function one(database: Connection, sql: string, id?: RowId): unknown {
  return database.get(sql, id === undefined ? [] : [id])?.value
}

function reading<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new StorageError(`${file} cannot be read: ${errorMessage(error)}${helpFor(error)}`)
  }
}

/**
 * Returns a hint if the error shows that pages of an index are damaged; otherwise ''. SQLite then reads no
 * row, but the command `.recover` of the SQLite shell collects the readable rows.
 */
const helpFor = (error: unknown): string =>
  errorMessage(error).includes('malformed')
    ? '; recover it with .recover of sqlite3, and name the result'
    : ''
