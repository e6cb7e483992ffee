import { errorMessage } from '../../../core/base/errors.ts'
import { postgresUrls, schemaName } from '../../../core/config/option-parsers.ts'
import { EngineOpenError, StoreUnavailableError } from '../../../core/store/engine.ts'
import type { PostgresDatabase } from './database.ts'
import { statement } from './database-session.ts'
import { sqlStateOf } from './postgres-errors.ts'

/** The oldest supported version of PostgreSQL, in the format of `server_version_num`. */
const oldestVersion = 150_000

const readVersion = statement<{ version: string; fsync: string; standbys: string; waits: string }>(
  'read-version',
  `select current_setting('server_version_num') as version, current_setting('fsync') as fsync,
     current_setting('synchronous_standby_names') as standbys, current_setting('synchronous_commit') as waits`,
)

/**
 * Describes a setting of the database because of which acknowledged writes can be lost without an error, and
 * the remedy.
 */
export interface DurabilityWarning {
  readonly found: string
  readonly help: string
}

const noFsync: DurabilityWarning = {
  found: 'fsync is off in the database: acknowledged changes do not survive a loss of power',
  help: 'set fsync to on',
}
const noStandby: DurabilityWarning = {
  found:
    'the URL names several servers, but commits do not wait for a standby: a failover may lose acknowledged changes',
  help: "set synchronous_standby_names, such as 'ANY 1 (…)', and synchronous_commit to on",
}

/** Checks that the name of a schema is valid. @throws EngineOpenError */
export function checkSchemaName(schema: string): void {
  if (schemaName.parse(schema) !== undefined) return
  throw new EngineOpenError(
    'failed',
    `${JSON.stringify(schema)} cannot be the name of a schema: expected ${schemaName.expected}`,
  )
}

/**
 * Checks that the database server meets the requirements, before anything is created in the database. Returns
 * warnings.
 * @throws EngineOpenError
 */
export async function checkServer(
  database: PostgresDatabase,
  url: string,
): Promise<readonly DurabilityWarning[]> {
  const [found] = await database.read((session) => session.rows(readVersion, []))
  const version = Number(found?.version)
  if (version < oldestVersion) {
    throw new EngineOpenError(
      'failed',
      `PostgreSQL ${Math.floor(version / 10_000)} is too old: version 15 or newer is needed`,
    )
  }
  const waitsForNobody = found?.standbys === '' || found?.waits === 'local'
  return [
    ...(found?.fsync === 'off' ? [noFsync] : []),
    ...(waitsForNobody && postgresUrls(url).length > 1 ? [noStandby] : []),
  ]
}

/**
 * Converts an error to an EngineOpenError with a message for the operator. The message never contains the
 * password.
 */
export function postgresOpenError(error: unknown): EngineOpenError {
  if (error instanceof EngineOpenError) return error
  const fail = (reason: EngineOpenError['reason'], sentence: string) =>
    new EngineOpenError(reason, sentence, { cause: error })
  const message = errorMessage(error)
  const state = sqlStateOf(error)
  if (state === '42501')
    return fail(
      'readOnly',
      `the database denies a permission that the server needs (${message}): grant it to the role of the server`,
    )
  if (error instanceof StoreUnavailableError) return fail('failed', message)
  return fail('failed', `the database cannot be opened: ${message}`)
}

/** Runs `work` with a database, and closes the database. @throws EngineOpenError */
export async function useDatabase<T>(database: PostgresDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw postgresOpenError(error)
  } finally {
    await database.close()
  }
}
