import { EngineOpenError, type StoredPage } from '../../../core/store/engine.ts'
import { type LoadedPairs, loadPairs } from '../backup/load.ts'
import type { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'
import { restoreMarker } from '../schema/import-marker.ts'
import {
  type OfflineSchema,
  offlineDatabase,
  openOfflineSchema,
  type StoppedOptions,
} from './offline-schema.ts'

const tables = ['document', 'entry', 'snapshot', 'kv', 'job', 'buried', 'blob']

const readHasData = statement<{ found: boolean }>(
  'has-data',
  `select ${tables.map((table) => `exists (select from ${table})`).join(' or ')} as found`,
)

/**
 * Fills an empty schema with the pairs of a backup, or creates the schema. Calls `beforeUsable` when all pairs are
 * durable. Until it has resolved, no server starts on the schema. A repeated call after an interrupted one starts
 * from the beginning.
 * @throws EngineOpenError if the schema has data, or if servers use it; StoreUnavailableError
 */
export async function restoreSchema(
  options: StoppedOptions,
  pages: AsyncIterable<StoredPage>,
  beforeUsable: () => Promise<void>,
): Promise<LoadedPairs> {
  const opened = await openOfflineSchema({ ...options, importing: 'open' })
  const database = offlineDatabase(options)
  try {
    await beginRestore(opened, database, options.schema)
    const loaded = await loadPairs(database, pages)
    await beforeUsable()
    await opened.mark.remove()
    return loaded
  } finally {
    await database.close()
    await opened.close()
  }
}

async function beginRestore(
  { mark }: OfflineSchema,
  database: PostgresDatabase,
  schema: string,
): Promise<void> {
  const marker = await mark.read()
  if (marker === restoreMarker) {
    await database.once((session) => session.command(`truncate ${tables.join(', ')}`))
    return
  }
  const [found] = await database.read((session) => session.rows(readHasData))
  if (found?.found !== false || marker !== null)
    throw new EngineOpenError(
      'failed',
      `the schema ${schema} of the database is not empty: restore into another schema (WEFT_POSTGRES_SCHEMA), or drop this one`,
    )
  await mark.write(restoreMarker)
}
