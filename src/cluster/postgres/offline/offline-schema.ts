import { type Engine, EngineOpenError, type Key } from '../../../core/store/engine.ts'
import { encodeKey } from '../../../core/store/key-encoding.ts'
import { connectTimeoutMs } from '../connection/connection-pool.ts'
import { PostgresDatabase } from '../connection/database.ts'
import { statement } from '../connection/database-session.ts'
import { checkSchemaName, useDatabase } from '../connection/open.ts'
import { openPostgresEngine, type PostgresEngineOptions } from '../engine.ts'
import { formatText, missingSteps, schemaFormat, storedFormat } from '../schema/format.ts'

export type StoppedOptions = PostgresEngineOptions & Required<Pick<PostgresEngineOptions, 'schema'>>

const isThere = statement<{ made: boolean }>(
  'is-made',
  `select to_regclass(current_setting('search_path') || '.document') is not null as made`,
)

/** Returns connections to a schema that no server uses. The caller must close them. */
export const offlineDatabase = ({ url, schema }: StoppedOptions, holdMs = 30_000) =>
  new PostgresDatabase({
    url,
    schema,
    poolSize: 2,
    holdMs,
    durability: 'disk',
  })

/** Returns whether a server or a restore has ever created tables in the schema. @throws EngineOpenError */
export async function schemaExists(options: StoppedOptions): Promise<boolean> {
  checkSchemaName(options.schema)
  const database = offlineDatabase(options)
  return useDatabase(database, async () => {
    const [found] = await database.read((session) => session.rows(isThere, []))
    return found?.made === true
  })
}

const hasMeta = statement<{ made: boolean }>(
  'has-meta',
  `select to_regclass(current_setting('search_path') || '.meta') is not null as made`,
)

export interface SchemaComparison {
  /** Format of the tables; null if they have not been created. */
  readonly stored: string | null
  /** Format that this version creates. */
  readonly current: string
  /** Formats to which a start would bring the tables, in order. */
  readonly missing: readonly string[]
  /** Whether this version can use the tables. */
  readonly isSupported: boolean
}

/**
 * Compares the format of a schema with the format of this version. Changes nothing, also while servers use the
 * schema.
 * @throws EngineOpenError
 */
export async function readSchemaFormats(options: StoppedOptions): Promise<SchemaComparison> {
  checkSchemaName(options.schema)
  const database = offlineDatabase(options, connectTimeoutMs)
  return useDatabase(database, async () => {
    const [found] = await database.read((session) => session.rows(hasMeta, []))
    const stored = found?.made === true ? await storedFormat(database) : null
    return {
      stored: stored === null ? null : formatText(stored),
      current: formatText(schemaFormat),
      missing: missingSteps(stored).map(formatText),
      isSupported: stored === null || stored.major <= schemaFormat.major,
    }
  })
}

const readValue = statement<{ value: Buffer }>(
  'read-value',
  'select value from kv where part = $1 and key = $2',
)

/**
 * Reads one value, also while servers use the schema. Returns null if the value or the schema does not exist. Changes
 * nothing.
 * @throws EngineOpenError
 */
export async function readSchemaValue(
  options: StoppedOptions,
  part: Key,
  key: Key,
): Promise<Uint8Array | null> {
  if (!(await schemaExists(options))) return null
  const database = offlineDatabase(options, connectTimeoutMs)
  return useDatabase(database, async () => {
    const keys = [encodeKey(part), encodeKey(key)]
    const [row] = await database.read((session) => session.rows(readValue, keys))
    return row?.value ?? null
  })
}

/**
 * Opens the schema, or creates it if it is missing. No server can open the schema while this process has it open. The
 * caller must close it.
 * @throws EngineOpenError if the schema cannot be opened, if servers use it, or if it contains an incomplete
 * restore and `restoring` is not `open`
 */
export const openOfflineSchema = (options: StoppedOptions): Promise<Engine> =>
  openPostgresEngine(options).catch((error: unknown) => {
    throw isLocked(error) ? stopThem(options.schema, error) : error
  })

const isLocked = (error: unknown): boolean => error instanceof EngineOpenError && error.reason === 'locked'

/**
 * Returns an error with its own message: half of the advice in the original message is meant for a server and
 * does not apply here.
 */
const stopThem = (schema: string, cause: unknown): EngineOpenError =>
  new EngineOpenError(
    'locked',
    `the schema ${schema} of the database is in use: stop all its servers first`,
    {
      cause,
    },
  )
