import { EngineOpenError, type Kv, type StoredPage } from '../../../core/store/engine.ts'
import { type LoadedPairs, loadPairs } from '../backup/load.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'
import { beginRestore, endRestore, isRestoring } from '../schema/restore-marker.ts'
import { offlineDatabase, openOfflineSchema, type StoppedOptions } from './offline-schema.ts'

const tables = ['document', 'entry', 'snapshot', 'kv', 'job', 'buried', 'blob']

const readHasData = statement<{ found: boolean }>(
  'has-data',
  `select ${tables.map((table) => `exists (select from ${table})`).join(' or ')} as found`,
)

/**
 * Fills an empty schema with the pairs of a backup, or creates the schema. Calls `beforeUsable` with the values of the
 * schema when all pairs are durable. Until it has resolved, no server starts on the schema. A repeated call after an
 * interrupted one starts from the beginning.
 * @throws EngineOpenError if the schema has data, or if servers use it; StoreUnavailableError
 */
export async function restoreSchema(
  options: StoppedOptions,
  pages: AsyncIterable<StoredPage>,
  beforeUsable: (kv: Kv) => Promise<void>,
): Promise<LoadedPairs> {
  const engine = await openOfflineSchema({ ...options, restoring: 'open' })
  const database = offlineDatabase(options)
  try {
    await makeEmpty(database, options.schema)
    const loaded = await loadPairs(database, pages)
    await beforeUsable(engine.kv)
    await endRestore(database)
    return loaded
  } finally {
    await database.close()
    await engine.close()
  }
}

/** Removes the data of an interrupted restore, or marks the empty schema. @throws EngineOpenError if it has other data */
async function makeEmpty(database: PostgresDatabase, schema: string): Promise<void> {
  if (await isRestoring(database)) {
    await database.once((session) => session.command(`truncate ${tables.join(', ')}`))
    return
  }
  const [found] = await database.read((session) => session.rows(readHasData))
  if (found?.found !== false)
    throw new EngineOpenError(
      'failed',
      `the schema ${schema} of the database is not empty: restore into another schema (WEFT_POSTGRES_SCHEMA), or drop this one`,
    )
  await beginRestore(database)
}
