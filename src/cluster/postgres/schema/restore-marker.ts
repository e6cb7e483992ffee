import { EngineOpenError } from '../../../core/store/engine.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'

const read = statement('read-import', `select value from meta where name = 'import'`)
const write = statement('write-import', `insert into meta values ('import', $1)`)
const remove = statement('end-import', `delete from meta where name = 'import'`)

/** Returns whether a restore has begun to fill the schema and has not ended. */
export const isRestoring = async (database: PostgresDatabase): Promise<boolean> =>
  (await database.read((session) => session.rows(read, []))).length > 0

export async function beginRestore(database: PostgresDatabase): Promise<void> {
  await database.once((session) => session.rows(write, ['\u0001restore']))
}

export async function endRestore(database: PostgresDatabase): Promise<void> {
  await database.once((session) => session.rows(remove, []))
}

/**
 * Checks that the schema does not contain an incomplete restore. A server must not serve such data.
 * @throws EngineOpenError
 */
export async function refuseUnfinishedRestore(database: PostgresDatabase, schema: string): Promise<void> {
  if (!(await isRestoring(database))) return
  throw new EngineOpenError(
    'failed',
    `a restore into the schema ${schema} of the database was interrupted: start it again (weft restore), or name another schema`,
  )
}
