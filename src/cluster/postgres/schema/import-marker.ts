import { EngineOpenError } from '../../../core/store/engine.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'

const read = statement<{ value: string }>('read-import', `select value from meta where name = 'import'`)
const write = statement(
  'write-import',
  `insert into meta values ('import', $1) on conflict (name) do update set value = excluded.value`,
)
/** Marker of a schema that a restore of a backup fills. No export has this name. */
export const restoreMarker = '\u0001restore'

const remove = statement('end-import', `delete from meta where name = 'import'`)

/** Returns the name of the export that is being imported into the schema; null if there is no import. */
export async function readImport(database: PostgresDatabase): Promise<string | null> {
  const [row] = await database.read((session) => session.rows(read, []))
  return row?.value ?? null
}

export async function beginImport(database: PostgresDatabase, name: string): Promise<void> {
  await database.once((session) => session.rows(write, [name]))
}

export async function endImport(database: PostgresDatabase): Promise<void> {
  await database.once((session) => session.rows(remove, []))
}

/**
 * Checks that the schema does not contain an incomplete import or restore. A server must not serve such data.
 * @throws EngineOpenError
 */
export async function refuseUnfinishedImport(database: PostgresDatabase, schema: string): Promise<void> {
  const marker = await readImport(database)
  if (marker === null) return
  const [what, command] =
    marker === restoreMarker ? ['a restore', 'weft restore'] : ['an import', 'weft import weft']
  throw new EngineOpenError(
    'failed',
    `${what} into the schema ${schema} of the database was interrupted: start it again (${command}), or name another schema`,
  )
}
