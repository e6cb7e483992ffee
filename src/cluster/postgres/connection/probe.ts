import { postgresUrls } from '../../../core/config/option-parsers.ts'
import { connectTimeoutMs } from './connection-pool.ts'
import { PostgresDatabase } from './database.ts'
import { statement } from './database-session.ts'
import { checkServer, type DurabilityWarning, useDatabase } from './open.ts'

/** Properties of a database that are checked before a server uses it. */
export interface DatabaseProbe {
  /** Version that PostgreSQL reports, such as `18.4`. */
  readonly version: string
  /** Duration of an empty request, in ms. */
  readonly roundTripMs: number
  /**
   * Maximum number of connections of all clients together, without the connections that are reserved for
   * administrators.
   */
  readonly connectionsMax: number
  readonly warnings: readonly DurabilityWarning[]
}

/**
 * Statement that reads the properties of the server. The setting `reserved_connections` exists since
 * PostgreSQL 16.
 */
const readServer = statement<{ version: string; connections: number }>(
  'look',
  `select split_part(current_setting('server_version'), ' ', 1) as version,
     current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true), '0')::int as connections`,
)

/**
 * Returns the properties of a database. Changes nothing, so it can be called while other processes use the
 * schema.
 * @throws EngineOpenError
 */
export async function probeDatabase(url: string): Promise<DatabaseProbe> {
  const database = new PostgresDatabase({
    url,
    schema: 'public',
    poolSize: 1,
    statementTimeoutMs: connectTimeoutMs,
    // Long enough for one attempt to connect to each server.
    holdMs: (postgresUrls(url).length - 1) * connectTimeoutMs,
    durability: 'disk',
  })
  return useDatabase(database, async () => {
    const warnings = await checkServer(database, url)
    const startedAt = performance.now()
    const [found] = await database.read((session) => session.rows(readServer, []))
    const roundTripMs = performance.now() - startedAt
    return { version: found?.version ?? '', roundTripMs, connectionsMax: found?.connections ?? 0, warnings }
  })
}
